"""The runs of steps end: what a storage notes of them for whoever settles their execution."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE
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
from foliot.testing.conformance.storage.passages import (
    ETL,
    a_part,
    a_settlement,
    an_opening,
    begun,
    noted,
    opened,
    part_of,
    settle,
    stored,
    the_end,
    unsettled,
)
from foliot.testing.conformance.storage.scene import Contract, Scene


class NoteContract(Contract):
    """A part that has ended, by whatever verb, is noted with it. Every storage passes these, unchanged."""

    @pytest.mark.proves("D2", "D6")
    async def test_a_finish_is_noted_with_status_and_exit_code(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await begun(scene, execution)

        await scene.finish(succeeded(claim, b'{"rows":3}'))

        [one] = await unsettled(scene)
        assert one.tree == execution
        assert list(one.notes.items) == [Note(claim.run_id, "extract", Status.SUCCESS, 0)]
        assert not one.notes.has_more

    async def test_plain_successes_and_failures_are_noted(self, scene: Scene) -> None:
        names = ("a", "b")
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_part(claim.run_id, name) for name in names}
        await scene.storage.trees.open([an_opening(claim, steps=names, runs=runs)], at=scene.now)
        first, second = await scene.claim()

        await scene.finish(succeeded(first), failed(second))

        assert await noted(scene) == [("a", Status.SUCCESS), ("b", Status.FAILED)]

    async def test_a_run_that_is_not_over_is_not_noted(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.finish(given_back(await begun(scene, execution)))
        await scene.finish(lost(await begun(scene, execution)))
        await scene.finish(to_retry(await begun(scene, execution)))

        assert await unsettled(scene) == []

    async def test_a_run_that_is_no_part_is_not_noted(self, scene: Scene) -> None:
        await opened(scene)

        await scene.finish(failed(await scene.start()))

        assert await unsettled(scene) == []

    async def test_a_cancelled_part_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)

        await scene.cancel(await part_of(scene, execution))

        assert await noted(scene) == [("extract", Status.CANCELLED)]

    async def test_a_marked_part_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)

        await scene.storage.orders.mark({await part_of(scene, execution): a_run_id()}, at=scene.now)

        assert await noted(scene) == [("extract", Status.SUCCESS)]

    async def test_an_answered_part_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)
        part = await part_of(scene, execution)

        await scene.storage.orders.answer({part: Ended(Status.FAILED, Reason.REJECTED)}, at=scene.now)

        assert await noted(scene) == [("extract", Status.FAILED)]

    async def test_a_part_whose_job_is_deleted_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.job("etl.extract")

        await scene.storage.definitions.delete_jobs([JobId("etl.extract")], at=scene.now)

        assert await noted(scene) == [("extract", Status.CANCELLED)]
        assert await scene.status(execution.run_id) is Status.RUNNING

    async def test_a_part_that_is_an_execution_itself_is_noted_when_it_ends(self, scene: Scene) -> None:
        outer = await opened(scene)
        claim = await begun(scene, outer)
        await scene.storage.trees.open([an_opening(claim, steps=("inner",))], at=scene.now)

        await settle(scene, the_end(await stored(scene, claim.run_id), steps=("inner",)))

        [one] = await unsettled(scene)
        assert (one.tree.run_id, [note.child_key for note in one.notes.items]) == (outer.run_id, ["extract"])

    async def test_executions_are_told_apart_and_no_more_than_asked_for_come(self, scene: Scene) -> None:
        executions = [await opened(scene) for _ in range(3)]
        for execution in executions:
            await scene.finish(succeeded(await begun(scene, execution)))

        found = await unsettled(scene)

        assert [one.tree.run_id for one in found] == [execution.run_id for execution in executions]
        assert [len(one.notes.items) for one in found] == [1, 1, 1]
        assert len(await unsettled(scene, limit=2)) == 2

    async def test_an_overdue_execution_is_unsettled_until_it_is_ending(self, scene: Scene) -> None:
        execution = await opened(scene, deadline=scene.after(MINUTE))
        assert await unsettled(scene) == []
        scene.clock.advance(MINUTE)

        [one] = await unsettled(scene)
        assert (one.tree, one.notes) == (execution, ([], False))
        await settle(scene, a_settlement(execution._replace(is_ending=True)))

        assert await unsettled(scene) == []
        assert (await stored(scene, execution.run_id)).is_ending

    async def test_one_that_is_over_is_never_unsettled(self, scene: Scene) -> None:
        execution = await opened(scene, deadline=scene.after(MINUTE))
        part = await begun(scene, execution)
        await settle(scene, the_end(execution))
        scene.clock.advance(MINUTE)

        await scene.finish(succeeded(part))

        assert await unsettled(scene) == []
