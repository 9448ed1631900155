"""The promises of a storage about opening executions."""

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.tree.tree import Note
from foliot.ports.pages import RunFilter
from foliot.testing.builders import (
    LEASE,
    a_claim,
    a_job_spec,
    a_run,
    every,
    given_back,
    lost,
)
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    a_child,
    all_notes,
    an_opening,
    child_of,
    claim_child,
    final_settlement,
    opened,
    settle,
    shown,
    stored,
    unsettled,
)


class OpenContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_an_open_execution_runs_without_a_worker(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(a_run(job_id=ETL), worker=worker)

        assert await scene.storage.trees.open([an_opening(claim)], at=scene.now) == []

        run = await scene.run(claim.run_id)
        assert (run.status, run.started_at, run.finished_at, run.attempt) == (Status.RUNNING, scene.now, None, 1)
        renewal = await scene.storage.work.renew(worker.id, [claim.token], LEASE, at=scene.now)
        assert renewal is not None
        assert renewal.gone == (claim.token,)
        scene.clock.advance(2 * LEASE)
        assert await scene.storage.upkeep.expired_leases(10, at=scene.now) == []

    async def test_an_opened_execution_is_stored_with_its_start_values(self, scene: Scene) -> None:
        jobs = {JobId("report"): a_job_spec(priority=3)}
        deadline = scene.after(MINUTE)

        tree = await opened(scene, version=7, params={"day": 1}, jobs=jobs, deadline=deadline)

        execution = await shown(scene, tree.run_id)
        assert (execution.workflow_id, execution.version, execution.state) == (ETL, 7, 0)
        assert (execution.params, execution.jobs, execution.deadline) == ({"day": 1}, jobs, deadline)
        assert (execution.unresolved, execution.opened_at, execution.cancel_at) == (2, scene.now, None)
        assert await scene.items(EventKind.EXECUTIONS_OPENED) == [[execution.run_id, ETL, 7]]

    @pytest.mark.proves("R2-45")
    async def test_the_runs_of_first_steps_have_their_parent_and_step(self, scene: Scene) -> None:
        execution = await opened(scene)

        claim = await claim_child(scene, execution)

        assert (claim.parent_id, claim.child_key) == (execution.run_id, "extract")
        run = await scene.run(claim.run_id)
        place = (run.parent_id, run.root_id, run.child_key)
        assert (place, run.status) == ((execution.run_id, execution.run_id, "extract"), Status.RUNNING)
        parent = await scene.run(execution.run_id)
        assert (parent.parent_id, parent.root_id, parent.child_key) == (None, None, None)

    async def test_a_lost_child_keeps_its_parent_and_step(self, scene: Scene) -> None:
        execution = await opened(scene)
        worker = await scene.worker()
        [claim] = await scene.claim(worker=worker, only=[await child_of(scene, execution)])
        scene.clock.advance(2 * LEASE)

        await scene.finish(lost(claim))

        again = await claim_child(scene, execution)
        assert (again.parent_id, again.child_key, again.lost) == (execution.run_id, "extract", 1)

    @pytest.mark.proves("L2")
    async def test_a_stale_token_opens_no_execution(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        await scene.finish(given_back(claim))
        opening = an_opening(claim)

        assert await scene.storage.trees.open([opening], at=scene.now) == [claim.token]

        assert await scene.storage.queries.get_executions([claim.run_id]) == {}
        assert await scene.storage.queries.get_runs([opening.runs[0].id]) == {}
        assert await scene.status(claim.run_id) is Status.QUEUED

    @pytest.mark.proves("L2")
    async def test_a_token_of_another_run_opens_no_execution(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        other = a_claim(token=claim.token, job_id=ETL)

        assert await scene.storage.trees.open([an_opening(other)], at=scene.now) == [claim.token]

        assert await scene.status(claim.run_id) is Status.RUNNING
        assert await scene.storage.queries.active_executions() == []

    @pytest.mark.proves("D6")
    async def test_opening_an_execution_twice_is_a_no_op(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        opening = an_opening(claim)

        for _ in range(2):
            assert await scene.storage.trees.open([opening], at=scene.now) == []

        assert len(await scene.items(EventKind.EXECUTIONS_OPENED)) == 1
        assert len(await scene.storage.queries.page_runs(RunFilter(root_id=claim.run_id))) == 1

    async def test_an_unstorable_opening_fails_only_its_own_run(self, scene: Scene) -> None:
        [taken] = await scene.create(a_run())
        good, bad = await scene.start(a_run(job_id=ETL)), await scene.start(a_run(job_id=ETL))
        openings = [
            an_opening(bad, runs={"extract": a_child(bad.run_id, "extract", id=taken)}),
            an_opening(good),
        ]

        assert await scene.storage.trees.open(openings, at=scene.now) == []

        run = await scene.run(bad.run_id)
        assert (run.status, run.reason) == (Status.FAILED, Reason.PAYLOAD)
        assert await scene.status(good.run_id) is Status.RUNNING
        assert list(await scene.storage.queries.get_executions([good.run_id, bad.run_id])) == [good.run_id]

    async def test_a_cancellation_before_the_opening_is_kept(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        await scene.cancel(claim.run_id)
        asked_at = scene.now
        scene.clock.advance(SECOND)

        await scene.storage.trees.open([an_opening(claim)], at=scene.now)

        assert await scene.status(claim.run_id) is Status.CANCELLING
        [one] = await unsettled(scene)
        assert (one.tree.cancel_at, list(one.notes.items)) == (asked_at, [Note(claim.run_id)])

    @pytest.mark.proves("D5")
    async def test_an_execution_opened_with_all_steps_resolved_ends_immediately(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        ended = Ended(Status.SKIPPED)

        await scene.storage.trees.open([an_opening(claim, runs={}, ended=ended)], at=scene.now)

        run = await scene.run(claim.run_id)
        assert (run.status, run.started_at, run.finished_at) == (Status.SKIPPED, scene.now, scene.now)
        assert await scene.items(EventKind.EXECUTIONS_ENDED) == [[claim.run_id, ETL, Status.SKIPPED]]
        assert await scene.storage.queries.active_executions() == []

    async def test_an_execution_holds_its_places_until_it_ends(self, scene: Scene) -> None:
        execution = await opened(scene, a_run(job_id=ETL, max_concurrent=1))
        [waiting] = await scene.create(a_run(job_id=ETL, max_concurrent=1))
        await scene.storage.admission.admit(100, at=scene.now)
        assert await scene.status(waiting) is Status.QUEUED
        assert waiting not in await scene.ready()

        await settle(scene, final_settlement(execution))

        assert waiting in await scene.ready()

    @pytest.mark.proves("T10")
    async def test_a_tick_waits_for_the_execution_of_the_previous_tick(self, scene: Scene) -> None:
        await scene.job(ETL)
        await scene.schedule(every(60, overlap=Overlap.QUEUE, job_id=ETL))
        [first] = await scene.fire_after(MINUTE)
        [claim] = await scene.claim(only=[first])
        await scene.storage.trees.open([an_opening(claim)], at=scene.now)
        [second] = await scene.fire_after(MINUTE)
        assert (await shown(scene, first)).tick == claim.tick
        assert second not in await scene.ready()

        await settle(scene, final_settlement(await stored(scene, first)))

        assert second in await scene.ready()

    async def test_a_tick_with_cancel_running_requests_the_end_of_the_execution(self, scene: Scene) -> None:
        await scene.job(ETL)
        await scene.schedule(every(60, overlap=Overlap.CANCEL_RUNNING, job_id=ETL))
        [first] = await scene.fire_after(MINUTE)
        [claim] = await scene.claim(only=[first])
        await scene.storage.trees.open([an_opening(claim)], at=scene.now)

        await scene.fire_after(MINUTE)

        assert await scene.status(first) is Status.CANCELLING
        assert await all_notes(scene) == [(None, None)]
