"""Environment, descriptors and signals of a shell attempt."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.runners.process.children import subreaper
from foliot.adapters.runners.shell import ShellRunner
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import from_datetime
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Tick
from tests.adapters.runners.attempts import ListLog, an_attempt, carrying, listed, output_of, unique, until

WORKER = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/worker",
    "LANG": "C.UTF-8",
    "LC_TIME": "C",
    "TZ": "UTC",
    "FOLIOT_DSN": "postgres://secret",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "PYTHONPATH": "/somewhere",
}

WAYS: list[dict[str, object]] = [{}, {"working_dir": "/"}, {"umask": 0o77}, {"limits": {"files": 64}}]
"""Specifications that start the program in different ways."""


async def variables(**given: object) -> dict[str, str]:
    log = ListLog()
    await ShellRunner(WORKER).run(an_attempt(argv=["/usr/bin/env", "-0"], log=log, **given))  # type: ignore[arg-type]
    pairs = log.text("stdout").decode().split("\0")[:-1]
    return dict(pair.split("=", 1) for pair in pairs)


@pytest.mark.proves("E3")
@pytest.mark.parametrize("working_dir", [None, "/"])
async def test_a_command_sees_the_allow_list_its_own_variables_and_its_run(working_dir: str | None) -> None:
    own, item = {"the.colour": "blue"}, {"ITEM": "a b;$c"}
    seen = await variables(run_id="run-1", number=3, env=own, environment=item, working_dir=working_dir)

    passed = {name: WORKER[name] for name in ("PATH", "HOME", "LANG", "LC_TIME", "TZ")}
    told = {
        "FOLIOT_RUN_ID": "run-1",
        "FOLIOT_ATTEMPT": "3",
        "FOLIOT_JOB_ID": "a-job",
        "FOLIOT_IDEMPOTENCY_KEY": "run-1",
    }
    assert seen == passed | own | item | told


async def test_a_scheduled_run_has_variables_for_planned_time_and_tick_key() -> None:
    noon = from_datetime(datetime(2026, 3, 28, 12, tzinfo=UTC))

    seen = await variables(tick=Tick(ScheduleUid("7"), ScheduleId("daily"), noon, "the-key"))

    assert (seen["FOLIOT_SCHEDULED_FOR"], seen["FOLIOT_IDEMPOTENCY_KEY"]) == ("2026-03-28T12:00:00Z", "the-key")


async def test_a_run_planned_by_a_launcher_has_a_variable_for_its_time() -> None:
    seen = await variables(run_id="run-1", scheduled_for=from_datetime(datetime(2026, 3, 28, 12, tzinfo=UTC)))

    assert (seen["FOLIOT_SCHEDULED_FOR"], seen["FOLIOT_IDEMPOTENCY_KEY"]) == ("2026-03-28T12:00:00Z", "run-1")


async def test_variables_of_the_run_override_the_job_and_those_the_worker() -> None:
    seen = await variables(env={"TZ": "job", "LANG": "job"}, environment={"LANG": "run"})

    assert (seen["TZ"], seen["LANG"]) == ("job", "run")


async def test_a_job_cannot_override_the_variables_of_its_run() -> None:
    seen = await variables(run_id="run-1", env={"FOLIOT_RUN_ID": "run-2"})

    assert seen["FOLIOT_RUN_ID"] == "run-1"


async def test_the_payload_variable_is_json() -> None:
    payload = {"text": 'quote " newline \n NUL \0 ü', "list": [1, None, True]}

    seen = await variables(payload=payload)

    assert json.loads(seen["FOLIOT_PAYLOAD"]) == payload


async def test_a_command_has_a_path_even_if_the_worker_has_none() -> None:
    log = ListLog()
    await ShellRunner({}).run(an_attempt("ls -d /", log=log))

    assert log.text("stdout") == b"/\n"


@pytest.mark.proves("E3")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_only_three_descriptors_are_open_even_if_the_worker_has_inheritable_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: dict[str, object]
) -> None:
    lock = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(lock, True)
    monkeypatch.setattr(subreaper, "_current", None)

    seen = await output_of("ls /proc/$$/fd", **way)

    os.close(lock)
    assert seen.split() == [b"0", b"1", b"2"]


@pytest.mark.proves("E3")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_stdin_of_a_command_is_empty(way: dict[str, object]) -> None:
    assert await output_of("cat; readlink /proc/self/fd/0", **way) == b"/dev/null\n"


@pytest.mark.proves("E3")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_command_leads_a_new_session(way: dict[str, object]) -> None:
    seen = await output_of("echo $$; cut -d' ' -f6 /proc/self/stat", **way)

    pid, session = seen.split()
    assert pid == session


@pytest.fixture
def heeding() -> Iterator[None]:
    """Reset ignored signals: nohup, or a shell in the background, may have started the tests."""
    before = {one: signal.signal(one, signal.SIG_DFL) for one in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)}
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.usefixtures("heeding")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_command_starts_with_no_signal_ignored_or_blocked(way: dict[str, object]) -> None:
    seen = await output_of(None, argv=["grep", "-E", "SigBlk|SigIgn", "/proc/self/status"], **way)

    # The C library uses 32 and 33 itself and ignores them in all processes that it spawns.
    blocked, ignored = (int(line.split()[1], 16) & 0x7FFF_FFFF for line in seen.splitlines())
    assert (blocked, ignored) == (0, 0)


@pytest.mark.proves("Z31")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_secrets_of_a_job_are_in_no_process_list(tmp_path: Path, way: dict[str, object]) -> None:
    """Every user can read the command lines of all processes. Variables, input and payload may contain secrets."""
    secret, ready, go = unique(), tmp_path / "ready", tmp_path / "go"
    command = f"cat > {tmp_path}/given; touch {ready}; until test -e {go}; do sleep 0.01; done"
    spec: dict[str, Any] = {"env": {"TOKEN": secret}, "stdin": secret, **way}
    attempt = an_attempt(command, payload={"token": secret}, environment={"ITEM": secret}, **spec)
    running = asyncio.create_task(ShellRunner().run(attempt))
    await until(ready.exists)

    seen, own = listed(secret), carrying(f"TOKEN={secret}")
    go.touch()

    assert await running == Success(exit_code=0)
    assert (seen, bool(own)) == ([], True)
    assert (tmp_path / "given").read_text() == secret
