"""What has become of an execution and its steps, in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.run import Status
from foliot.domain.workflow.conditions import Result, is_met
from foliot.domain.workflow.drawing import edge_words
from foliot.domain.workflow.graph import Graph, graph_of
from foliot.domain.workflow.spec import Edge, Step
from foliot.errors import NotFound, RowUnreadable
from foliot.interfaces.cli.text import counted
from foliot.interfaces.cli.waits import waits_of
from foliot.interfaces.cli.why import REASONS
from foliot.interfaces.cli.words import last_line
from foliot.service.execution_views import ExecutionView, StepView
from foliot.service.services import Services
from foliot.service.views import as_json

PENDING: Final = "pending"
_MOST_NAMED: Final = 5
_SAME: Final = {Result.SUCCESS: Status.SUCCESS, Result.FAILURE: Status.FAILED, Result.SKIPPED: Status.SKIPPED}
STEP_REASONS: Final[Mapping[str, str]] = {
    "cancelled": "the execution was cancelled before it began",
    "timeout": "the time of the execution was up before it began",
    "paused": "somebody has paused this step",
    "removed": "its job is no longer there",
    "disabled": "its job is disabled",
    "overlap": "an earlier run of it was not over",
    "marked": "somebody marked it as a success",
}
"""Why a step has its result. What is not here says it itself."""


class Told(NamedTuple):
    """An execution with the version it goes through."""

    view: ExecutionView
    graph: Graph
    steps: Mapping[str, StepView]
    questions: frozenset[str]
    """Steps that wait for a person now."""
    waits: Mapping[str, str] = {}
    """What steps whose runs have not begun wait for, in words."""
    trouble: str = ""
    """Which row keeps it from going on, because it cannot be read."""

    @classmethod
    async def gather(cls, services: Services, execution_id: str) -> "Told | None":
        """None for what is no execution, or one that has not begun."""
        view = await services.workflows.status(execution_id)
        if view is None:
            return None
        steps = {step.name: step for step in view.steps}
        known, trouble = await _version(services, view)
        asking = [step.name for step in known if step.approval is not None]
        questions = frozenset(name for name in asking if _is_under_way(steps[name]))
        others = [step for step in view.steps if _is_under_way(step) and step.name not in questions]
        runs = {step.run_id: step.name for step in others if step.run_id is not None}
        waits = {runs[run_id]: words for run_id, words in (await waits_of(services, runs.keys())).items()}
        return cls(view, graph_of(known), steps, questions, waits, trouble)

    @property
    def states(self) -> dict[str, str]:
        return {name: step_state(step) for name, step in self.steps.items()}

    def document(self) -> dict[str, Any]:
        steps = [
            {**as_json(step), "why": self.why_step(step), "deciders": self._deciders(step)} for step in self.view.steps
        ]
        return {**as_json(self.view), "steps": steps}

    # -- why

    def why(self) -> str:
        """Why the execution is where it is."""
        view = self.view
        if view.status == Status.CANCELLING:
            return "its steps are being ended"
        if self.trouble and not Status(view.status).is_terminal:
            return f"it waits until somebody mends or cancels it: {self.trouble}"
        if not Status(view.status).is_terminal:
            return self._progress()
        failed = [step.name for step in view.steps if step.result == Result.FAILURE]
        counts = Counter(step.result for step in view.steps)
        came_to = ", ".join(f"{counts[result]} {result}" for result in Result if counts[result])
        blamed = f"; failed: {_some(failed)}" if failed else ""
        return f"its {counted(len(view.steps), 'step')} came to {came_to}{blamed}"

    def _progress(self) -> str:
        over = sum(step.result is not None for step in self.view.steps)
        under_way = [step.name for step in self.view.steps if _is_under_way(step)]
        now = f"; under way: {_some(under_way)}" if under_way else ""
        return f"{over} of {counted(len(self.view.steps), 'step')} came to a result{now}"

    def why_step(self, step: StepView) -> str:
        """Why a step is where it is, where its result alone does not tell."""
        if step.reason:
            return STEP_REASONS.get(step.reason, step.reason)
        if step.blockers:
            edges = {edge.parent: edge for edge in self.graph.parents[step.name]}
            blamed = [self._blocked(edges[name]) for name in step.blockers[:_MOST_NAMED] if name in edges]
            return "; ".join(blamed) + _more(len(step.blockers))
        if step.result in (Result.FAILURE, Result.SKIPPED):
            return self._how_its_run_ended(step)
        if step.name in self.questions:
            return question_words(self.view.id, step.name)
        if step.result is None and step.run_id is None:
            open_ones = [
                edge.parent for edge in self.graph.parents[step.name] if self.steps[edge.parent].result is None
            ]
            return f"waits for {_some(open_ones)}" if open_ones else ""
        return self.waits.get(step.name, "")

    def _how_its_run_ended(self, step: StepView) -> str:
        if step.status == Status.CANCELLED and self.view.status == Status.TIMEOUT:
            return "the time of the execution was up"
        return last_line(step.error) if step.error else REASONS.get(step.cause or "", "")

    def _blocked(self, edge: Edge) -> str:
        parent = self.steps[edge.parent]
        run = f" (run {parent.run_id})" if parent.run_id else ""
        is_near = parent.result is not None and is_met(edge.when, Result(parent.result))
        but = ": its output does not fit" if is_near else ""
        return f"{edge.parent} came to {parent.result}{run}, wanted {edge_words(edge) or Result.SUCCESS}{but}"

    def _deciders(self, step: StepView) -> dict[str, str | None]:
        """The runs of the steps that kept it from running."""
        return {name: self.steps[name].run_id for name in step.blockers}


async def _version(services: Services, view: ExecutionView) -> tuple[Sequence[Step], str]:
    """The steps of the version that it goes through; without what they wait for, where that cannot be read."""
    is_over = Status(view.status).is_terminal
    try:
        version = await services.workflows.record(view.workflow_id, view.version)
    except (NotFound, RowUnreadable) as error:
        return [Step(name=step.name) for step in view.steps], error.message
    return version.spec.steps, "" if is_over else view.error or ""


def question_words(execution_id: str, step: str) -> str:
    return f"waits for an answer: foliot workflows approve {execution_id} {step}, or reject"


def step_state(step: StepView) -> str:
    """What a step has come to, and how its run ended where that is another word; else where its run stands."""
    if step.result is None:
        return step.status or PENDING
    reason = step.reason if step.reason in STEP_REASONS else ""
    if step.status and step.status != _SAME[Result(step.result)]:
        reason = reason or step.status
    return f"{step.result} ({reason})" if reason else step.result


def _is_under_way(step: StepView) -> bool:
    """Its run has begun or may begin. One that has ended is over, also before the execution has heard of it."""
    return step.result is None and step.status is not None and not Status(step.status).is_terminal


def _some(names: list[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + _more(len(names))


def _more(count: int) -> str:
    return f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
