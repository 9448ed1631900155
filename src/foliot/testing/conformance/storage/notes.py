"""The promises of a storage about notes: records for the settler that a child of a tree has ended."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE, Millis
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.tree import Note
from foliot.testing.builders import (
    a_run,
    a_run_id,
    failed,
    given_back,
    lost,
    succeeded,
    to_retry,
)
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    a_child,
    a_settlement,
    all_notes,
    an_opening,
    child_of,
    claim_child,
    final_settlement,
    opened,
    settle,
    stored,
    unsettled,
)


class NoteContract(Contract):
    """Every verb that ends a child notes it. Every storage must pass these tests unchanged."""

    @pytest.mark.proves("D2", "D6")
    async def test_the_finish_of_a_child_is_noted_with_status_and_exit_code(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await claim_child(scene, execution)
        scene.clock.advance(7)

        await scene.finish(succeeded(claim, b'{"rows":3}'))

        [one] = await unsettled(scene)
        assert one.tree == execution
        assert list(one.notes.items) == [Note(claim.run_id, "extract", Status.SUCCESS, 0, Millis(7))]
        assert not one.notes.has_more

    async def test_successes_and_failures_of_children_are_noted(self, scene: Scene) -> None:
        names = ("a", "b")
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_child(claim.run_id, name) for name in names}
        await scene.storage.trees.open([an_opening(claim, steps=names, runs=runs)], at=scene.now)
        first, second = await scene.claim()

        await scene.finish(succeeded(first), failed(second))

        assert await all_notes(scene) == [("a", Status.SUCCESS), ("b", Status.FAILED)]

    async def test_a_child_that_has_not_ended_is_not_noted(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.finish(given_back(await claim_child(scene, execution)))
        await scene.finish(lost(await claim_child(scene, execution)))
        await scene.finish(to_retry(await claim_child(scene, execution)))

        assert await unsettled(scene) == []

    async def test_a_run_outside_of_trees_is_not_noted(self, scene: Scene) -> None:
        await opened(scene)

        await scene.finish(failed(await scene.start()))

        assert await unsettled(scene) == []

    async def test_a_cancelled_child_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)

        await scene.cancel(await child_of(scene, execution))

        assert await all_notes(scene) == [("extract", Status.CANCELLED)]

    async def test_a_marked_child_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)

        await scene.storage.orders.mark({await child_of(scene, execution): a_run_id()}, at=scene.now)

        assert await all_notes(scene) == [("extract", Status.SUCCESS)]

    async def test_an_answered_child_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)
        part = await child_of(scene, execution)

        await scene.storage.orders.answer({part: Ended(Status.FAILED, Reason.REJECTED)}, at=scene.now)

        assert await all_notes(scene) == [("extract", Status.FAILED)]

    async def test_a_child_whose_job_is_deleted_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.job("etl.extract")

        await scene.storage.definitions.delete_jobs([JobId("etl.extract")], at=scene.now)

        assert await all_notes(scene) == [("extract", Status.CANCELLED)]
        assert await scene.status(execution.run_id) is Status.RUNNING

    async def test_a_child_that_is_an_execution_is_noted_when_it_ends(self, scene: Scene) -> None:
        outer = await opened(scene)
        claim = await claim_child(scene, outer)
        await scene.storage.trees.open([an_opening(claim, steps=("inner",))], at=scene.now)

        await settle(scene, final_settlement(await stored(scene, claim.run_id), steps=("inner",)))

        [one] = await unsettled(scene)
        assert (one.tree.run_id, [note.child_key for note in one.notes.items]) == (outer.run_id, ["extract"])

    async def test_notes_are_grouped_by_execution_up_to_the_limit(self, scene: Scene) -> None:
        executions = [await opened(scene) for _ in range(3)]
        for execution in executions:
            await scene.finish(succeeded(await claim_child(scene, execution)))

        found = await unsettled(scene)

        assert [one.tree.run_id for one in found] == [execution.run_id for execution in executions]
        assert [len(one.notes.items) for one in found] == [1, 1, 1]
        assert len(await unsettled(scene, limit=2)) == 2

    async def test_an_execution_past_its_deadline_is_unsettled_until_it_is_ending(self, scene: Scene) -> None:
        execution = await opened(scene, deadline=scene.after(MINUTE))
        assert await unsettled(scene) == []
        scene.clock.advance(MINUTE)

        [one] = await unsettled(scene)
        assert (one.tree, one.notes) == (execution, ([], False))
        await settle(scene, a_settlement(execution._replace(is_ending=True)))

        assert await unsettled(scene) == []
        assert (await stored(scene, execution.run_id)).is_ending

    async def test_an_ended_execution_is_never_unsettled(self, scene: Scene) -> None:
        execution = await opened(scene, deadline=scene.after(MINUTE))
        part = await claim_child(scene, execution)
        await settle(scene, final_settlement(execution))
        scene.clock.advance(MINUTE)

        await scene.finish(succeeded(part))

        assert await unsettled(scene) == []
