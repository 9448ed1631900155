"""The promises of a storage about retention of executions and gate decisions."""

import pytest

from foliot.domain.gate.decision import Decided, DependencyState
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import DAY, HOUR, Instant, Millis
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.tree import Tree
from foliot.ports.pages import RunFilter
from foliot.ports.upkeep import Retention
from foliot.testing.builders import REPORT, a_chunk, a_run, retention, succeeded
from foliot.testing.conformance.storage.gates import SKIP
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    DONE,
    an_opening,
    child_of,
    claim_child,
    final_settlement,
    opened,
    settle,
    stored,
    unsettled,
)


class ExecutionRetentionContract(Contract):
    """Every storage must pass these tests unchanged."""

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

    async def test_the_newest_executions_of_all_workflows_are_kept(self, scene: Scene) -> None:
        executions = [await over(scene, workflow_id) for workflow_id in ("a", "b", "a", "c")]
        active = await opened(scene)

        pruned = await scene.prune_to_the_end(retention(executions_total=2), limit=3)

        assert sum(piece.runs for piece in pruned) == 4
        left = await scene.storage.queries.get_executions([*executions, active.run_id])
        assert list(left) == [*executions[2:], active.run_id]

    @pytest.mark.proves("R2-16")
    async def test_surplus_executions_of_a_workflow_are_removed_when_one_ends(self, scene: Scene) -> None:
        mine = [await over(scene) for _ in range(4)]
        other = [await over(scene, "other") for _ in range(4)]
        active = await opened(scene)

        removed = await prune_executions(scene, "etl", kept=retention(executions_per_workflow=2))

        assert removed == 4
        left = await scene.storage.queries.get_executions([*mine, *other, active.run_id])
        assert list(left) == [*mine[2:], *other, active.run_id]
        assert await scene.storage.queries.page_runs(RunFilter(root_id=mine[0])) == []

    async def test_executions_beyond_the_total_are_removed_when_one_ends(self, scene: Scene) -> None:
        executions = [await over(scene, workflow_id) for workflow_id in ("a", "b", "a", "b")]

        removed = await prune_executions(scene, "b", kept=retention(executions_per_workflow=1, executions_total=2))

        assert removed == 4
        assert list(await scene.storage.queries.get_executions(executions)) == executions[2:]

    async def test_a_bounded_piece_of_the_surplus_is_removed_when_an_execution_ends(self, scene: Scene) -> None:
        executions = [await over(scene) for _ in range(4)]
        kept = retention(executions_per_workflow=1)

        pieces = [await prune_executions(scene, "etl", kept=kept, limit=2) for _ in range(5)]

        assert (max(pieces), sum(pieces)) == (2, 6)
        assert list(await scene.storage.queries.get_executions(executions)) == executions[3:]

    async def test_logs_of_surplus_executions_are_removed_when_one_ends(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await claim_child(scene, execution)
        await scene.storage.work.append_log([a_chunk(claim)])
        await scene.finish(succeeded(claim))
        await settle(scene, final_settlement(execution))

        assert await prune_executions(scene, "etl", kept=retention(executions_per_workflow=0)) == 2

        assert await scene.storage.queries.read_log(claim.run_id) == []

    async def test_no_execution_is_removed_when_one_ends_without_a_count(self, scene: Scene) -> None:
        await over(scene)

        assert await prune_executions(scene, "etl", kept=retention(executions_age=0)) == 0

    @pytest.mark.parametrize("watched", ["etl", "etl.extract"], ids=["the workflow", "a step"])
    async def test_an_execution_that_a_gate_may_read_is_kept(self, scene: Scene, watched: str) -> None:
        await scene.storage.definitions.watch_jobs({JobId(watched): HOUR})
        first, second = await over(scene), await over(scene)
        scene.clock.advance(HOUR - 1)
        last = await over(scene)
        counts = retention(executions_per_workflow=0, executions_total=0, executions_age=1)

        assert await prune_executions(scene, "etl", kept=counts) == 0
        assert [piece.runs for piece in await scene.prune_to_the_end(counts, limit=2)][-1] == 0
        scene.clock.advance(1)
        assert await prune_executions(scene, "etl", kept=counts) == 4
        scene.clock.advance(DAY)
        await scene.prune_to_the_end(counts, limit=2)

        assert list(await scene.storage.queries.get_executions([first, second, last])) == [last]

    async def test_the_last_success_of_a_job_with_a_gate_is_kept_behind_later_failures(self, scene: Scene) -> None:
        """The window kind `since_last_success` begins at that success."""
        await scene.storage.definitions.watch_jobs({JobId("etl"): Millis(0)})
        succeeded_first, succeeded_last = await over(scene), await over(scene)
        failed_first, failed_last = [await over(scene, ended=Ended(Status.FAILED)) for _ in range(2)]
        scene.clock.advance(DAY)

        assert await prune_executions(scene, "etl", kept=retention(executions_per_workflow=0)) == 4

        executions = [succeeded_first, succeeded_last, failed_first, failed_last]
        assert list(await scene.storage.queries.get_executions(executions)) == [succeeded_last, failed_last]

    async def test_the_longest_window_of_the_gates_on_a_job_counts(self, scene: Scene) -> None:
        for look_back in (HOUR, DAY, HOUR):
            await scene.storage.definitions.watch_jobs({JobId("etl"): look_back})
        first, second = await over(scene), await over(scene)
        scene.clock.advance(DAY - 1)

        assert await prune_executions(scene, "etl", kept=retention(executions_per_workflow=1)) == 0
        scene.clock.advance(1)
        assert await prune_executions(scene, "etl", kept=retention(executions_per_workflow=1)) == 2

        assert list(await scene.storage.queries.get_executions([first, second])) == [second]

    @pytest.mark.proves("R2-17")
    async def test_executions_are_kept_by_age(self, scene: Scene) -> None:
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

    async def test_open_executions_are_neither_counted_nor_removed(self, scene: Scene) -> None:
        active = await opened(scene)
        done = await over(scene)

        assert (await scene.prune(retention(executions_per_workflow=1))).runs == 0
        assert (await scene.prune(retention(executions_per_workflow=0))).runs == 2

        assert list(await scene.storage.queries.get_executions([active.run_id, done])) == [active.run_id]

    async def test_an_old_execution_is_removed_with_all_rows_of_its_runs(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await claim_child(scene, execution)
        await scene.storage.work.append_log([a_chunk(claim)])
        await scene.finish(succeeded(claim, b'{"rows":3}'))
        await settle(scene, final_settlement(execution))
        scene.clock.advance(DAY)

        assert (await scene.prune(retention(runs_age=HOUR))).runs == 2

        assert await scene.storage.queries.get_runs([execution.run_id, claim.run_id]) == {}
        assert await scene.storage.queries.get_executions([execution.run_id]) == {}
        assert await scene.storage.queries.read_log(claim.run_id) == []

    async def test_no_run_of_an_open_execution_is_removed(self, scene: Scene) -> None:
        execution = await opened(scene)
        part = await child_of(scene, execution)
        await scene.finish(succeeded(await claim_child(scene, execution)))
        scene.clock.advance(100 * DAY)

        assert (await scene.prune(retention(runs_age=HOUR, runs_per_job=0))).runs == 0

        assert await scene.status(part) is Status.SUCCESS
        assert len((await unsettled(scene))[0].notes.items) == 1

    async def test_a_large_execution_is_removed_in_pieces_and_its_own_run_last(self, scene: Scene) -> None:
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
    async def test_pruning_until_done_removes_large_executions_completely(self, scene: Scene, kept: Retention) -> None:
        for workflow_id in ("etl", "other"):
            await over(scene, workflow_id)
        await nested(scene)
        scene.clock.advance(DAY)

        pieces = await scene.prune_to_the_end(kept, limit=2)

        assert sum(piece.runs for piece in pieces) == 7
        assert await scene.storage.queries.page_runs(RunFilter()) == []

    async def test_gate_decisions_and_ends_are_removed_with_their_runs(self, scene: Scene) -> None:
        await scene.storage.definitions.watch_jobs({REPORT: DAY})
        [run_id] = await scene.create(a_run(is_gated=True))
        await scene.storage.admission.decide_gates([Decided(run_id, SKIP)], [], at=scene.now)
        scene.clock.advance(DAY)

        assert (await scene.prune(retention(runs_age=HOUR))).runs == 1

        assert await scene.storage.admission.decisions([run_id]) == {}
        dependency_states = await scene.storage.admission.dependency_states([REPORT], after=Instant(0), until=scene.now)
        assert dependency_states == {REPORT: DependencyState(None)}


async def prune_executions(scene: Scene, *workflow_ids: str, kept: Retention, limit: int = 100) -> int:
    return await scene.storage.upkeep.prune_executions(workflow_ids, kept, limit=limit, at=scene.now)


async def over(scene: Scene, workflow_id: str = "etl", ended: Ended = DONE) -> RunId:
    """Return an ended execution with an ended child."""
    return await end(scene, await opened(scene, a_run(job_id=JobId(workflow_id))), ended)


async def end(scene: Scene, execution: Tree, ended: Ended = DONE) -> RunId:
    await scene.finish(succeeded(await claim_child(scene, execution)))
    await settle(scene, final_settlement(await stored(scene, execution.run_id), ended))
    return execution.run_id


async def nested(scene: Scene) -> RunId:
    """Nest an execution with a child into another one. Return the outer one."""
    outer = await opened(scene)
    claim = await claim_child(scene, outer)
    await scene.storage.trees.open([an_opening(claim)], at=scene.now)
    await end(scene, await stored(scene, claim.run_id))
    await settle(scene, final_settlement(await stored(scene, outer.run_id)))
    return outer.run_id
