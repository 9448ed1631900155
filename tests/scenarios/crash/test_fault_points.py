"""The process dies on either side of every commit; without the fault it starts again, and nothing is wrong."""

import re
import signal
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final

import pytest

import foliot.adapters.storage
from foliot.adapters.faults import POINTS, VERBS
from foliot.domain.run.run import Status
from tests.scenarios.crash.judge import faults
from tests.scenarios.crash.process import KILLED
from tests.scenarios.crash.stage import LONG_LEASE, Stage

JOBS: Final = ("quick", "threaded", "flaky", "command", "meddle", "reporting", "limited", "limited", "scan")
AT_THE_START: Final = ("put_", "deploy")
"""Points at which nothing is registered yet."""

AT_THE_END: Final = ("retire.", "resign.", "release_listener.")
"""Points on the way out of a process that stops in good order."""

BY_HAND: Final = (
    *("rename_jobs", "mark", "answer", "report", "watch", "put_workflows", "delete_workflows", "decide_gates"),
    *("pause_step", "pause_job", "add_dependency", "remove_dependency", "probe", "save_clock_fault"),
    *("add_deliveries", "take_deliveries", "settle_deliveries", "ask_chain", "change_class"),
    *("put_dsn", "remove_dsn", "add_audit", "add_token", "revoke_token", "save_token_use"),
    *("begin_request", "complete_request", "abandon_request"),
    *("add_user", "set_password", "remove_user", "open_session", "save_seen", "close_session"),
    *("add_enrolment", "join_enrolment", "set_enrolment_disabled", "remove_enrolment", "take_nonce"),
    "direct_workers",
)
"""Verbs that the application does not come by. That they are atomic is shown where the storages are tested, for
`ask_chain` in `test_chains_killed.py`."""

ONLY: Final = {"expired": "postgres", "prune_logs": "sqlite"}
"""Verbs that write on one storage alone."""


def cases() -> Iterator[tuple[str, list[str]]]:
    """A storage, and the points at which one process after the other dies on it."""
    for kind, verb in product(("sqlite", "postgres"), VERBS):
        points = [point for point in POINTS if point.partition(".")[0] == verb]
        if verb in BY_HAND or ONLY.get(verb, kind) != kind:
            continue
        # A killed janitor or listener keeps its lease for a while, so the next process cannot be killed there too.
        is_leased = verb.startswith(("prune", "release_listener"))
        yield from ((kind, [point]) for point in points) if is_leased else [(kind, points)]


def name(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "+".join(value)


@pytest.mark.proves("T4", "T5", "S3", "S6", "S10", "L1", "L4", "M3")
@pytest.mark.parametrize(("stage", "points"), list(cases()), indirect=["stage"], ids=name)
async def test_a_process_killed_at_a_commit_loses_and_repeats_nothing(stage: Stage, points: list[str]) -> None:
    asked = [run_id for point in points for run_id in await _die(stage, point)]
    stage.serve(plan="few")
    runs = await stage.over(asked)
    await stage.quiet()

    assert [(run.job_id, run.status, run.error) for run in runs if run.status is not Status.SUCCESS] == []
    assert await faults(stage) == []


@pytest.mark.proves("S6", "L10")
async def test_a_place_freed_by_a_killed_process_is_assigned_to_the_next_run(stage: Stage) -> None:
    await stage.declare()
    asked = await stage.enqueue("limited", 2)
    doomed = stage.serve(fault="admit.before_commit")
    assert await stage.ended(doomed) == KILLED

    stage.serve()

    assert {run.status for run in await stage.over(asked)} == {Status.SUCCESS}
    assert await faults(stage) == []


def test_every_commit_of_every_storage_is_a_named_point() -> None:
    sources = Path(foliot.adapters.storage.__path__[0]).rglob("*.py")
    written = {
        verb for source in sources for verb in re.findall(r"\.(?:submit|write)\(\s*\"(\w+)\"", source.read_text())
    }

    assert written == set(VERBS)


async def _die(stage: Stage, point: str) -> list[str]:
    """Ask for something, and let a process die at this point: what is left has no fault, it is only unfinished."""
    asked = [] if point.startswith(AT_THE_START) else await _ask(stage)
    if point.startswith("expire_workers"):
        await _leave_a_dead_worker(stage)
    # Whoever has a slot for one run alone always leaves others waiting, which it asks for with the next outcome.
    slots = ("--concurrency", "1") if point.startswith("exchange") else ()
    doomed = stage.serve(*slots, plan="few", fault=point)
    if point.startswith(AT_THE_END):
        await stage.started(doomed)
        doomed.send(signal.SIGTERM)
    assert await stage.ended(doomed) == KILLED, stage.logs()
    assert stage.fault_log.read_text() == point
    assert await faults(stage) == []
    return asked or await _ask(stage)


async def _leave_a_dead_worker(stage: Stage) -> None:
    """Kill a process whose lease outlives the test, so that only the end of the process can free its worker."""
    killed = stage.serve(*LONG_LEASE, plan="few")
    await stage.started(killed)
    killed.kill()


async def _ask(stage: Stage) -> list[str]:
    """One of each kind, one of them soon, so that every verb has something to do."""
    await stage.declare("few")
    asked = [run_id for job in (*JOBS, "flow") for run_id in await stage.enqueue(job)]
    return [*asked, *await stage.enqueue("quick", delay=0.3)]
