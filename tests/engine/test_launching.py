"""A launcher of the application's own, in the place of ours."""

from datetime import datetime

import pytest

from foliot.adapters.runners.launch import LaunchRunner
from foliot.domain.instant import MINUTE, SECOND, later, to_datetime
from foliot.domain.launch import LAUNCH_JOB, LAUNCH_SPEC, launch_elsewhere
from foliot.domain.run import Run, Status
from foliot.domain.tick import tick_key
from foliot.ports.storage import Storage
from foliot.testing.builders import NIGHTLY, every
from foliot.testing.clock import START, VirtualClock
from tests.engine.rig import Rig


class Launchpad:
    """Refuses, or fails, as often as it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int | None, str | None, datetime, str]] = []
        self.refusals = 0
        self.errors = 0

    async def start(
        self, workflow_id: str, version: int | None, user_id: str | None, scheduled_for: datetime, idempotency_key: str
    ) -> bool:
        self.calls.append((workflow_id, version, user_id, scheduled_for, idempotency_key))
        if self.errors:
            self.errors -= 1
            raise ConnectionError("nobody answers")
        if self.refusals:
            self.refusals -= 1
            return False
        return True


@pytest.fixture
def launchpad() -> Launchpad:
    return Launchpad()


@pytest.fixture
async def rig(storage: Storage, clock: VirtualClock, launchpad: Launchpad) -> Rig:
    made = Rig(storage, clock, launcher=launch_elsewhere, runners={"launch": LaunchRunner(launchpad)})
    await storage.jobs.put([(LAUNCH_JOB, LAUNCH_SPEC)])
    spec = every(60, job_id=None, workflow_id="etl", version=3, user_id="ann", end_at=later(START, MINUTE))
    await made.schedule(spec)
    return made


async def outcome(rig: Rig) -> Run:
    """The one tick there is, with all the time its launch wants."""
    await rig.fire(MINUTE)
    for _ in range(100):
        await rig.dispatcher.round()
        await rig.work()
        rig.clock.advance(SECOND)
    [run] = await rig.runs()
    return run


@pytest.mark.proves("R4-01", "R4-10", "R4-12", "R4-29", "R4-67", "R4-68")
async def test_the_launcher_is_told_everything_about_the_tick(rig: Rig, launchpad: Launchpad) -> None:
    run = await outcome(rig)

    moment = later(START, MINUTE)
    assert launchpad.calls == [("etl", 3, "ann", to_datetime(moment), tick_key(NIGHTLY, moment))]
    assert run.status is Status.SUCCESS


@pytest.mark.proves("R4-47")
async def test_a_launch_that_fails_twice_is_tried_again_with_the_same_key(rig: Rig, launchpad: Launchpad) -> None:
    launchpad.errors = 2

    run = await outcome(rig)

    assert run.status is Status.SUCCESS
    assert len(launchpad.calls) == 3
    assert len(set(launchpad.calls)) == 1


@pytest.mark.proves("R4-47")
async def test_a_launch_that_always_fails_has_failed(rig: Rig, launchpad: Launchpad) -> None:
    launchpad.errors = 100

    run = await outcome(rig)

    assert run.status is Status.FAILED
    assert len(launchpad.calls) == 4


@pytest.mark.proves("R4-47", "R4-66")
async def test_a_launcher_that_always_says_no_has_failed_the_tick(rig: Rig, launchpad: Launchpad) -> None:
    launchpad.refusals = 100

    run = await outcome(rig)

    assert (run.status, run.reason) == (Status.FAILED, "launch_failed")
