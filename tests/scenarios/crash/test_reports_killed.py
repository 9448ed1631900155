"""A process that dies while it reports the end of a launched run has ended the run or changed nothing."""

import pytest

from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import DAY, Millis
from foliot.domain.run.outcome import Launched
from foliot.domain.run.run import Tick
from foliot.domain.schedule.tick_run import LAUNCH_JOB, LAUNCH_SPEC
from foliot.testing.builders import a_finish, a_run, a_worker
from tests.scenarios.crash.process import KILLED
from tests.scenarios.crash.stage import Stage

KEY = "key"


@pytest.fixture(autouse=True)
async def run_id(stage: Stage) -> str:
    """A run that the executor has."""
    storage = stage.storage
    await storage.definitions.put_jobs([(LAUNCH_JOB, LAUNCH_SPEC)])
    now = stage.services.clock.now()
    run = a_run(job_id=LAUNCH_JOB, due_at=now, tick=Tick(ScheduleUid("uid"), ScheduleId("s"), now, KEY))
    worker = a_worker()
    await storage.orders.create([run])
    await storage.work.register(worker, Millis(DAY))
    [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims
    assert await storage.work.finish([a_finish(claim, Launched("wf-1"))]) == []
    return run.id


@pytest.mark.parametrize("stage", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize(("side", "status"), [("before", "running"), ("after", "success")])
async def test_a_report_is_saved_with_its_consequences_or_not_at_all(
    stage: Stage, run_id: str, side: str, status: str
) -> None:
    point = f"report.{side}_commit"
    doomed = stage.start("tests.scenarios.crash.reporter", KEY, "success", fault=point)
    assert await stage.ended(doomed) == KILLED, stage.logs()
    assert stage.fault_log.read_text() == point
    assert (await stage.services.runs.get(run_id)).status == status

    again = await stage.services.launches.report(KEY, "success")

    assert (again.status, again.is_changed) == ("success", status == "running")
