"""The settlement after steps have ended: new runs, skipped steps, the end."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

import msgspec
import pytest

from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import HOUR, LATEST, MINUTE, Instant, Millis, later
from foliot.domain.job.definition import Definition
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.kind import NOTHING_LOADED, Loaded, Start, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Note, Notes
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.kind import WorkflowKind
from foliot.domain.workflow.output import RunOutput, StepOutput
from foliot.domain.workflow.plan import Plan
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import Approval, Edge, Step, StepOverlap, WorkflowSpec
from foliot.testing.builders import REPORT, a_claim

T = TypeVar("T", bound=Opening | Settlement)

NOW = Instant(1_800_000_000_000)
KIND = WorkflowKind()


def shell(name: str, *parents: str, **fields: Any) -> Step:
    definition = JobSpec(kind="shell", spec={"command": "true"}, options=Options(queue="heavy"))
    return Step(name=name, definition=definition, after=tuple(Edge(parent=parent) for parent in parents), **fields)


class Stage:
    """An execution in memory, in place of a storage."""

    def __init__(self, *steps: Step, params: Mapping[str, Any] | None = None, **fields: Any) -> None:
        self.plan = Plan.of(WorkflowSpec(steps=steps, params=dict(params or {}), **fields))
        self.states: dict[str, StepState] = {}
        self.run_outputs: dict[str, RunOutput] = {}
        self.runs: dict[str, NewRun] = {}
        self.jobs = {REPORT: _REPORT}
        self.paused: set[str] = set()
        self.busy: set[JobId] = set()
        self.ended: Ended | None = None
        self._ids = IdSource(count(1).__next__)

    def begin(self) -> "Stage":
        claim = a_claim(run_id=RunId("x"), job_id=JobId("etl"), started_at=NOW)
        start = Start(claim, Definition(id=claim.definition_id, kind=KIND.name, spec={"version": 3}))
        return self._save(self._answer(lambda loaded: KIND.begin(start, loaded, NOW, self._ids)))

    def end(self, step: str, status: Status = Status.SUCCESS, *, output: Any = None, now: Instant = NOW) -> "Stage":
        self.run_outputs[step] = RunOutput(output=None if output is None else msgspec.json.encode(output))
        return self.settle([Note(RunId("n"), step, status)], now)

    def settle(self, notes: Sequence[Note], now: Instant = NOW) -> "Stage":
        self.saved = self._answer(lambda loaded: KIND.decide(self.tree, Notes(notes), loaded, now, self._ids))
        return self._save(self.saved)

    def _answer(self, ask: Callable[[Loaded], T | Wanted]) -> T:
        loaded = NOTHING_LOADED
        while isinstance(answer := ask(loaded), Wanted):
            loaded = loaded.merged(self._load(answer))
        return answer

    def _load(self, wanted: Wanted) -> Loaded:
        return Loaded(
            states={name: self.states[name] for name in (self.states if wanted.all_states else wanted.states)},
            has_all_states=wanted.all_states,
            outputs={name: self._output(name) for name in wanted.outputs},
            jobs={name: self.jobs.get(name) for name in wanted.jobs},
            paused=self.paused if wanted.paused_in else None,
            busy={name: name in self.busy for name in wanted.busy},
            has_overrides=wanted.overrides,
            definitions={wanted.definition: self.plan} if wanted.definition else {},
        )

    def _output(self, name: str) -> StepOutput:
        state = self.states[name]
        return StepOutput(state.result, state.run_id, self.run_outputs.get(name, RunOutput()))

    def _save(self, saved: Opening | Settlement) -> "Stage":
        self.tree = saved.tree
        self.states |= saved.steps
        self.runs |= {run.child_key or "": run for run in saved.runs}
        self.ended = saved.ended
        return self

    @property
    def results(self) -> dict[str, Result | None]:
        return {name: state.result for name, state in self.states.items()}


_REPORT = JobSpec(kind="shell", spec={"command": "report"})


def test_a_step_runs_as_a_part_of_its_execution() -> None:
    stage = Stage(shell("extract")).begin()

    run = stage.runs["extract"]
    assert (run.job_id, run.parent_id, run.root_id, run.child_key) == ("etl.extract", "x", "x", "extract")
    assert (run.due_at, run.options.queue, run.trigger) == (NOW, "heavy", "workflow")
    assert stage.states["extract"].run_id == run.id


def test_a_step_that_names_a_job_runs_under_the_name_of_that_job() -> None:
    stage = Stage(Step(name="load", job=REPORT)).begin()

    assert stage.runs["load"].job_id == "report"


def test_an_execution_ends_when_every_step_has_its_result() -> None:
    stage = Stage(shell("a"), shell("b", "a")).begin().end("a")
    assert stage.ended is None

    stage.end("b")

    assert stage.ended == Ended(Status.SUCCESS)
    assert stage.tree.open == 0


@pytest.mark.parametrize(
    ("counts_as", "result", "status"),
    [("success", Result.SUCCESS, Status.SUCCESS), ("failed", Result.FAILURE, Status.FAILED)],
)
def test_partial_counts_as_decides_about_a_partial_step(counts_as: str, result: Result, status: Status) -> None:
    stage = Stage(shell("a"), partial_counts_as=counts_as).begin().end("a", Status.PARTIAL)

    assert stage.results == {"a": result}
    assert stage.ended is not None
    assert stage.ended.status is status


def test_a_failed_execution_names_the_steps_that_failed() -> None:
    stage = Stage(shell("a"), shell("b", "a")).begin().end("a", Status.TIMEOUT)

    assert stage.ended == Ended(Status.FAILED, Reason.STEP_FAILED, "step a did not succeed")
    assert stage.states["b"].blockers == ("a",)


@pytest.mark.proves("R2-53", "R2-55")
@pytest.mark.parametrize(
    ("blocked", "reason"),
    [
        ({"paused": {"b"}}, "paused"),
        ({"jobs": {}}, "removed"),
        ({"jobs": {REPORT: msgspec.structs.replace(_REPORT, enabled=False)}}, "disabled"),
        ({"busy": {REPORT}}, "overlap"),
    ],
)
def test_a_step_that_cannot_start_is_skipped_and_its_children_resolve(blocked: dict[str, Any], reason: str) -> None:
    held = Step(name="b", job=REPORT, after=(Edge(parent="a"),), overlap=StepOverlap.SKIP)
    stage = Stage(shell("a"), held, shell("c", "b")).begin()
    vars(stage).update(blocked)

    stage.end("a")

    assert stage.results == {"a": Result.SUCCESS, "b": Result.SKIPPED, "c": Result.SKIPPED}
    assert stage.states["b"].reason == reason
    assert stage.ended == Ended(Status.SUCCESS)


@pytest.mark.proves("D7")
def test_a_job_created_after_the_execution_was_opened_is_not_run() -> None:
    later_job = Step(name="b", job=JobId("came.later"), after=(Edge(parent="a"),))
    stage = Stage(shell("a"), later_job).begin()
    stage.jobs[JobId("came.later")] = _REPORT

    stage.end("a")

    assert (stage.states["b"].result, stage.states["b"].reason) == (Result.SKIPPED, "removed")


def test_a_first_step_that_cannot_start_is_skipped_too() -> None:
    stage = Stage(shell("a"), shell("b", "a"))
    stage.paused = {"a"}

    assert stage.begin().ended == Ended(Status.SKIPPED)


def test_overlap_queue_limits_the_step_to_one_concurrent_run() -> None:
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


def test_templates_in_text_fields_become_text() -> None:
    load = shell(
        "load", "extract", spec={"env": {"ROWS": "{{ steps.extract.output.rows }}"}, "stdin": "{{ params.day }}"}
    )
    stage = Stage(shell("extract"), load, params={"day": 7}).begin()

    stage.end("extract", output={"rows": [1, 2]})

    assert msgspec.json.decode(stage.runs["load"].overrides or b"") == {
        "spec": {"env": {"ROWS": "[1,2]"}, "stdin": "7"}
    }


def test_a_template_has_the_result_of_a_step_that_has_just_ended() -> None:
    seen = shell("seen", payload="{{ steps.a.result }}")
    seen = msgspec.structs.replace(seen, after=(Edge(parent="a", when=frozenset({"complete"})),))  # type: ignore[arg-type]  # a word is its condition
    stage = Stage(shell("a"), seen).begin()

    stage.end("a", Status.FAILED)

    assert stage.runs["seen"].payload == b'"failure"'


def test_a_template_without_a_value_fails_its_step_and_no_other() -> None:
    stage = Stage(shell("a"), shell("b", "a", payload="{{ steps.a.output.path }}"), shell("c", "a")).begin()

    stage.end("a", output={})

    assert stage.results["b"] is Result.FAILURE
    assert "has no value" in stage.states["b"].reason
    assert "c" in stage.runs


@pytest.mark.parametrize(("timeout", "due_at"), [(None, LATEST), (HOUR, later(NOW, HOUR))])
def test_an_approval_is_a_run_that_is_due_when_its_timeout_ends(timeout: Millis | None, due_at: Instant) -> None:
    stage = Stage(Step(name="ask", approval=Approval(timeout=timeout))).begin()

    assert stage.runs["ask"].due_at == due_at


def test_cancelling_cancels_running_steps_and_skips_the_others() -> None:
    stage = Stage(shell("a"), shell("b", "a"), shell("z", is_final=True)).begin()
    stage.tree = stage.tree._replace(cancel_at=NOW)

    stage.settle([Note(RunId("x"))])

    assert stage.saved.cancels == (stage.states["a"].run_id,)
    assert stage.results == {"a": None, "b": Result.SKIPPED, "z": Result.SKIPPED}
    assert stage.ended is None
    assert stage.end("a", Status.CANCELLED).ended == Ended(Status.CANCELLED, Reason.CANCELLED)


def test_the_final_step_runs_after_a_cancel_with_final_on_cancel() -> None:
    stage = Stage(shell("a"), shell("b", "a"), shell("z", is_final=True), final_on_cancel=True).begin()
    stage.tree = stage.tree._replace(cancel_at=NOW)
    stage.settle([Note(RunId("x"))])

    stage.end("a", Status.CANCELLED)

    assert "z" in stage.runs
    assert stage.end("z").ended == Ended(Status.CANCELLED, Reason.CANCELLED)


def test_a_step_on_skipped_does_not_fire_because_of_a_cancel() -> None:
    after_skip = Step(name="c", definition=_REPORT, after=(Edge(parent="b", when=frozenset({"skipped"})),))  # type: ignore[arg-type]  # a word is its condition
    stage = Stage(shell("a"), shell("b", "a"), after_skip).begin()
    stage.tree = stage.tree._replace(cancel_at=NOW)

    stage.settle([Note(RunId("x"))])

    assert not stage.saved.runs
    assert stage.results["c"] is Result.SKIPPED


def test_an_execution_past_its_deadline_ends_early() -> None:
    stage = Stage(shell("a"), shell("b", "a")).begin()
    stage.tree = stage.tree._replace(deadline=later(NOW, MINUTE))

    stage.settle([], later(NOW, MINUTE))
    assert stage.saved.cancels == (stage.states["a"].run_id,)
    assert (stage.states["b"].result, stage.states["b"].reason) == (Result.SKIPPED, "timeout")

    stage.end("a", Status.CANCELLED, now=later(NOW, HOUR))
    assert stage.ended is not None
    assert stage.ended.status is Status.TIMEOUT


def test_an_execution_that_ends_just_after_its_deadline_keeps_its_result() -> None:
    stage = Stage(shell("a")).begin()
    stage.tree = stage.tree._replace(deadline=later(NOW, MINUTE))

    assert stage.end("a", now=later(NOW, HOUR)).ended == Ended(Status.SUCCESS)


def test_settled_notes_are_removed_and_others_stay() -> None:
    stage = Stage(shell("a")).begin()

    stage.settle([Note(RunId("n1"), "a", Status.SUCCESS)])

    assert stage.saved.notes == (RunId("n1"),)
