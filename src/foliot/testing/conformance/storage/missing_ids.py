"""The promises of a storage about ids that cannot exist: an id with a NUL is not found, and others are."""

import pytest

from foliot.domain.audit import RecentRows
from foliot.domain.gate.decision import DependencyState
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, WorkerId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer, Marked
from foliot.domain.run.run import Status
from foliot.errors import Unstorable
from foliot.ports.pages import RunFilter
from foliot.testing.builders import LEASE, NIGHTLY, REPORT, a_run, a_run_id
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import opened
from foliot.testing.conformance.storage.workflows import a_workflow, put

NUL = "a\0b"


class MissingIdContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_no_job_has_an_id_with_a_nul(self, scene: Scene) -> None:
        job = await scene.job()

        assert await scene.storage.definitions.get_jobs([JobId(NUL), REPORT]) == {REPORT: job}
        assert await scene.storage.definitions.delete_jobs([JobId(NUL), REPORT], at=scene.now) == [REPORT]

    async def test_no_schedule_has_an_id_with_a_nul(self, scene: Scene) -> None:
        nightly = await scene.schedule()
        nul = ScheduleId(NUL)

        assert await scene.storage.definitions.get_schedules([nul, NIGHTLY]) == {NIGHTLY: nightly}
        assert [found.schedule for found in await scene.storage.queries.ledgers(ids=[nul, NIGHTLY])] == [nightly]
        assert await scene.storage.queries.schedule(nul) is None
        assert await scene.storage.definitions.page_schedules(job_id=JobId(NUL)) == []
        assert [
            one.id for one in await scene.storage.definitions.pause_schedules([nul, NIGHTLY], paused=True, at=scene.now)
        ] == [NIGHTLY]
        assert await scene.storage.definitions.delete_schedules([nul, NIGHTLY], at=scene.now) == [NIGHTLY]

    async def test_no_ledger_has_a_uid_with_a_nul(self, scene: Scene) -> None:
        uid = ScheduleUid(NUL)

        assert await scene.storage.queries.ticks(uid, after=Instant(0), until=LATEST, limit=1) == []
        assert await scene.storage.queries.tick_keys(uid, after=Instant(0), until=LATEST, limit=1) == []
        assert await scene.storage.queries.shared_runs(uid, after=Instant(0)) == []
        names = {uid: ScheduleId(NUL)}
        recent = await scene.storage.queries.recent_rows(names, since=Instant(0), created_since=Instant(0), limit=1)
        assert recent == {uid: RecentRows([], {}, [])}

    async def test_no_run_has_an_id_with_a_nul(self, scene: Scene) -> None:
        [known] = await scene.create(a_run())
        nul = RunId(NUL)

        assert list(await scene.storage.queries.get_runs([nul, known])) == [known]
        assert await scene.storage.admission.decisions([nul]) == {}
        assert await scene.storage.queries.overrides(nul) is None
        assert await scene.storage.queries.attempts(nul) == []
        assert await scene.storage.orders.mark({nul: a_run_id()}, at=scene.now) == {
            nul: Marked(MarkAnswer.NOT_FOUND, nul)
        }
        assert await scene.cancel(nul, known) == [CancelAnswer.NOT_FOUND, CancelAnswer.CANCELLED]

    async def test_no_run_matches_a_job_schedule_or_execution_id_with_a_nul(self, scene: Scene) -> None:
        await scene.create(a_run())
        nul = JobId(NUL)

        for status in (None, Status.QUEUED, Status.FAILED):
            assert await scene.storage.queries.page_runs(RunFilter(job_id=nul, status=status)) == []
            assert await scene.storage.queries.page_runs(RunFilter(schedule_id=ScheduleId(NUL), status=status)) == []
            assert await scene.storage.queries.page_runs(RunFilter(root_id=RunId(NUL), status=status)) == []
        assert await scene.storage.queries.job(nul) is None
        assert await scene.storage.admission.dependency_states([nul], after=Instant(0), until=scene.now) == {
            nul: DependencyState(None)
        }
        assert await scene.storage.admission.latest_end(nul, [Status.SUCCESS], until=scene.now) is None

    async def test_no_workflow_has_an_id_with_a_nul(self, scene: Scene) -> None:
        etl = await put(scene, a_workflow("extract"))

        assert await scene.storage.definitions.get_workflows([(NUL, None), ("etl", None)]) == {("etl", None): etl}
        assert await scene.storage.definitions.get_workflows([(NUL, 1), ("etl", 1), ("etl", 2)]) == {("etl", 1): etl}
        assert await scene.storage.definitions.paused_steps(NUL) == set()
        assert await scene.storage.definitions.jobs_behind(NUL) == (set(), set())

    async def test_no_execution_has_an_id_with_a_nul(self, scene: Scene) -> None:
        known = await opened(scene)
        nul = RunId(NUL)

        assert list(await scene.storage.queries.get_executions([nul, known.run_id])) == [known.run_id]
        assert not await scene.storage.queries.step_states(nul)
        assert not await scene.storage.queries.step_outputs(nul, ["extract"])
        assert list(await scene.storage.queries.step_states(known.run_id, [NUL, "extract"])) == ["extract"]
        assert await scene.storage.trees.steps(nul) == []
        assert await scene.storage.queries.active_executions(workflow_id=NUL) == []

    async def test_no_worker_has_an_id_with_a_nul(self, scene: Scene) -> None:
        nul = WorkerId(NUL)
        await scene.storage.work.retire(nul)

        assert await scene.storage.work.renew(nul, None, LEASE, at=scene.now) is None

    async def test_no_log_has_a_run_id_with_a_nul(self, scene: Scene) -> None:
        assert await scene.storage.queries.read_log(RunId(NUL)) == []
        assert await scene.storage.queries.tail_log(RunId(NUL), limit=1) == []

    async def test_an_id_that_is_not_valid_text_raises_unstorable(self, scene: Scene) -> None:
        half = "\ud800"
        with pytest.raises(Unstorable):
            await scene.storage.definitions.get_jobs([JobId(half)])
        with pytest.raises(Unstorable):
            await scene.storage.queries.get_runs([RunId(half)])
        with pytest.raises(Unstorable):
            await scene.storage.queries.read_log(RunId(half))
