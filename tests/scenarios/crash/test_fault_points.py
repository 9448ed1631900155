"""The process dies on either side of every commit; without the fault it starts again, and nothing is wrong."""

import re
import signal
from pathlib import Path
from typing import Final

import pytest

import foliot.adapters.storage
from foliot.adapters.faults import VERBS
from foliot.domain.run import Status
from tests.scenarios.crash.judge import faults
from tests.scenarios.crash.process import KILLED
from tests.scenarios.crash.stage import Stage

JOBS: Final = ("quick", "threaded", "flaky", "command", "meddle")
AT_THE_START: Final = ("put_",)
"""Points at which nothing is registered yet."""

AT_THE_END: Final = ("retire.", "resign.")
"""Points on the way out of a process that stops in good order."""

ONLY: Final = {"expired": "postgresql", "prune_logs": "sqlite"}
"""Verbs that write on one storage alone."""


@pytest.mark.proves("T4", "T5", "S3", "S6", "S10", "L1", "L4", "M3")
@pytest.mark.parametrize("verb", VERBS)
async def test_a_process_that_dies_on_either_side_of_a_commit_loses_and_doubles_nothing(stage: Stage, verb: str) -> None:
    if not stage.url.startswith(ONLY.get(verb, "")):
        pytest.skip("this storage does not write here")

    asked = [run_id for side in ("before", "after") for run_id in await _die(stage, f"{verb}.{side}_commit")]
    stage.serve(plan="few")
    runs = await stage.over(asked)
    await stage.quiet()

    assert {run.status for run in runs} == {Status.SUCCESS}
    assert await faults(stage) == []


def test_every_commit_of_every_storage_is_a_named_point() -> None:
    sources = Path(foliot.adapters.storage.__path__[0]).rglob("*.py")
    written = {verb for source in sources for verb in re.findall(r"\.(?:submit|write)\(\s*\"(\w+)\"", source.read_text())}

    assert written == set(VERBS)


async def _die(stage: Stage, point: str) -> list[str]:
    """Ask for something, and let a process die at this point: what is left has no fault, it is only unfinished."""
    asked = [] if point.startswith(AT_THE_START) else await _ask(stage)
    doomed = stage.serve(plan="few", fault=point)
    if point.startswith(AT_THE_END):
        await stage.started(doomed)
        doomed.send(signal.SIGTERM)
    assert await stage.ended(doomed) == KILLED, stage.logs()
    assert stage.fault_log.read_text() == point
    assert await faults(stage) == []
    return asked or await _ask(stage)


async def _ask(stage: Stage) -> list[str]:
    """One of each kind, one of them soon, so that every verb has something to do."""
    await stage.declare("few")
    asked = [run_id for job in JOBS for run_id in await stage.enqueue(job)]
    return [*asked, *await stage.enqueue("quick", delay=0.3)]
