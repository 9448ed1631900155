"""Executions of workflows begin: what a storage promises about opening them."""

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.tree.tree import Note
from foliot.ports.queries import RunFilter
from foliot.testing.builders import (
    LEASE,
    a_claim,
    a_job_spec,
    a_run,
    every,
    given_back,
    lost,
)
from foliot.testing.conformance.storage.passages import (
    ETL,
    a_part,
    an_opening,
    begun,
    noted,
    opened,
    part_of,
    settle,
    shown,
    stored,
    the_end,
    unsettled,
)
from foliot.testing.conformance.storage.scene import Contract, Scene


class OpenContract(Contract):
    """Every storage passes these, unchanged."""

    @pytest.mark.proves("L1")
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

    async def test_what_it_begins_with_is_kept(self, scene: Scene) -> None:
        jobs = {JobId("report"): a_job_spec(priority=3)}
        deadline = scene.after(MINUTE)

        tree = await opened(scene, version=7, params={"day": 1}, jobs=jobs, deadline=deadline)

        execution = await shown(scene, tree.run_id)
        assert (execution.workflow_id, execution.version, execution.state) == (ETL, 7, 0)
        assert (execution.params, execution.jobs, execution.deadline) == ({"day": 1}, jobs, deadline)
        assert (execution.unresolved, execution.opened_at, execution.cancel_at) == (2, scene.now, None)
        assert await scene.items(EventKind.EXECUTIONS_OPENED) == [[execution.run_id, ETL, 7]]

    @pytest.mark.proves("R2-45", "D9")
    async def test_the_runs_of_its_first_steps_know_where_they_belong(self, scene: Scene) -> None:
        execution = await opened(scene)

        claim = await begun(scene, execution)

        assert (claim.parent_id, claim.child_key) == (execution.run_id, "extract")
        run = await scene.run(claim.run_id)
        place = (run.parent_id, run.root_id, run.child_key)
        assert (place, run.status) == ((execution.run_id, execution.run_id, "extract"), Status.RUNNING)
        parent = await scene.run(execution.run_id)
        assert (parent.parent_id, parent.root_id, parent.child_key) == (None, None, None)

    async def test_a_lost_part_still_knows_where_it_belongs(self, scene: Scene) -> None:
        execution = await opened(scene)
        worker = await scene.worker()
        [claim] = await scene.claim(worker=worker, only=[await part_of(scene, execution)])
        scene.clock.advance(2 * LEASE)

        await scene.finish(lost(claim))

        again = await begun(scene, execution)
        assert (again.parent_id, again.child_key, again.lost) == (execution.run_id, "extract", 1)

    @pytest.mark.proves("L2", "L5")
    async def test_a_stale_token_begins_nothing(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        await scene.finish(given_back(claim))
        opening = an_opening(claim)

        assert await scene.storage.trees.open([opening], at=scene.now) == [claim.token]

        assert await scene.storage.queries.get_executions([claim.run_id]) == {}
        assert await scene.storage.queries.get_runs([opening.runs[0].id]) == {}
        assert await scene.status(claim.run_id) is Status.QUEUED

    @pytest.mark.proves("L2")
    async def test_a_token_of_another_run_begins_nothing(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        other = a_claim(token=claim.token, job_id=ETL)

        assert await scene.storage.trees.open([an_opening(other)], at=scene.now) == [claim.token]

        assert await scene.status(claim.run_id) is Status.RUNNING
        assert await scene.storage.queries.active_executions() == []

    @pytest.mark.proves("D6")
    async def test_opening_twice_is_opening_once(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        opening = an_opening(claim)

        for _ in range(2):
            assert await scene.storage.trees.open([opening], at=scene.now) == []

        assert len(await scene.items(EventKind.EXECUTIONS_OPENED)) == 1
        assert len(await scene.storage.queries.page_runs(RunFilter(root_id=claim.run_id))) == 1

    async def test_one_that_cannot_be_stored_ends_its_run_and_no_other(self, scene: Scene) -> None:
        [taken] = await scene.create(a_run())
        good, bad = await scene.start(a_run(job_id=ETL)), await scene.start(a_run(job_id=ETL))
        openings = [
            an_opening(bad, runs={"extract": a_part(bad.run_id, "extract", id=taken)}),
            an_opening(good),
        ]

        assert await scene.storage.trees.open(openings, at=scene.now) == []

        run = await scene.run(bad.run_id)
        assert (run.status, run.reason) == (Status.FAILED, Reason.PAYLOAD)
        assert await scene.status(good.run_id) is Status.RUNNING
        assert list(await scene.storage.queries.get_executions([good.run_id, bad.run_id])) == [good.run_id]

    async def test_a_cancel_that_came_before_is_not_forgotten(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        await scene.cancel(claim.run_id)
        asked_at = scene.now
        scene.clock.advance(SECOND)

        await scene.storage.trees.open([an_opening(claim)], at=scene.now)

        assert await scene.status(claim.run_id) is Status.CANCELLING
        [one] = await unsettled(scene)
        assert (one.tree.cancel_at, list(one.notes.items)) == (asked_at, [Note(claim.run_id)])

    @pytest.mark.proves("D5")
    async def test_one_whose_steps_are_all_resolved_ends_at_once(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        ended = Ended(Status.SKIPPED)

        await scene.storage.trees.open([an_opening(claim, runs={}, ended=ended)], at=scene.now)

        run = await scene.run(claim.run_id)
        assert (run.status, run.started_at, run.finished_at) == (Status.SKIPPED, scene.now, scene.now)
        assert await scene.items(EventKind.EXECUTIONS_ENDED) == [[claim.run_id, ETL, Status.SKIPPED]]
        assert await scene.storage.queries.active_executions() == []

    async def test_a_place_is_kept_until_the_execution_ends(self, scene: Scene) -> None:
        execution = await opened(scene, a_run(job_id=ETL, max_concurrent=1))
        [waiting] = await scene.create(a_run(job_id=ETL, max_concurrent=1))
        await scene.storage.admission.admit(100, at=scene.now)
        assert await scene.status(waiting) is Status.QUEUED
        assert waiting not in await scene.ready()

        await settle(scene, the_end(execution))

        assert waiting in await scene.ready()

    @pytest.mark.proves("T10")
    async def test_a_tick_waits_for_the_execution_of_the_one_before(self, scene: Scene) -> None:
        await scene.job(ETL)
        await scene.schedule(every(60, overlap=Overlap.QUEUE, job_id=ETL))
        [first] = await scene.fire_after(MINUTE)
        [claim] = await scene.claim(only=[first])
        await scene.storage.trees.open([an_opening(claim)], at=scene.now)
        [second] = await scene.fire_after(MINUTE)
        assert (await shown(scene, first)).tick == claim.tick
        assert second not in await scene.ready()

        await settle(scene, the_end(await stored(scene, first)))

        assert second in await scene.ready()

    async def test_a_tick_that_cancels_what_runs_asks_the_execution_to_end(self, scene: Scene) -> None:
        await scene.job(ETL)
        await scene.schedule(every(60, overlap=Overlap.CANCEL_RUNNING, job_id=ETL))
        [first] = await scene.fire_after(MINUTE)
        [claim] = await scene.claim(only=[first])
        await scene.storage.trees.open([an_opening(claim)], at=scene.now)

        await scene.fire_after(MINUTE)

        assert await scene.status(first) is Status.CANCELLING
        assert await noted(scene) == [(None, None)]
