"""What is saved when steps have ended: runs, skips, the end."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import msgspec
import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import HOUR, LATEST, MINUTE, Instant, Millis, later
from foliot.domain.job import JobSpec, Options
from foliot.domain.outcome import Reason
from foliot.domain.run import Ended, NewRun, Status
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution, Note, Settlement, StepFacts
from foliot.domain.workflow.facts import Facts
from foliot.domain.workflow.passage import Passage, Plan, Surroundings
from foliot.domain.workflow.progress import StepState, advance, answered, begin, first_states
from foliot.domain.workflow.spec import Approval, Edge, Step, StepOverlap, WorkflowSpec

NOW = Instant(1_800_000_000_000)
QUIET = Surroundings()


def shell(name: str, *parents: str, **fields: Any) -> Step:
    definition = JobSpec(kind="shell", spec={"command": "true"}, options=Options(queue="heavy"))
    return Step(name=name, definition=definition, after=tuple(Edge(parent=parent) for parent in parents), **fields)


class Stage:
    """An execution in memory: what the storage would keep, led by hand."""

    def __init__(self, *steps: Step, params: Mapping[str, Any] | None = None, **fields: Any) -> None:
        self.plan = Plan.of(WorkflowSpec(steps=steps, params=dict(params or {}), **fields))
        self.states: dict[str, StepState] = first_states(self.plan.graph)
        self.facts: dict[str, Facts] = {}
        self.runs: dict[str, NewRun] = {}
        self.execution = Execution(
            RunId("x"), "etl", 3, 0, len(steps), self.plan.spec.params, {JobId("report"): _REPORT}, None, NOW
        )
        self._numbers = count(1)
        self.around = QUIET
        self.ended: Ended | None = None

    def passage(self, now: Instant = NOW) -> Passage:
        return Passage(self.plan, self.execution, lambda: RunId(f"r{next(self._numbers)}"), now)

    def begin(self) -> "Stage":
        passage = self.passage()
        news = passage.follow(begin(self.plan.graph, self.states), self.around)
        return self._finish(passage, news or passage.start(self._known(passage)), [])

    def end(self, step: str, status: Status = Status.SUCCESS, *, output: Any = None, now: Instant = NOW) -> "Stage":
        self.facts[step] = Facts(output=None if output is None else msgspec.json.encode(output))
        return self.settle([Note(RunId("n"), step, status, self.facts[step])], now)

    def settle(self, notes: list[Note], now: Instant = NOW) -> "Stage":
        passage = self.passage(now)
        news = passage.heard(notes)
        if passage.must_end:
            news = {**passage.end_early(self.states, news), **news}
        return self._finish(passage, news, notes)

    def _finish(self, passage: Passage, news: Mapping[str, Any], notes: list[Note]) -> "Stage":
        while news:
            states = self.states | passage.changed
            followed = answered(advance(self.plan.graph, news), states)
            news = passage.follow(followed, self.around) or passage.start(self._known(passage))
        self.saved: Settlement = passage.settlement(notes, None if passage.unresolved else passage.ending(self.states))
        self.states |= self.saved.changed
        self.runs |= self.saved.runs
        unresolved = self.execution.unresolved - self.saved.newly_resolved
        self.execution = self.saved.execution._replace(unresolved=unresolved)
        self.ended = self.saved.ended
        return self

    def _known(self, passage: Passage) -> dict[str, StepFacts]:
        return {
            name: StepFacts(self.states[name].result, self.states[name].run_id, self.facts[name])
            for name in passage.wanted_facts
            if name in self.facts
        }

    @property
    def results(self) -> dict[str, Result | None]:
        return {name: state.result for name, state in self.states.items()}


_REPORT = JobSpec(kind="shell", spec={"command": "report"})


def test_a_step_runs_as_a_part_of_its_execution() -> None:
    stage = Stage(shell("extract")).begin()

    run = stage.runs["extract"]
    assert (run.job_id, run.root, run.role, run.item) == ("etl.extract", "x", "step", "extract")
    assert (run.due_at, run.options.queue, run.trigger) == (NOW, "heavy", "workflow")
    assert stage.states["extract"].run_id == run.id


def test_a_step_that_names_a_job_runs_under_the_name_of_that_job() -> None:
    stage = Stage(Step(name="load", job=JobId("report"))).begin()

    assert stage.runs["load"].job_id == "report"


def test_an_execution_ends_when_every_step_has_its_result() -> None:
    stage = Stage(shell("a"), shell("b", "a")).begin().end("a")
    assert stage.ended is None

    stage.end("b")

    assert stage.ended == Ended(Status.SUCCESS)
    assert stage.execution.unresolved == 0


@pytest.mark.parametrize(
    ("counts_as", "result", "status"),
    [("success", Result.SUCCESS, Status.SUCCESS), ("failed", Result.FAILURE, Status.FAILED)],
)
def test_a_workflow_says_what_a_step_counts_as_that_succeeded_in_part(
    counts_as: str, result: Result, status: Status
) -> None:
    stage = Stage(shell("a"), partial_counts_as=counts_as).begin().end("a", Status.PARTIAL)

    assert stage.results == {"a": result}
    assert stage.ended is not None
    assert stage.ended.status is status


def test_a_failed_execution_names_the_steps_that_failed() -> None:
    stage = Stage(shell("a"), shell("b", "a")).begin().end("a", Status.TIMEOUT)

    assert stage.ended == Ended(Status.FAILED, Reason.STEP_FAILED, "failed: a")
    assert stage.states["b"].blockers == ("a",)


@pytest.mark.proves("R2-53", "R2-55")
@pytest.mark.parametrize(
    ("around", "reason"),
    [
        (Surroundings(paused={"b"}), "paused"),
        (Surroundings(gone={JobId("report")}), "removed"),
        (Surroundings(disabled={JobId("report")}), "disabled"),
        (Surroundings(busy={JobId("report")}), "overlap"),
    ],
)
def test_a_step_that_cannot_start_is_skipped_and_its_children_are_asked(around: Surroundings, reason: str) -> None:
    held = Step(name="b", job=JobId("report"), after=(Edge(parent="a"),), overlap=StepOverlap.SKIP)
    stage = Stage(shell("a"), held, shell("c", "b")).begin()
    stage.around = around

    stage.end("a")

    assert stage.results == {"a": Result.SUCCESS, "b": Result.SKIPPED, "c": Result.SKIPPED}
    assert stage.states["b"].reason == reason
    assert stage.ended == Ended(Status.SUCCESS)


@pytest.mark.proves("D7")
def test_a_job_that_came_after_the_execution_had_begun_is_none_of_its_steps() -> None:
    later_job = Step(name="b", job=JobId("came.later"), after=(Edge(parent="a"),))
    stage = Stage(shell("a"), later_job).begin()

    stage.end("a")

    assert (stage.states["b"].result, stage.states["b"].reason) == (Result.SKIPPED, "removed")


def test_a_first_step_that_cannot_start_is_skipped_too() -> None:
    stage = Stage(shell("a"), shell("b", "a"))
    stage.around = Surroundings(paused={"a"})

    assert stage.begin().ended == Ended(Status.SKIPPED)


def test_overlap_queue_lets_the_step_wait_for_its_place() -> None:
    stage = Stage(shell("a", overlap=StepOverlap.QUEUE)).begin()

    assert stage.runs["a"].options.max_concurrent == 1


def test_templates_bring_data_from_parameters_and_earlier_steps() -> None:
    load = shell(
        "load",
        "extract",
        payload={"path": "{{ steps.extract.output.path }}", "day": "{{ params.day }}"},
        spec={"env": {"SOURCE": "from {{ steps.extract.output.path }} by {{ execution.workflow }}"}},
    )
    stage = Stage(shell("extract"), load, params={"day": 7}).begin()

    stage.end("extract", output={"path": "/a b; rm"})

    run = stage.runs["load"]
    assert msgspec.json.decode(run.payload or b"") == {"path": "/a b; rm", "day": 7}
    assert msgspec.json.decode(run.overrides or b"") == {"spec": {"env": {"SOURCE": "from /a b; rm by etl"}}}


def test_what_can_only_be_text_is_text() -> None:
    load = shell(
        "load", "extract", spec={"env": {"ROWS": "{{ steps.extract.output.rows }}"}, "stdin": "{{ params.day }}"}
    )
    stage = Stage(shell("extract"), load, params={"day": 7}).begin()

    stage.end("extract", output={"rows": [1, 2]})

    assert msgspec.json.decode(stage.runs["load"].overrides or b"") == {
        "spec": {"env": {"ROWS": "[1,2]"}, "stdin": "7"}
    }


def test_a_template_knows_the_result_of_the_step_that_has_just_ended() -> None:
    seen = shell("seen", payload="{{ steps.a.result }}")
    seen = msgspec.structs.replace(seen, after=(Edge(parent="a", when=frozenset({"complete"})),))  # type: ignore[arg-type]  # a word is its condition
    stage = Stage(shell("a"), seen).begin()

    stage.end("a", Status.FAILED)

    assert stage.runs["seen"].payload == b'"failure"'


def test_a_template_that_leads_nowhere_fails_its_step_and_the_others_go_on() -> None:
    stage = Stage(shell("a"), shell("b", "a", payload="{{ steps.a.output.path }}"), shell("c", "a")).begin()

    stage.end("a", output={})

    assert stage.results["b"] is Result.FAILURE
    assert "leads to nothing" in stage.states["b"].reason
    assert "c" in stage.runs


@pytest.mark.parametrize(("timeout", "due_at"), [(None, LATEST), (HOUR, later(NOW, HOUR))])
def test_an_approval_is_a_run_that_is_due_when_its_time_is_up(timeout: Millis | None, due_at: Instant) -> None:
    stage = Stage(Step(name="ask", approval=Approval(timeout=timeout))).begin()

    assert stage.runs["ask"].due_at == due_at


def test_cancelling_ends_what_runs_and_skips_what_has_not_begun() -> None:
    stage = Stage(shell("a"), shell("b", "a"), shell("z", is_final=True)).begin()
    stage.execution = stage.execution._replace(cancel_at=NOW)

    stage.settle([Note(RunId("x"))])

    assert stage.saved.cancels == (stage.states["a"].run_id,)
    assert stage.results == {"a": None, "b": Result.SKIPPED, "z": Result.SKIPPED}
    assert stage.ended is None
    assert stage.end("a", Status.CANCELLED).ended == Ended(Status.CANCELLED, Reason.CANCELLED)


def test_the_final_step_runs_after_a_cancel_where_that_is_asked_for() -> None:
    stage = Stage(shell("a"), shell("b", "a"), shell("z", is_final=True), final_on_cancel=True).begin()
    stage.execution = stage.execution._replace(cancel_at=NOW)
    stage.settle([Note(RunId("x"))])

    stage.end("a", Status.CANCELLED)

    assert "z" in stage.runs
    assert stage.end("z").ended == Ended(Status.CANCELLED, Reason.CANCELLED)


def test_a_step_on_skipped_does_not_fire_because_of_a_cancel() -> None:
    after_skip = Step(name="c", definition=_REPORT, after=(Edge(parent="b", when=frozenset({"skipped"})),))  # type: ignore[arg-type]  # a word is its condition
    stage = Stage(shell("a"), shell("b", "a"), after_skip).begin()
    stage.execution = stage.execution._replace(cancel_at=NOW)

    stage.settle([Note(RunId("x"))])

    assert stage.saved.runs == {}
    assert stage.results["c"] is Result.SKIPPED


def test_an_execution_past_its_deadline_is_cut_short() -> None:
    stage = Stage(shell("a"), shell("b", "a")).begin()
    stage.execution = stage.execution._replace(deadline=later(NOW, MINUTE))

    stage.settle([], later(NOW, MINUTE))
    assert stage.saved.cancels == (stage.states["a"].run_id,)
    assert (stage.states["b"].result, stage.states["b"].reason) == (Result.SKIPPED, "timeout")

    stage.end("a", Status.CANCELLED, now=later(NOW, HOUR))
    assert stage.ended is not None
    assert stage.ended.status is Status.TIMEOUT


def test_an_execution_that_ends_just_after_its_deadline_keeps_its_result() -> None:
    stage = Stage(shell("a")).begin()
    stage.execution = stage.execution._replace(deadline=later(NOW, MINUTE))

    assert stage.end("a", now=later(NOW, HOUR)).ended == Ended(Status.SUCCESS)


def test_notes_that_were_read_go_and_others_stay() -> None:
    stage = Stage(shell("a")).begin()

    stage.settle([Note(RunId("n1"), "a", Status.SUCCESS)])

    assert stage.saved.notes == (RunId("n1"),)
