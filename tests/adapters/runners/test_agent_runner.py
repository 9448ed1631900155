"""Agent jobs, with a program in place of the assistant that prints its arguments."""

import asyncio
from pathlib import Path

import pytest

from foliot.adapters.runners.agent import AgentRunner
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.wiring.runners import build_runners
from tests.adapters.runners.attempts import ListLog, an_attempt, living, unique, until

TELLING = "#!/bin/sh\nprintf '%s\\0' \"$@\"\n"


@pytest.fixture
def worker(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a worker with an assistant."""
    assistant(tmp_path / "claude", TELLING)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin"}


def assistant(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


async def call(environ: dict[str, str], log: ListLog, **given: object) -> Success | Failure:
    runner = AgentRunner(environ)
    return await runner.run(an_attempt(log=log, **given))  # type: ignore[arg-type]


async def words_of(environ: dict[str, str], **spec: object) -> list[str]:
    log = ListLog()
    assert await call(environ, log, **spec) == Success(exit_code=0)
    return log.text("stdout").decode().split("\0")[:-1]


async def test_the_prompt_is_the_last_argument(worker: dict[str, str]) -> None:
    prompt = "sum up; $(touch /tmp/x) 'the week'\n\"please\""

    assert await words_of(worker, prompt=prompt) == ["-p", prompt]


async def test_options_come_before_the_prompt(worker: dict[str, str]) -> None:
    seen = await words_of(
        worker, prompt="hello", model="small", permission_mode="plan", bare=True, extra_args=["--max-turns", "3"]
    )

    options = ["--model", "small", "--permission-mode", "plan", "--bare", "--max-turns", "3"]
    assert seen == [*options, "-p", "hello"]


@pytest.mark.proves("Z20")
@pytest.mark.parametrize("prompt", ["-p", "--dangerously-skip-permissions", "-"])
async def test_a_prompt_that_starts_with_a_dash_is_not_an_option(worker: dict[str, str], prompt: str) -> None:
    assert await words_of(worker, prompt=prompt) == ["-p", f" {prompt}"]


async def test_the_log_does_not_show_the_prompt(worker: dict[str, str]) -> None:
    log = ListLog()

    await call(worker, log, prompt="a secret plan", model="small one")

    assert log.written[0] == ("meta", b"$ claude --model 'small one' -p <prompt of 13 characters>\n")
    assert b"secret" not in log.text("meta")


async def test_the_log_shows_names_of_variables_instead_of_values(worker: dict[str, str]) -> None:
    log = ListLog()
    spec = {"cli": ["claude", "s3cret"], "model": "s3cret", "permission_mode": "s3cret", "extra_args": ["s3cret", "x"]}
    written = {
        "cli": ["claude", "${KEY}"],
        "model": "${MODEL:-small}",
        "permission_mode": "${MODE}",
        "bare": "${BARE}",
        "extra_args": "${MORE}",
        "prompt_args": ["--token=${KEY}", "-p"],
    }

    await call(worker, log, prompt="hello", bare=True, **spec, prompt_args=["--token=s3cret", "-p"], written=written)

    logged = (
        "claude '${KEY}' --model '${MODEL:-small}' --permission-mode '${MODE}' --bare '${MORE}' '--token=${KEY}' -p"
    )
    assert log.written[0] == ("meta", f"$ {logged} <prompt of 5 characters>\n".encode())
    assert log.text("stdout").count(b"s3cret") == 5


async def test_the_log_shows_no_credentials_of_the_cli_of_a_job_or_worker(worker: dict[str, str]) -> None:
    log = ListLog()
    extra = ["--header", "Authorization: Bearer s3cret", "--proxy", "http://ada:s3cret@proxy.example"]

    await call({**worker, "FOLIOT_AGENT_CLI": "claude 'Basic s3cret'"}, log, prompt="hello", extra_args=extra)

    logged = "claude 'Basic ***' --header 'Authorization: Bearer ***' --proxy 'http://***@proxy.example' -p"
    assert log.written[0] == ("meta", f"$ {logged} <prompt of 5 characters>\n".encode())
    assert log.text("stdout").count(b"s3cret") == 3


@pytest.mark.parametrize("name", ["FOLIOT_AGENT_CLI", "CRONLORD_CLAUDE_CLI"])
async def test_a_variable_of_the_worker_selects_the_assistant(worker: dict[str, str], name: str) -> None:
    assert await words_of({**worker, name: "printf '%s\\0' the-other"}, prompt="hello") == ["the-other", "-p", "hello"]


async def test_the_job_overrides_the_variables_and_the_new_variable_the_old_one(worker: dict[str, str]) -> None:
    environ = {**worker, "FOLIOT_AGENT_CLI": "claude ours", "CRONLORD_CLAUDE_CLI": "claude older"}

    assert await words_of(environ, prompt="hello") == ["ours", "-p", "hello"]
    assert await words_of(environ, prompt="hello", cli=["claude", "its"]) == ["its", "-p", "hello"]


async def test_an_empty_variable_selects_no_assistant(worker: dict[str, str]) -> None:
    environ = {**worker, "FOLIOT_AGENT_CLI": "", "CRONLORD_CLAUDE_CLI": "claude older"}

    assert await words_of(environ, prompt="hello") == ["older", "-p", "hello"]


async def test_prompt_args_replace_the_arguments_before_the_prompt(worker: dict[str, str]) -> None:
    assert await words_of(worker, prompt="hello", prompt_args=["exec", "--"]) == ["exec", "--", "hello"]


async def test_a_cli_with_unbalanced_quotes_is_reported_as_missing(worker: dict[str, str]) -> None:
    outcome = await call({**worker, "FOLIOT_AGENT_CLI": "it's"}, ListLog(), prompt="hello")

    assert isinstance(outcome, Failure)
    assert outcome.exit_code == 127


async def test_a_missing_assistant_is_exit_code_127_with_a_hint() -> None:
    outcome = await call({"PATH": "/nowhere"}, ListLog(), prompt="hello")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.exit_code) == (Reason.LAUNCH_FAILED, 127)
    assert outcome.error == (
        "could not start 'claude': command not found. Install it in the PATH of the worker, "
        "or set another one with `cli` or FOLIOT_AGENT_CLI."
    )


async def test_a_missing_working_directory_is_not_blamed_on_the_assistant(worker: dict[str, str]) -> None:
    outcome = await call(worker, ListLog(), prompt="hello", working_dir="/no/such/place")

    assert isinstance(outcome, Failure)
    assert (outcome.exit_code, "Install" in outcome.error) == (127, False)


async def test_an_agent_gets_payload_and_variables_but_no_secrets_of_the_worker(
    worker: dict[str, str], tmp_path: Path
) -> None:
    assistant(tmp_path / "claude", '#!/bin/sh\necho "$FOLIOT_PAYLOAD $TOKEN $FOLIOT_DSN"\ncat\n')
    log = ListLog()

    await call({**worker, "FOLIOT_DSN": "secret"}, log, prompt="hello", payload={"a": 1}, env={"TOKEN": "abc"})

    assert log.text("stdout") == b'{"a":1} abc \n'


async def test_the_exit_code_of_an_agent_is_the_exit_code_of_the_attempt(
    worker: dict[str, str], tmp_path: Path
) -> None:
    assistant(tmp_path / "claude", "#!/bin/sh\nexit 3\n")

    outcome = await call(worker, ListLog(), prompt="hello")

    assert outcome == Failure("exit code 3", Reason.EXIT_CODE, 3)


@pytest.mark.proves("S5")
async def test_cancelling_an_agent_ends_all_processes_that_it_started(worker: dict[str, str], tmp_path: Path) -> None:
    word = unique()
    assistant(tmp_path / "claude", f"#!/bin/sh\nsetsid -f sleep {word}\nsleep {word}\n")
    running = asyncio.create_task(call(worker, ListLog(), prompt="hello"))
    await until(lambda: len(living(f"sleep\0{word}")) == 2)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert living(word) == []


@pytest.mark.parametrize(
    "spec", [{}, {"prompt": ""}, {"prompt": "x", "cli": []}, {"prompt": "x", "colour": 1}], ids=str
)
async def test_an_invalid_agent_job_is_not_retried(spec: dict[str, object]) -> None:
    outcome = await call({}, ListLog(), **spec)

    assert isinstance(outcome, Failure)
    assert outcome.error.startswith("not a valid agent job: ")
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)


async def test_limits_and_users_apply_to_agents(worker: dict[str, str]) -> None:
    log = ListLog()

    await call(worker, log, prompt="hello", cli=["sh", "-c", "ulimit -n"], prompt_args=[], limits={"files": 33})

    assert log.text("stdout") == b"33\n"


def test_every_worker_runs_agents() -> None:
    class NoLauncher:
        async def start(self, *_: object, **__: object) -> bool:
            return False

    assert isinstance(build_runners({}, NoLauncher(), threads=1)["agent"], AgentRunner)
