"""What cannot exist: no id holds a NUL, so whoever asks for one learns that it is not there, and others get theirs."""

import pytest

from foliot.domain.gate.decision import DependencyState
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, WorkerId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer, Marked
from foliot.domain.run.run import Status
from foliot.errors import Unstorable
from foliot.ports.runs import RunFilter
from foliot.testing.builders import LEASE, NIGHTLY, REPORT, a_run, a_run_id
from foliot.testing.conformance.storage.passages import opened
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.workflows import a_workflow, put

NUL = "a\0b"


class AbsenceContract(Contract):
    """Every storage passes these, unchanged."""

    async def test_no_job_has_an_id_with_a_nul(self, scene: Scene) -> None:
        job = await scene.job()
        jobs = scene.storage.jobs

        assert await jobs.get([JobId(NUL), REPORT]) == {REPORT: job}
        assert await jobs.delete([JobId(NUL), REPORT], at=scene.now) == [REPORT]

    async def test_no_schedule_has_an_id_with_a_nul(self, scene: Scene) -> None:
        nightly = await scene.schedule()
        schedules, nul = scene.storage.schedules, ScheduleId(NUL)

        assert await schedules.get([nul, NIGHTLY]) == {NIGHTLY: nightly}
        assert [found.schedule for found in await schedules.ledgers(ids=[nul, NIGHTLY])] == [nightly]
        assert await scene.storage.queries.schedule(nul) is None
        assert await schedules.page(job_id=JobId(NUL)) == []
        assert [one.id for one in await schedules.pause([nul, NIGHTLY], paused=True, at=scene.now)] == [NIGHTLY]
        assert await schedules.delete([nul, NIGHTLY], at=scene.now) == [NIGHTLY]

    async def test_no_ledger_has_a_uid_with_a_nul(self, scene: Scene) -> None:
        schedules, uid = scene.storage.schedules, ScheduleUid(NUL)

        assert await schedules.ticks(uid, after=Instant(0), until=LATEST, limit=1) == []
        assert await schedules.tick_keys(uid, after=Instant(0), until=LATEST, limit=1) == []
        assert await schedules.shared_runs(uid, after=Instant(0)) == []

    async def test_no_run_has_an_id_with_a_nul(self, scene: Scene) -> None:
        [known] = await scene.create(a_run())
        runs, nul = scene.storage.runs, RunId(NUL)

        assert list(await runs.get([nul, known])) == [known]
        assert await runs.decisions([nul]) == {}
        assert await runs.overrides(nul) is None
        assert await runs.attempts(nul) == []
        assert await runs.mark({nul: a_run_id()}, at=scene.now) == {nul: Marked(MarkAnswer.NOT_FOUND, nul)}
        assert await scene.cancel(nul, known) == [CancelAnswer.NOT_FOUND, CancelAnswer.CANCELLED]

    async def test_no_run_is_of_such_a_job_schedule_or_execution(self, scene: Scene) -> None:
        await scene.create(a_run())
        runs, nul = scene.storage.runs, JobId(NUL)

        for status in (None, Status.QUEUED, Status.FAILED):
            assert await runs.page(RunFilter(job_id=nul, status=status)) == []
            assert await runs.page(RunFilter(schedule_id=ScheduleId(NUL), status=status)) == []
            assert await runs.page(RunFilter(root_id=RunId(NUL), status=status)) == []
        assert await scene.storage.queries.job(nul) is None
        assert await runs.sights([nul], after=Instant(0), until=scene.now) == {nul: DependencyState(None)}
        assert await runs.latest_end(nul, [Status.SUCCESS], until=scene.now) is None

    async def test_no_workflow_has_an_id_with_a_nul(self, scene: Scene) -> None:
        etl = await put(scene, a_workflow("extract"))
        workflows = scene.storage.workflows

        assert await workflows.get([(NUL, None), ("etl", None)]) == {("etl", None): etl}
        assert await workflows.get([(NUL, 1), ("etl", 1), ("etl", 2)]) == {("etl", 1): etl}
        assert await workflows.paused_steps(NUL) == set()
        assert await workflows.behind(NUL) == (set(), set())

    async def test_no_execution_has_an_id_with_a_nul(self, scene: Scene) -> None:
        known = await opened(scene)
        executions, nul = scene.storage.executions, RunId(NUL)

        assert list(await executions.get([nul, known.run_id])) == [known.run_id]
        assert not await executions.states(nul)
        assert not await executions.outputs(nul, ["extract"])
        assert list(await executions.states(known.run_id, [NUL, "extract"])) == ["extract"]
        assert await executions.steps(nul) == []
        assert await executions.active(workflow_id=NUL) == []

    async def test_no_worker_has_an_id_with_a_nul(self, scene: Scene) -> None:
        nul = WorkerId(NUL)
        await scene.storage.work.retire(nul)

        assert await scene.storage.work.renew(nul, None, LEASE, at=scene.now) is None

    async def test_no_log_is_of_a_run_with_a_nul(self, scene: Scene) -> None:
        assert await scene.storage.logs.read(RunId(NUL)) == []
        assert await scene.storage.logs.tail(RunId(NUL), limit=1) == []

    async def test_what_is_no_text_at_all_is_the_callers_mistake(self, scene: Scene) -> None:
        half = "\ud800"
        with pytest.raises(Unstorable):
            await scene.storage.jobs.get([JobId(half)])
        with pytest.raises(Unstorable):
            await scene.storage.runs.get([RunId(half)])
        with pytest.raises(Unstorable):
            await scene.storage.logs.read(RunId(half))
