"""The promises of a storage about settling executions."""

import asyncio

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.tree import Note
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.progress import StepState
from foliot.ports.pages import RunFilter
from foliot.testing.builders import (
    a_run,
    a_run_id,
    failed,
    succeeded,
)
from foliot.testing.conformance.storage.scene import Another, Contract, Scene
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
    shown,
    stored,
    unsettled,
)


class SettlementContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("D2", "D6")
    async def test_a_settlement_is_saved_as_a_whole(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await claim_child(scene, execution)
        await scene.finish(succeeded(claim))
        load = a_child(execution.run_id, "load")
        changed = {
            "extract": StepState(0, result=Result.SUCCESS, run_id=claim.run_id),
            "load": StepState(0, run_id=load.id),
        }

        settlement = a_settlement(execution, notes=[claim.run_id], changed=changed, runs={"load": load})
        assert await settle(scene, settlement) == [execution.run_id]

        assert await scene.storage.queries.step_states(execution.run_id) == changed
        after = await stored(scene, execution.run_id)
        assert (after.state, after.open) == (execution.state + 1, 1)
        assert await unsettled(scene) == []
        assert load.id in await scene.ready()
        assert [load.id, load.job_id] in await scene.items(EventKind.RUNS_CREATED)

    @pytest.mark.proves("D6")
    async def test_a_settlement_decided_on_another_state_changes_nothing(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await claim_child(scene, execution)
        await settle(scene, a_settlement(execution))
        await scene.finish(succeeded(claim))
        before = await scene.storage.queries.step_states(execution.run_id)

        late = final_settlement(execution)._replace(notes=(claim.run_id,), runs=(a_child(execution.run_id, "load"),))

        assert await settle(scene, late) == []
        assert await scene.storage.queries.step_states(execution.run_id) == before
        assert await all_notes(scene) == [("extract", Status.SUCCESS)]
        assert len(await scene.storage.queries.page_runs(RunFilter(root_id=execution.run_id))) == 1
        assert await scene.items(EventKind.EXECUTIONS_ENDED) == []

    @pytest.mark.proves("D5", "D6")
    async def test_one_of_many_concurrent_settlements_is_saved(self, scene: Scene, another: Another) -> None:
        execution = await opened(scene)
        scenes = [scene, Scene(await another(), scene.clock), Scene(await another(), scene.clock)]
        settlements = [a_settlement(execution, runs={"load": a_child(execution.run_id, "load")}) for _ in scenes]

        saved = await asyncio.gather(*(settle(one, own) for one, own in zip(scenes, settlements, strict=True)))

        assert sorted(map(len, saved)) == [0, 0, 1]
        parts = await scene.storage.queries.page_runs(RunFilter(root_id=execution.run_id))
        [winner] = [own.runs[0].id for own, ids in zip(settlements, saved, strict=True) if ids]
        assert {run.id for run in parts if run.child_key == "load"} == {winner}

    async def test_the_first_of_two_settlements_of_a_tree_in_one_batch_is_saved(self, scene: Scene) -> None:
        execution = await opened(scene)
        first, second = (a_child(execution.run_id, "load") for _ in range(2))
        settlements = [a_settlement(execution, runs={"load": run}) for run in (first, second)]

        assert await settle(scene, *settlements) == [execution.run_id]

        assert list(await scene.storage.queries.get_runs([first.id, second.id])) == [first.id]

    async def test_a_note_added_after_the_decision_is_kept(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_child(claim.run_id, name) for name in ("a", "b")}
        await scene.storage.trees.open([an_opening(claim, steps=("a", "b"), runs=runs)], at=scene.now)
        execution = await stored(scene, claim.run_id)
        first, second = await scene.claim()
        await scene.finish(succeeded(first), failed(second))

        changed = {"a": StepState(0, result=Result.SUCCESS, run_id=first.run_id)}
        await settle(scene, a_settlement(execution, notes=[first.run_id], changed=changed))

        assert await all_notes(scene) == [("b", Status.FAILED)]

    async def test_an_unstorable_settlement_does_not_fail_its_batch(self, scene: Scene) -> None:
        good, bad = await opened(scene), await opened(scene)
        before = await shown(scene, bad.run_id)
        [taken] = await scene.create(a_run())
        broken = final_settlement(bad)._replace(runs=(a_child(bad.run_id, "load", id=taken),), ended=None)

        assert await settle(scene, broken, final_settlement(good)) == [good.run_id]

        assert await shown(scene, bad.run_id) == before
        assert await scene.statuses(good.run_id, bad.run_id) == [Status.SUCCESS, Status.RUNNING]

    @pytest.mark.proves("R2-44", "D5", "S4")
    async def test_the_end_of_an_execution_writes_one_event_and_ends_its_run(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.finish(succeeded(await claim_child(scene, execution)))
        scene.clock.advance(MINUTE)
        ended = Ended(Status.FAILED, Reason.STEP_FAILED, "failed: load", output=b"[1]")

        assert await settle(scene, final_settlement(execution, ended)) == [execution.run_id]
        assert await settle(scene, final_settlement(execution, ended)) == []

        run = await scene.run(execution.run_id)
        assert (run.status, run.reason, run.error, run.output) == (Status.FAILED, "step_failed", "failed: load", [1])
        assert (run.finished_at, run.attempt) == (scene.now, 1)
        assert await scene.items(EventKind.EXECUTIONS_ENDED) == [[execution.run_id, ETL, Status.FAILED]]
        assert [execution.run_id, Status.FAILED, 1] in await scene.items(EventKind.RUNS_ENDED)
        assert [record.number for record in await scene.storage.queries.attempts(execution.run_id)] == [1]

    async def test_an_ended_execution_can_be_read(self, scene: Scene) -> None:
        execution = await opened(scene)

        await settle(scene, final_settlement(execution))

        assert (await shown(scene, execution.run_id)).unresolved == 0
        steps = await scene.storage.trees.steps(execution.run_id)
        assert [(step.name, step.state.result) for step in steps] == [("extract", "success"), ("load", "success")]

    async def test_a_settlement_cancels_waiting_and_running_children(self, scene: Scene) -> None:
        names = ("waits", "runs")
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_child(claim.run_id, name) for name in names}
        await scene.storage.trees.open([an_opening(claim, steps=names, runs=runs)], at=scene.now)
        await scene.claim(only=[runs["runs"].id])
        execution = await stored(scene, claim.run_id)

        await settle(scene, a_settlement(execution, cancels=[run.id for run in runs.values()]))

        ids = [runs[name].id for name in names]
        assert await scene.statuses(*ids) == [Status.CANCELLED, Status.CANCELLING]
        assert await all_notes(scene) == [("waits", Status.CANCELLED)]

    @pytest.mark.proves("S5")
    async def test_cancelling_an_execution_adds_a_note_and_is_pending(self, scene: Scene) -> None:
        execution = await opened(scene)

        assert await scene.cancel(execution.run_id) == [CancelAnswer.REQUESTED]
        assert await scene.cancel(execution.run_id) == [CancelAnswer.PENDING]

        assert await scene.status(execution.run_id) is Status.CANCELLING
        [one] = await unsettled(scene)
        assert (one.tree.cancel_at, list(one.notes.items)) == (scene.now, [Note(execution.run_id)])
        assert await scene.items(EventKind.RUNS_CANCEL_REQUESTED) == [[execution.run_id]]

    @pytest.mark.proves("S5")
    async def test_a_cancellation_invalidates_a_settlement_decided_before(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.cancel(execution.run_id)

        assert await settle(scene, final_settlement(execution)) == []
        [one] = await unsettled(scene)
        await settle(scene, final_settlement(one.tree, Ended(Status.CANCELLED, Reason.CANCELLED)))

        assert await scene.status(execution.run_id) is Status.CANCELLED
        assert await scene.cancel(execution.run_id) == [CancelAnswer.TERMINAL]
        assert await unsettled(scene) == []

    async def test_an_open_execution_is_not_marked(self, scene: Scene) -> None:
        execution = await opened(scene)

        answers = await scene.storage.orders.mark({execution.run_id: a_run_id()}, at=scene.now)

        assert answers[execution.run_id].answer is MarkAnswer.RUNNING
        assert await scene.storage.orders.answer({execution.run_id: Ended(Status.SUCCESS)}, at=scene.now) == []

    @pytest.mark.proves("D7")
    async def test_an_open_execution_continues_after_its_job_is_deleted(self, scene: Scene) -> None:
        await scene.job(ETL)
        execution = await opened(scene, a_run(job_id=ETL, max_concurrent=1))

        await scene.storage.definitions.delete_jobs([ETL], at=scene.now)

        assert await scene.status(execution.run_id) is Status.RUNNING
        assert await unsettled(scene) == []

    async def test_a_renamed_job_keeps_its_executions(self, scene: Scene) -> None:
        await scene.job(ETL)
        execution = await opened(scene)
        await settle(scene, final_settlement(execution))

        await scene.storage.definitions.rename_jobs({ETL: JobId("elt")}, at=scene.now)

        assert (await shown(scene, execution.run_id)).workflow_id == "elt"

    async def test_renaming_a_workflow_renames_step_runs_without_a_job_of_their_own(self, scene: Scene) -> None:
        await scene.job(ETL)
        await scene.job("etl.load")
        execution = await opened(scene, steps=("extract",))
        [own, other] = await scene.create(
            a_child(execution.run_id, "load"), a_run(job_id=JobId("etl.extract"), due_at=scene.after(MINUTE))
        )
        question = await child_of(scene, execution)
        await settle(scene, final_settlement(execution, steps=("extract",)))

        await scene.storage.definitions.rename_jobs({ETL: JobId("elt")}, at=scene.now)

        names = {one: (await scene.run(one)).job_id for one in (question, own, other)}
        assert list(names.values()) == ["elt.extract", "etl.load", "etl.extract"]
