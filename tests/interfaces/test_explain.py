"""foliot explain: the path of a run or a planned time as text and as JSON."""

import asyncio
from pathlib import Path

import pytest

from foliot import Foliot
from tests.interfaces.conftest import Call

BOTH_WAYS = True


def stages_of(out: str) -> list[str]:
    """Return the names of the printed stages; the one that binds begins with >."""
    lines = out.split("\n\n")[1].splitlines()[1:]
    return [" ".join(line.split()[: 2 if line.startswith(">") else 1]) for line in lines]


def test_a_failed_run_is_explained_with_its_attempts(call: Call, shop: Path) -> None:
    code, out, err = call("explain", "broken@last")

    assert (code, err) == (0, "")
    assert stages_of(out) == ["trigger", "due", "worker", "attempt", "attempt", "> exit"]
    assert "failed after" in out
    assert "exit code 3" in out
    assert "no, it has ended; run it again with: foliot retry" in out


def test_a_queued_run_names_the_missing_worker(call: Call, shop: Path) -> None:
    [run] = call("runs", "--status", "queued", "--json").objects

    out = call("explain", run["id"]).out

    assert stages_of(out)[-1] == "> worker"
    assert 'when a worker of queue "default" is started: foliot serve, or foliot worker' in out


def test_a_run_for_a_remote_worker_names_the_command_that_starts_one(call: Call, elsewhere: Path) -> None:
    app = Foliot(f"sqlite:///{elsewhere}/foliot.db")
    app.shell("train", "true", executor="worker", labels=["gpu"])

    async def enqueue() -> str:
        async with app:
            return await app.enqueue("train")

    out = call("explain", asyncio.run(enqueue())).out

    assert 'when a worker of queue "default" is started: foliot worker --server URL --label gpu' in out


def test_an_execution_is_explained_with_its_steps(call: Call, plant: Path) -> None:
    out = call("explain", "etl@last").out
    [document] = call("explain", "etl@last", "--json").objects

    assert "failed: extract" in out
    assert "extract failed" in out
    assert "required: success" in out
    steps = next(stage for stage in document["stages"] if stage["stage"] == "steps")
    assert [line["step"] for line in steps["steps"]] == ["extract", "load", "report", "alarm", "never", "cleanup"]
    assert document["binds"] == "exit"
    assert "no, it has ended; repeat its failed steps and what follows with: foliot workflows rerun" in out


def test_a_step_names_its_execution_and_the_steps_before_it(call: Call, plant: Path) -> None:
    out = call("explain", "etl.alarm@last").out

    assert stages_of(out)[0] == "step"
    assert "alarm of etl version 1, execution" in out
    assert "after extract (failure, required: failure, exit code 3)" in out


def test_a_step_that_waits_for_an_answer_says_how_to_answer(call: Call, plant: Path) -> None:
    out = call("explain", "release.ask@last").out

    assert "decided by  step" in out
    assert "can change  when it is approved or rejected: foliot workflows approve" in out


def test_a_run_that_its_gate_skipped_binds_at_the_gate(call: Call, plant: Path) -> None:
    out = call("explain", "digest@last").out

    assert stages_of(out)[-1] == "> gate"
    assert "skipped: not met: bad (failed), later (missing)" in out
    assert "decided by run " in out


def test_an_execution_without_a_coordinator_says_so(call: Call, plant: Path) -> None:
    assert "no coordinator is alive" in call("explain", "later@last").out


def test_a_coming_tick_is_explained_by_its_schedule_and_time(call: Call, plant: Path) -> None:
    [schedule] = call("schedules", "--json").objects

    out = call("explain", f"nightly@{schedule['next_run_at']}").out

    assert stages_of(out) == ["> tick"]
    assert "by nightly (0 2 * * *), not decided yet" in out
    assert call("explain", f"etl@{schedule['next_run_at']}").out == out


@pytest.mark.parametrize(
    ("what", "code", "message"),
    [
        ("nightly@yesterday", 2, "'yesterday' is not a time"),
        ("nightli@2026-01-01", 1, "schedule 'nightli' does not exist"),
        ("nobody@last", 1, "job 'nobody' does not exist"),
    ],
)
def test_what_does_not_exist_is_an_error_with_a_hint(
    call: Call, plant: Path, what: str, code: int, message: str
) -> None:
    called = call("explain", what)

    assert (called.code, called.out) == (code, "")
    assert message in called.err
