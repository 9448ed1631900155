"""Executions of workflows: what a storage promises about opening and settling them."""

import asyncio
from collections.abc import Awaitable, Callable, Collection

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.lease import CancelAnswer
from foliot.domain.mark import MarkAnswer
from foliot.domain.outcome import Reason
from foliot.domain.run import Ended, Status
from foliot.domain.schedule import Overlap
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution, Note, StepFacts
from foliot.domain.workflow.facts import Facts
from foliot.domain.workflow.progress import StepState
from foliot.ports.runs import RunFilter
from foliot.ports.storage import Storage
from foliot.testing.builders import (
    LEASE,
    a_claim,
    a_job_spec,
    a_run,
    a_run_id,
    every,
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

Another = Callable[[], Awaitable[Storage]]


class OpenContract(Contract):
    """Every storage passes these, unchanged."""

    @pytest.mark.proves("L1")
    async def test_an_open_execution_runs_without_a_worker(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(a_run(job_id=ETL), worker=worker)

        assert await scene.storage.executions.open([an_opening(claim)], at=scene.now) == []

        run = await scene.run(claim.run_id)
        assert (run.status, run.started_at, run.finished_at, run.attempt) == (Status.RUNNING, scene.now, None, 1)
        renewal = await scene.storage.workers.renew(worker.id, [claim.token], LEASE, at=scene.now)
        assert renewal is not None
        assert renewal.gone == (claim.token,)
        scene.clock.advance(2 * LEASE)
        assert await scene.storage.workers.expired(10, at=scene.now) == []

    async def test_what_it_begins_with_is_kept(self, scene: Scene) -> None:
        jobs = {JobId("report"): a_job_spec(priority=3)}
        deadline = scene.after(MINUTE)

        execution = await opened(scene, version=7, params={"day": 1}, jobs=jobs, deadline=deadline)

        assert (execution.workflow_id, execution.version, execution.state) == (ETL, 7, 0)
        assert (execution.params, execution.jobs, execution.deadline) == ({"day": 1}, jobs, deadline)
        assert (execution.unresolved, execution.opened_at, execution.cancel_at) == (2, scene.now, None)
        assert await scene.items(EventKind.EXECUTIONS_OPENED) == [[execution.run_id, ETL, 7]]

    @pytest.mark.proves("R2-45", "D9")
    async def test_the_runs_of_its_first_steps_know_where_they_belong(self, scene: Scene) -> None:
        execution = await opened(scene)

        claim = await begun(scene, execution)

        assert (claim.root, claim.role, claim.item) == (execution.run_id, "step", "extract")
        run = await scene.run(claim.run_id)
        assert (run.root, run.role, run.item, run.status) == (execution.run_id, "step", "extract", Status.RUNNING)
        parent = await scene.run(execution.run_id)
        assert (parent.root, parent.role, parent.item) == (None, None, None)

    async def test_a_lost_part_still_knows_where_it_belongs(self, scene: Scene) -> None:
        execution = await opened(scene)
        worker = await scene.worker()
        await scene.claim(worker=worker, only=[await part_of(scene, execution)])

        scene.clock.advance(2 * LEASE)

        [claim] = await scene.storage.workers.expired(10, at=scene.now)
        assert (claim.root, claim.role, claim.item) == (execution.run_id, "step", "extract")

    @pytest.mark.proves("L2", "L5")
    async def test_a_stale_token_begins_nothing(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        await scene.finish(given_back(claim))
        opening = an_opening(claim)

        assert await scene.storage.executions.open([opening], at=scene.now) == [claim.token]

        assert await scene.storage.executions.get([claim.run_id]) == {}
        assert await scene.storage.runs.get([opening.runs["extract"].id]) == {}
        assert await scene.status(claim.run_id) is Status.QUEUED

    @pytest.mark.proves("L2")
    async def test_a_token_of_another_run_begins_nothing(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        other = a_claim(token=claim.token, job_id=ETL)

        assert await scene.storage.executions.open([an_opening(other)], at=scene.now) == [claim.token]

        assert await scene.status(claim.run_id) is Status.RUNNING
        assert await scene.storage.executions.active() == []

    @pytest.mark.proves("D6")
    async def test_opening_twice_is_opening_once(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        opening = an_opening(claim)

        for _ in range(2):
            assert await scene.storage.executions.open([opening], at=scene.now) == []

        assert len(await scene.items(EventKind.EXECUTIONS_OPENED)) == 1
        assert len(await scene.storage.runs.page(RunFilter(root=claim.run_id))) == 1

    async def test_one_that_cannot_be_stored_ends_its_run_and_no_other(self, scene: Scene) -> None:
        [taken] = await scene.create(a_run())
        good, bad = await scene.start(a_run(job_id=ETL)), await scene.start(a_run(job_id=ETL))
        openings = [
            an_opening(bad, runs={"extract": a_part(bad.run_id, "extract", id=taken)}),
            an_opening(good),
        ]

        assert await scene.storage.executions.open(openings, at=scene.now) == []

        run = await scene.run(bad.run_id)
        assert (run.status, run.reason) == (Status.FAILED, Reason.PAYLOAD)
        assert await scene.status(good.run_id) is Status.RUNNING
        assert list(await scene.storage.executions.get([good.run_id, bad.run_id])) == [good.run_id]

    async def test_a_cancel_that_came_before_is_not_forgotten(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        await scene.cancel(claim.run_id)
        asked_at = scene.now
        scene.clock.advance(SECOND)

        await scene.storage.executions.open([an_opening(claim)], at=scene.now)

        assert await scene.status(claim.run_id) is Status.CANCELLING
        [one] = await unsettled(scene)
        assert (one.execution.cancel_at, one.notes) == (asked_at, [Note(claim.run_id)])

    @pytest.mark.proves("D5")
    async def test_one_whose_steps_are_all_resolved_ends_at_once(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        ended = Ended(Status.SKIPPED)

        await scene.storage.executions.open([an_opening(claim, runs={}, ended=ended)], at=scene.now)

        run = await scene.run(claim.run_id)
        assert (run.status, run.started_at, run.finished_at) == (Status.SKIPPED, scene.now, scene.now)
        assert await scene.items(EventKind.EXECUTIONS_ENDED) == [[claim.run_id, ETL, Status.SKIPPED]]
        assert await scene.storage.executions.active() == []

    async def test_a_place_is_kept_until_the_execution_ends(self, scene: Scene) -> None:
        execution = await opened(scene, a_run(job_id=ETL, max_concurrent=1))
        [waiting] = await scene.create(a_run(job_id=ETL, max_concurrent=1))
        await scene.storage.runs.admit(100, at=scene.now)
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
        await scene.storage.executions.open([an_opening(claim)], at=scene.now)
        [second] = await scene.fire_after(MINUTE)
        execution = await stored(scene, first)
        assert execution.tick == claim.tick
        assert second not in await scene.ready()

        await settle(scene, the_end(execution))

        assert second in await scene.ready()

    async def test_a_tick_that_cancels_what_runs_asks_the_execution_to_end(self, scene: Scene) -> None:
        await scene.job(ETL)
        await scene.schedule(every(60, overlap=Overlap.CANCEL_RUNNING, job_id=ETL))
        [first] = await scene.fire_after(MINUTE)
        [claim] = await scene.claim(only=[first])
        await scene.storage.executions.open([an_opening(claim)], at=scene.now)

        await scene.fire_after(MINUTE)

        assert await scene.status(first) is Status.CANCELLING
        assert await noted(scene) == [(None, None)]


class NoteContract(Contract):
    """A part that has ended, by whatever verb, is noted with it. Every storage passes these, unchanged."""

    @pytest.mark.proves("D2", "D6")
    async def test_a_finish_is_noted_with_what_the_run_left(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await begun(scene, execution)

        await scene.finish(succeeded(claim, b'{"rows":3}'))

        [one] = await unsettled(scene)
        assert one.now == scene.now
        assert one.execution == execution
        facts = Facts(exit_code=0, output=b'{"rows":3}')
        assert one.notes == [Note(claim.run_id, "extract", Status.SUCCESS, facts)]

    async def test_plain_successes_and_failures_are_noted(self, scene: Scene) -> None:
        names = ("a", "b")
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_part(claim.run_id, name) for name in names}
        await scene.storage.executions.open([an_opening(claim, steps=names, runs=runs)], at=scene.now)
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

        await scene.storage.runs.mark({await part_of(scene, execution): a_run_id()}, at=scene.now)

        assert await noted(scene) == [("extract", Status.SUCCESS)]

    async def test_an_answered_part_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)
        part = await part_of(scene, execution)

        await scene.storage.runs.answer({part: Ended(Status.FAILED, Reason.REJECTED)}, at=scene.now)

        assert await noted(scene) == [("extract", Status.FAILED)]

    async def test_a_part_whose_job_is_deleted_is_noted(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.job("etl.extract")

        await scene.storage.jobs.delete([JobId("etl.extract")], at=scene.now)

        assert await noted(scene) == [("extract", Status.CANCELLED)]
        assert await scene.status(execution.run_id) is Status.RUNNING

    async def test_a_part_that_is_an_execution_itself_is_noted_when_it_ends(self, scene: Scene) -> None:
        outer = await opened(scene)
        claim = await begun(scene, outer)
        await scene.storage.executions.open([an_opening(claim, steps=("inner",))], at=scene.now)

        await settle(scene, the_end(await stored(scene, claim.run_id), steps=("inner",)))

        assert [(one.execution.run_id, one.notes[0].step) for one in await unsettled(scene)] == [
            (outer.run_id, "extract")
        ]

    async def test_executions_are_told_apart_and_no_more_than_asked_for_come(self, scene: Scene) -> None:
        executions = [await opened(scene) for _ in range(3)]
        for execution in executions:
            await scene.finish(succeeded(await begun(scene, execution)))

        found = await unsettled(scene)

        assert [one.execution.run_id for one in found] == [execution.run_id for execution in executions]
        assert [len(one.notes) for one in found] == [1, 1, 1]
        assert len(await unsettled(scene, limit=2)) == 2

    async def test_an_overdue_execution_is_unsettled_until_it_is_ending(self, scene: Scene) -> None:
        execution = await opened(scene, deadline=scene.after(MINUTE))
        assert await unsettled(scene) == []
        scene.clock.advance(MINUTE)

        [one] = await unsettled(scene)
        assert (one.execution, one.notes) == (execution, [])
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


class SettlementContract(Contract):
    """Every storage passes these, unchanged."""

    @pytest.mark.proves("D2", "D6")
    async def test_what_follows_is_saved_as_a_whole(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await begun(scene, execution)
        await scene.finish(succeeded(claim))
        load = a_part(execution.run_id, "load")
        changed = {
            "extract": StepState(0, result=Result.SUCCESS, run_id=claim.run_id),
            "load": StepState(0, run_id=load.id),
        }

        settlement = a_settlement(execution, notes=[claim.run_id], changed=changed, runs={"load": load})
        assert await settle(scene, settlement) == [execution.run_id]

        assert await scene.storage.executions.states(execution.run_id) == changed
        after = await stored(scene, execution.run_id)
        assert (after.state, after.unresolved) == (execution.state + 1, 1)
        assert await unsettled(scene) == []
        assert load.id in await scene.ready()
        assert [load.id, load.job_id] in await scene.items(EventKind.RUNS_CREATED)

    @pytest.mark.proves("D6")
    async def test_what_was_decided_on_another_state_changes_nothing(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await begun(scene, execution)
        await settle(scene, a_settlement(execution))
        await scene.finish(succeeded(claim))
        before = await scene.storage.executions.states(execution.run_id)

        late = the_end(execution)._replace(notes=(claim.run_id,), runs={"load": a_part(execution.run_id, "load")})

        assert await settle(scene, late) == []
        assert await scene.storage.executions.states(execution.run_id) == before
        assert await noted(scene) == [("extract", Status.SUCCESS)]
        assert len(await scene.storage.runs.page(RunFilter(root=execution.run_id))) == 1
        assert await scene.items(EventKind.EXECUTIONS_ENDED) == []

    @pytest.mark.proves("D5", "D6")
    async def test_of_many_that_settle_at_once_one_wins(self, scene: Scene, another: Another) -> None:
        execution = await opened(scene)
        scenes = [scene, Scene(await another(), scene.clock), Scene(await another(), scene.clock)]
        settlements = [a_settlement(execution, runs={"load": a_part(execution.run_id, "load")}) for _ in scenes]

        saved = await asyncio.gather(*(settle(one, own) for one, own in zip(scenes, settlements, strict=True)))

        assert sorted(map(len, saved)) == [0, 0, 1]
        parts = await scene.storage.runs.page(RunFilter(root=execution.run_id))
        [winner] = [own.runs["load"].id for own, ids in zip(settlements, saved, strict=True) if ids]
        assert {run.id for run in parts if run.item == "load"} == {winner}

    async def test_of_two_in_one_batch_the_first_counts(self, scene: Scene) -> None:
        execution = await opened(scene)
        first, second = (a_part(execution.run_id, "load") for _ in range(2))
        settlements = [a_settlement(execution, runs={"load": run}) for run in (first, second)]

        assert await settle(scene, *settlements) == [execution.run_id]

        assert list(await scene.storage.runs.get([first.id, second.id])) == [first.id]

    async def test_a_note_that_came_later_stays(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_part(claim.run_id, name) for name in ("a", "b")}
        await scene.storage.executions.open([an_opening(claim, steps=("a", "b"), runs=runs)], at=scene.now)
        execution = await stored(scene, claim.run_id)
        first, second = await scene.claim()
        await scene.finish(succeeded(first), failed(second))

        changed = {"a": StepState(0, result=Result.SUCCESS, run_id=first.run_id)}
        await settle(scene, a_settlement(execution, notes=[first.run_id], changed=changed))

        assert await noted(scene) == [("b", Status.FAILED)]

    async def test_one_that_cannot_be_stored_fails_no_other(self, scene: Scene) -> None:
        good, bad = await opened(scene), await opened(scene)
        [taken] = await scene.create(a_run())
        broken = the_end(bad)._replace(runs={"load": a_part(bad.run_id, "load", id=taken)}, ended=None)

        assert await settle(scene, broken, the_end(good)) == [good.run_id]

        assert await stored(scene, bad.run_id) == bad
        assert await scene.statuses(good.run_id, bad.run_id) == [Status.SUCCESS, Status.RUNNING]

    @pytest.mark.proves("R2-44", "D5", "S4")
    async def test_the_end_is_told_once_and_the_run_is_over(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.finish(succeeded(await begun(scene, execution)))
        scene.clock.advance(MINUTE)
        ended = Ended(Status.FAILED, Reason.STEP_FAILED, "failed: load", output=b"[1]")

        assert await settle(scene, the_end(execution, ended)) == [execution.run_id]
        assert await settle(scene, the_end(execution, ended)) == []

        run = await scene.run(execution.run_id)
        assert (run.status, run.reason, run.error, run.output) == (Status.FAILED, "step_failed", "failed: load", [1])
        assert (run.finished_at, run.attempt) == (scene.now, 1)
        assert await scene.items(EventKind.EXECUTIONS_ENDED) == [[execution.run_id, ETL, Status.FAILED]]
        assert [execution.run_id, Status.FAILED, 1] in await scene.items(EventKind.RUNS_ENDED)
        assert [record.number for record in await scene.storage.runs.attempts(execution.run_id)] == [1]

    async def test_an_execution_that_is_over_can_still_be_looked_at(self, scene: Scene) -> None:
        execution = await opened(scene)

        await settle(scene, the_end(execution))

        assert (await stored(scene, execution.run_id)).unresolved == 0
        steps = await scene.storage.executions.steps(execution.run_id)
        assert [(step.name, step.state.result) for step in steps] == [("extract", "success"), ("load", "success")]

    async def test_a_cancelled_part_ends_at_once_or_is_asked_to(self, scene: Scene) -> None:
        names = ("waits", "runs")
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_part(claim.run_id, name) for name in names}
        await scene.storage.executions.open([an_opening(claim, steps=names, runs=runs)], at=scene.now)
        await scene.claim(only=[runs["runs"].id])
        execution = await stored(scene, claim.run_id)

        await settle(scene, a_settlement(execution, cancels=[run.id for run in runs.values()]))

        ids = [runs[name].id for name in names]
        assert await scene.statuses(*ids) == [Status.CANCELLED, Status.CANCELLING]
        assert await noted(scene) == [("waits", Status.CANCELLED)]

    @pytest.mark.proves("S5")
    async def test_a_cancel_is_noted_and_then_pending(self, scene: Scene) -> None:
        execution = await opened(scene)

        assert await scene.cancel(execution.run_id) == [CancelAnswer.REQUESTED]
        assert await scene.cancel(execution.run_id) == [CancelAnswer.PENDING]

        assert await scene.status(execution.run_id) is Status.CANCELLING
        [one] = await unsettled(scene)
        assert (one.execution.cancel_at, one.notes) == (scene.now, [Note(execution.run_id)])
        assert await scene.items(EventKind.RUNS_CANCEL_REQUESTED) == [[execution.run_id]]

    @pytest.mark.proves("S5")
    async def test_a_cancel_goes_before_what_was_decided_without_it(self, scene: Scene) -> None:
        execution = await opened(scene)
        await scene.cancel(execution.run_id)

        assert await settle(scene, the_end(execution)) == []
        [one] = await unsettled(scene)
        await settle(scene, the_end(one.execution, Ended(Status.CANCELLED, Reason.CANCELLED)))

        assert await scene.status(execution.run_id) is Status.CANCELLED
        assert await scene.cancel(execution.run_id) == [CancelAnswer.TERMINAL]
        assert await unsettled(scene) == []

    async def test_an_execution_under_way_is_not_marked(self, scene: Scene) -> None:
        execution = await opened(scene)

        answers = await scene.storage.runs.mark({execution.run_id: a_run_id()}, at=scene.now)

        assert answers[execution.run_id].answer is MarkAnswer.RUNNING
        assert await scene.storage.runs.answer({execution.run_id: Ended(Status.SUCCESS)}, at=scene.now) == []

    @pytest.mark.proves("D7")
    async def test_deleting_its_job_lets_an_execution_go_on(self, scene: Scene) -> None:
        await scene.job(ETL)
        execution = await opened(scene, a_run(job_id=ETL, max_concurrent=1))

        await scene.storage.jobs.delete([ETL], at=scene.now)

        assert await scene.status(execution.run_id) is Status.RUNNING
        assert await unsettled(scene) == []

    async def test_what_was_decided_under_a_former_name_is_not_saved(self, scene: Scene) -> None:
        await scene.job(ETL)
        execution, claim = await opened(scene), await scene.start(a_run(job_id=ETL))
        opening, settlement = (
            an_opening(claim),
            a_settlement(execution, runs={"load": a_part(execution.run_id, "load")}),
        )

        await scene.storage.jobs.rename({ETL: JobId("elt")}, at=scene.now)

        assert await scene.storage.executions.open([opening], at=scene.now) == [claim.token]
        assert await settle(scene, settlement) == []
        assert await scene.storage.runs.page(RunFilter(job_id=JobId("etl.load"))) == []
        renamed = an_opening(claim, workflow_id=JobId("elt"))
        assert await scene.storage.executions.open([renamed], at=scene.now) == []
        assert await settle(scene, a_settlement(await stored(scene, execution.run_id))) == [execution.run_id]

    async def test_a_renamed_job_keeps_its_executions(self, scene: Scene) -> None:
        await scene.job(ETL)
        execution = await opened(scene)

        await scene.storage.jobs.rename({ETL: JobId("elt")}, at=scene.now)

        assert (await stored(scene, execution.run_id)).workflow_id == "elt"

    async def test_questions_of_a_renamed_workflow_come_along(self, scene: Scene) -> None:
        await scene.job(ETL)
        await scene.job("etl.load")
        execution = await opened(scene, steps=("extract",))
        [own, other] = await scene.create(
            a_part(execution.run_id, "load"), a_run(job_id=JobId("etl.extract"), due_at=scene.after(MINUTE))
        )

        await scene.storage.jobs.rename({ETL: JobId("elt")}, at=scene.now)

        names = {one: (await scene.run(one)).job_id for one in (await part_of(scene, execution), own, other)}
        assert list(names.values()) == ["elt.extract", "etl.load", "etl.extract"]


class ExecutionLookContract(Contract):
    """Looking at executions. Every storage passes these, unchanged."""

    async def test_states_are_read_by_name(self, scene: Scene) -> None:
        execution = await opened(scene, steps=tuple("abcd"))
        part = await part_of(scene, execution, "a")

        states = await scene.storage.executions.states(execution.run_id, ["a", "c", "x"])

        assert states == {"a": StepState(0, run_id=part), "c": StepState(1)}
        assert list(await scene.storage.executions.states(execution.run_id)) == list("abcd")
        assert await scene.storage.executions.states(a_run_id()) == {}

    async def test_a_state_comes_back_as_it_was_saved(self, scene: Scene) -> None:
        execution = await opened(scene)
        state = StepState(3, ("a", "b"), Result.SKIPPED, a_run_id(), "paused")

        await settle(scene, a_settlement(execution, changed={"load": state}))

        assert await scene.storage.executions.states(execution.run_id, ["load"]) == {"load": state}

    async def test_facts_tell_what_the_runs_of_steps_left(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await begun(scene, execution)
        await scene.finish(succeeded(claim, b'"done"'))

        facts = await scene.storage.executions.facts(execution.run_id, ["extract", "load", "x"])

        assert facts == {
            "extract": StepFacts(None, claim.run_id, Facts(exit_code=0, output=b'"done"')),
            "load": StepFacts(None, None, Facts()),
        }

    async def test_steps_are_shown_as_they_were_written_with_the_status_of_their_runs(self, scene: Scene) -> None:
        execution = await opened(scene, steps=("zero", "one"))
        await begun(scene, execution, "zero")

        steps = await scene.storage.executions.steps(execution.run_id)

        assert [(step.name, step.status) for step in steps] == [("zero", Status.RUNNING), ("one", None)]

    async def test_active_are_those_not_over_oldest_first(self, scene: Scene) -> None:
        first, second, third = [await opened(scene) for _ in range(3)]
        other = await opened(scene, a_run(job_id=JobId("other")))
        await settle(scene, the_end(second))

        assert ids(await scene.storage.executions.active()) == ids([first, third, other])
        assert ids(await scene.storage.executions.active(workflow_id=ETL)) == ids([first, third])
        assert ids(await scene.storage.executions.active(limit=1)) == ids([first])

    async def test_a_job_is_busy_while_a_run_holds_or_awaits_its_place(self, scene: Scene) -> None:
        running = await scene.start(a_run(job_id=JobId("a"), max_concurrent=1))
        await scene.start(a_run(job_id=JobId("b")))
        asked: Collection[JobId] = [JobId("a"), JobId("b"), JobId("c")]
        assert await scene.storage.executions.busy(asked) == {JobId("a")}

        await scene.finish(succeeded(running))

        assert await scene.storage.executions.busy(asked) == set()

    async def test_the_parts_of_a_run_are_listed_newest_first(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_part(claim.run_id, name) for name in "abc"}
        await scene.storage.executions.open([an_opening(claim, steps=tuple("abc"), runs=runs)], at=scene.now)
        await opened(scene)
        await scene.finish(failed((await scene.claim(only=[runs["a"].id]))[0]))
        await scene.claim(only=[runs["b"].id])

        parts = await scene.storage.runs.page(RunFilter(root=claim.run_id))

        assert [run.item for run in parts] == ["c", "b", "a"]
        for status, item in ((Status.QUEUED, "c"), (Status.RUNNING, "b"), (Status.FAILED, "a")):
            found = await scene.storage.runs.page(RunFilter(root=claim.run_id, status=status))
            assert [run.item for run in found] == [item]
        page = await scene.storage.runs.page(RunFilter(root=claim.run_id, before=runs["c"].id, limit=1))
        assert [run.item for run in page] == ["b"]

    async def test_listings_and_counts_know_executions_under_way(self, scene: Scene) -> None:
        running, cancelling = await opened(scene), await opened(scene)
        await scene.cancel(cancelling.run_id)

        async def listed(status: Status) -> list[RunId]:
            return [run.id for run in await scene.storage.runs.page(RunFilter(status=status, job_id=ETL))]

        assert await listed(Status.RUNNING) == [running.run_id]
        assert await listed(Status.CANCELLING) == [cancelling.run_id]
        assert (await scene.storage.runs.depth(10)).running == 2
        assert await listed(Status.QUEUED) == await listed(Status.SCHEDULED) == []


def ids(executions: Collection[Execution]) -> list[RunId]:
    return [execution.run_id for execution in executions]
