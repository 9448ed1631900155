"""What a storage forgets of executions and gates, and what it keeps."""

import pytest

from foliot.domain.gate.decision import DependencyState, Passed
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import DAY, HOUR, Instant
from foliot.domain.run.run import Status
from foliot.domain.tree.tree import Tree
from foliot.ports.queries import RunFilter
from foliot.ports.upkeep import Retention
from foliot.testing.builders import REPORT, a_chunk, a_run, retention, succeeded
from foliot.testing.conformance.storage.gates import SKIP
from foliot.testing.conformance.storage.passages import (
    an_opening,
    begun,
    opened,
    part_of,
    settle,
    stored,
    the_end,
    unsettled,
)
from foliot.testing.conformance.storage.scene import Contract, Scene


class KeepingContract(Contract):
    """Every storage passes these, unchanged."""

    is_pruned = True

    @pytest.mark.proves("R2-16")
    async def test_the_newest_executions_of_each_workflow_are_kept(self, scene: Scene) -> None:
        mine = [await over(scene) for _ in range(5)]
        other = await over(scene, "other")

        pruned = await scene.prune(retention(executions_per_workflow=2))

        assert pruned.runs == 6
        left = await scene.storage.queries.get_executions([*mine, other])
        assert list(left) == [*mine[3:], other]
        assert await scene.storage.trees.steps(mine[0]) == []
        assert await scene.storage.queries.page_runs(RunFilter(root_id=mine[0])) == []
        assert len(await scene.storage.queries.page_runs(RunFilter(root_id=mine[3]))) == 1

    @pytest.mark.proves("R2-17")
    async def test_executions_can_be_kept_by_age_as_well(self, scene: Scene) -> None:
        old = [await over(scene) for _ in range(2)]
        active = await opened(scene)
        (plain,) = await scene.create(a_run())
        scene.clock.advance(HOUR)
        late = await end(scene, active)
        scene.clock.advance(HOUR)

        assert (await scene.prune(retention())).runs == 0
        assert (await scene.prune(retention(executions_age=HOUR + 1))).runs == 4

        assert list(await scene.storage.queries.get_executions([*old, late])) == [late]
        assert list(await scene.storage.queries.get_runs([*old, plain])) == [plain]
        assert (await scene.prune(retention(executions_age=HOUR - 1))).runs == 2
        assert await scene.storage.queries.get_executions([late]) == {}

    async def test_executions_under_way_are_neither_counted_nor_removed(self, scene: Scene) -> None:
        active = await opened(scene)
        done = await over(scene)

        assert (await scene.prune(retention(executions_per_workflow=1))).runs == 0
        assert (await scene.prune(retention(executions_per_workflow=0))).runs == 2

        assert list(await scene.storage.queries.get_executions([active.run_id, done])) == [active.run_id]

    async def test_an_old_execution_goes_with_all_that_its_parts_left(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await begun(scene, execution)
        await scene.storage.work.append_log([a_chunk(claim)])
        await scene.finish(succeeded(claim, b'{"rows":3}'))
        await settle(scene, the_end(execution))
        scene.clock.advance(DAY)

        assert (await scene.prune(retention(runs_age=HOUR))).runs == 2

        assert await scene.storage.queries.get_runs([execution.run_id, claim.run_id]) == {}
        assert await scene.storage.queries.get_executions([execution.run_id]) == {}
        assert await scene.storage.queries.read_log(claim.run_id) == []

    @pytest.mark.proves("S8")
    async def test_no_part_goes_before_the_execution_is_over(self, scene: Scene) -> None:
        execution = await opened(scene)
        part = await part_of(scene, execution)
        await scene.finish(succeeded(await begun(scene, execution)))
        scene.clock.advance(100 * DAY)

        assert (await scene.prune(retention(runs_age=HOUR, runs_per_job=0))).runs == 0

        assert await scene.status(part) is Status.SUCCESS
        assert len((await unsettled(scene))[0].notes.items) == 1

    async def test_a_large_execution_goes_piece_by_piece_the_whole_last(self, scene: Scene) -> None:
        run_id = await over(scene)
        inner = await nested(scene)
        scene.clock.advance(DAY)

        pieces = [(await scene.prune(retention(runs_age=HOUR), limit=1)).runs for _ in range(20)]

        assert (max(pieces), sum(pieces)) == (1, 5)
        assert await scene.storage.queries.get_executions([run_id, inner]) == {}
        assert await scene.storage.queries.page_runs(RunFilter()) == []

    @pytest.mark.parametrize(
        "kept", [retention(runs_age=HOUR), retention(runs_per_job=0), retention(executions_per_workflow=0)]
    )
    async def test_whoever_prunes_until_there_is_no_more_leaves_nothing_of_large_executions(
        self, scene: Scene, kept: Retention
    ) -> None:
        for workflow_id in ("etl", "other"):
            await over(scene, workflow_id)
        await nested(scene)
        scene.clock.advance(DAY)

        pieces = await scene.prune_to_the_end(kept, limit=2)

        assert sum(piece.runs for piece in pieces) == 7
        assert await scene.storage.queries.page_runs(RunFilter()) == []

    async def test_decisions_and_ends_go_with_their_runs(self, scene: Scene) -> None:
        await scene.storage.definitions.watch_jobs([REPORT])
        [run_id] = await scene.create(a_run(is_gated=True))
        await scene.storage.admission.pass_gates([Passed(run_id, SKIP)], [], at=scene.now)
        scene.clock.advance(DAY)

        assert (await scene.prune(retention(runs_age=HOUR))).runs == 1

        assert await scene.storage.admission.decisions([run_id]) == {}
        sights = await scene.storage.admission.sights([REPORT], after=Instant(0), until=scene.now)
        assert sights == {REPORT: DependencyState(None)}


async def over(scene: Scene, workflow_id: str = "etl") -> RunId:
    """An execution that has ended, with a part that has."""
    return await end(scene, await opened(scene, a_run(job_id=JobId(workflow_id))))


async def end(scene: Scene, execution: Tree) -> RunId:
    await scene.finish(succeeded(await begun(scene, execution)))
    await settle(scene, the_end(await stored(scene, execution.run_id)))
    return execution.run_id


async def nested(scene: Scene) -> RunId:
    """An execution whose part was an execution with a part; the outer one comes back."""
    outer = await opened(scene)
    claim = await begun(scene, outer)
    await scene.storage.trees.open([an_opening(claim)], at=scene.now)
    await end(scene, await stored(scene, claim.run_id))
    await settle(scene, the_end(await stored(scene, outer.run_id)))
    return outer.run_id
