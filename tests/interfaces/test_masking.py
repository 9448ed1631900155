"""Commands hide possible secrets of jobs, runs and changes, in text and in JSON."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.config import load
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from tests.interfaces.conftest import Call
from tests.interfaces.serving import outcome, served

BOTH_WAYS = True

SECRET = "s3cret"
FILE = """
[[jobs]]
id = "hook"
kind = "http"
method = "POST"
url = "https://ada:s3cret@hooks.example/${HOOK}?token=s3cret"
headers = { X-Shop = "Bearer s3cret" }
json = { text = "hello", api_key = "s3cret", by = "${HOOK}" }
payload = { password = "s3cret", day = "${DAY}", note = "${HOOK}" }

[[jobs]]
id = "sent"
kind = "http"
url = "https://hooks.example/"
body = "token=s3cret"

[[jobs]]
id = "read"
command = "cat"
stdin = "s3cret"
env = { PASSWORD = "${HOOK}" }

[[jobs]]
id = "ask"
kind = "agent"
prompt = "sum up"
cli = ["true", "${HOOK}"]
prompt_args = ["--key=${HOOK}"]
args = { model = "${HOOK}", extra_args = ["--header", "Bearer s3cret", "${HOOK}"] }

[[jobs]]
id = "print"
command = 'printf s3c; echo "ret $PASSWORD $PLAIN"; printf %s "$PASSWORD" | base64; echo "with $PASSWORD" >&2; exit 3'
env = { PASSWORD = "${HOOK}", PLAIN = "${DAY}" }

[[jobs]]
id = "ping"
kind = "http"
url = "http://ada:s3cret@127.0.0.1:1/${HOOK}?token=s3cret"

[[workflows]]
id = "flow"
params = { token = "s3cret", day = "monday" }

[[workflows.steps]]
name = "call"
kind = "http"
url = "https://hooks.example/${HOOK}"
headers = { X-Shop = "s3cret" }
"""


@pytest.fixture(autouse=True)
def applied(call: Call, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", SECRET)
    monkeypatch.setenv("DAY", "monday")
    (elsewhere / "foliot.toml").write_text(FILE)
    assert call("reload").code == 0


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize(
    "about",
    [
        *("jobs", "show hook", "show sent", "show read", "show ask", "show ping"),
        *("workflows", "workflows show flow", "show flow", "show flow.call"),
    ],
)
def test_a_definition_is_shown_without_secrets(call: Call, about: str, form: list[str]) -> None:
    code, out, err = call(*about.split(), *form)

    assert code == 0
    assert SECRET not in out + err


def test_hidden_values_are_shown_as_stars_and_other_values_are_kept(call: Call) -> None:
    [job] = call("show", "hook", "--json").objects

    assert job["spec"]["url"] == "https://***@hooks.example/${HOOK}?token=***"
    assert job["spec"]["headers"] == {"X-Shop": "***"}
    assert job["spec"]["json"] == {"text": "hello", "api_key": "***", "by": "${HOOK}"}
    assert job["payload_template"] == {"password": "***", "day": "${DAY}", "note": "${HOOK}"}


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_payload_of_a_run_is_shown_without_secrets(call: Call, form: list[str]) -> None:
    call("trigger", "sent", "--payload", '{"token": "s3cret", "day": "monday"}')

    told = "".join(call(*words, *form).out for words in (["show", "@last"], ["runs"], ["jobs"], ["show", "sent"]))

    assert SECRET not in told
    assert "monday" in told


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_output_of_a_run_is_shown_without_secrets(call: Call, elsewhere: Path, form: list[str]) -> None:
    asyncio.run(give_back(f"sqlite:///{elsewhere}/foliot.db", {"token": SECRET, "rows": "seven"}))

    told = [call(*words, *form).out for words in (["show", "login@last"], ["runs"], ["jobs"], ["show", "login"])]

    assert SECRET not in "".join(told)
    assert "seven" in told[0]


async def give_back(url: str, output: dict[str, str]) -> None:
    """Create a run of the job `login` that ends with this output."""
    app = Foliot(url)
    app.job(id="login")(lambda: output)
    async with served(app):
        run = await outcome(app, "login")
    assert run.output_payload == output


def raises() -> None:
    raise ValueError(f"the shop refused token={SECRET}")


def declare_function(app: Foliot) -> None:
    app.job(id="login", retries=1, retry_delay=0)(raises)


def declare_call(app: Foliot) -> None:
    Path("shop.py").write_text(f"def login():\n    raise ValueError({{'password': '{SECRET}'}})\n")
    app.call("login", "shop:login", retries=1, retry_delay=0)


def declare_request(app: Foliot) -> None:
    app.http("login", f"http://ada:{SECRET}@127.0.0.1:1/?token={SECRET}", retries=1, retry_delay=0)


def declare_command(app: Foliot) -> None:
    app.shell("login", [f"/nowhere/password={SECRET}"], retries=1, retry_delay=0)


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("declare", [declare_function, declare_call, declare_request, declare_command])
def test_the_error_of_a_run_is_stored_shown_and_logged_without_secrets(
    call: Call, elsewhere: Path, caplog: pytest.LogCaptureFixture, declare: Callable[[Foliot], None]
) -> None:
    with caplog.at_level(logging.INFO, "foliot"):
        stored = asyncio.run(fail(f"sqlite:///{elsewhere}/foliot.db", declare))

    about = (["show", "login@last"], ["runs"], ["jobs"], ["top", "--once"], ["show", "login@last", "--json"])
    told = [call(*words).out for words in about]

    logged = [str(vars(record)) for record in caplog.records]
    assert len(stored) == 3
    assert all(stored)
    assert any("attempt_failed" in line for line in logged)
    assert SECRET not in "".join([*stored, *told, *logged])


@pytest.mark.proves("Z48")
@pytest.mark.parametrize(
    ("job", "line"), [("ask", "$ true '${HOOK}' --model"), ("ping", "GET http://***@127.0.0.1:1/")]
)
def test_the_meta_lines_of_a_log_have_no_secrets(call: Call, elsewhere: Path, job: str, line: str) -> None:
    asyncio.run(carry_out(f"sqlite:///{elsewhere}/foliot.db", job))

    _, out, err = call("logs", f"{job}@last")

    assert line in err
    assert SECRET not in out + err


async def carry_out(url: str, job: str) -> None:
    """Create a run of a stored job."""
    app = Foliot(url)
    async with served(app):
        await outcome(app, job)


async def fail(url: str, declare: Callable[[Foliot], None]) -> list[str]:
    """Return the errors of a run that fails twice: its own, and those of its attempts."""
    app = Foliot(url)
    declare(app)
    async with served(app):
        run = await outcome(app, "login")
        attempts = await app.runs.attempts(run.id)
        return [error or "" for error in (run.error_message, *(attempt.error_message for attempt in attempts))]


@pytest.mark.proves("Z29")
def test_the_output_and_the_error_of_a_command_are_stored_without_its_secrets(call: Call, elsewhere: Path) -> None:
    asyncio.run(carry_out(f"sqlite:///{elsewhere}/foliot.db", "print"))

    _, out, err = call("logs", "print@last")
    shown = call("show", "print@last", "--json").out

    assert sorted(out.splitlines()) == ["***", "*** *** monday", "with ***"]
    assert SECRET not in out + err + shown


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_changes_are_shown_without_secrets(call: Call, elsewhere: Path, form: list[str]) -> None:
    file = elsewhere / "foliot.toml"
    file.write_text(FILE.replace(SECRET, "s3cret-too").replace("hello", "good day"))

    out = call("plan", *form).out

    assert "hook" in out
    assert SECRET not in out


def test_the_job_gets_its_secrets(call: Call, elsewhere: Path) -> None:
    """Secrets are hidden only where they are shown."""
    loaded = load(elsewhere / "foliot.toml", {"HOOK": SECRET, "DAY": "monday"}, Instant(0))

    assert loaded.configuration is not None
    spec = loaded.configuration.declared.jobs[JobId("hook")].spec
    assert spec["url"] == f"https://ada:{SECRET}@hooks.example/{SECRET}?token={SECRET}"


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_parameters_of_an_execution_are_shown_without_secrets(call: Call, form: list[str]) -> None:
    call("workflows", "start", "flow", "--param", "token=s3cret-too")

    told = "".join(call(*words, *form).out for words in (["workflows", "show", "flow"], ["show", "@last"]))

    assert SECRET not in told
    assert "monday" in told
