"""How an execution goes on: which steps fire, which are skipped, and how the whole has ended.

Each step keeps a counter of parents that have not resolved, so that a parent that resolves costs as much as it has
children, however many parents those have. A parent whose edge is not met blocks its child. When the counter is at 0 the
child fires, or, if anything blocks it, is skipped; and a skipped step has resolved, so its own children are next.

The order in which steps resolve does not matter, and neither does who asks: a step resolves once.

An execution has failed if a step has failed. The exception is a failure that was recovered: a child with `recovers`
follows the failed step by `failure` or `complete`, and has succeeded. Each failure is judged alone:

    failed parents of a recovering step    its success recovers all that it follows by `failure` or `complete`
    recovering children of a failed step   the success of one of them is enough
    a recovering step that fails           recovers nothing, and its own failure must be recovered as well
    the grandchildren                      recover the failure of their own parents only

A child without `recovers` (an alert, a clean-up) and the final step recover nothing.
"""

from collections.abc import Generator, Iterable, Mapping
from typing import Final, NamedTuple, cast

from foliot.domain.ids import RunId
from foliot.domain.run.run import Status
from foliot.domain.workflow.conditions import ON_FAILURE, Result, is_met
from foliot.domain.workflow.graph import Graph
from foliot.domain.workflow.output import RunOutput
from foliot.domain.workflow.spec import Edge

MOST_BLOCKERS: Final = 20
"""How many parents are named as the reason for a skipped step; a thousand would explain no more."""


class StepState(NamedTuple):
    """A step of one execution. Without a result it is pending: waiting for parents, or under way as `run_id`."""

    waiting: int
    """How many parents have not resolved yet."""
    blockers: tuple[str, ...] = ()
    """Parents whose result keeps the step from running."""
    result: Result | None = None
    run_id: RunId | None = None
    reason: str = ""
    """Why it has its result, where neither its run nor its blockers tell."""


class Resolved(NamedTuple):
    """A step that has come to its result, and what its run left behind."""

    result: Result
    run_output: RunOutput = RunOutput()
    reason: str = ""


class Advance(NamedTuple):
    """What follows when steps have resolved: new states, and the steps that are to be started, in order."""

    changed: Mapping[str, StepState]
    fire: tuple[str, ...]


Questions = Generator[set[str], Mapping[str, StepState], Advance]
"""Asks for the states of named steps, is sent them, and returns what follows."""


def first_states(graph: Graph) -> dict[str, StepState]:
    """Every step of a new execution. Those that wait for nobody are to be fired."""
    return {name: StepState(len(edges)) for name, edges in graph.parents.items()}


def advance(graph: Graph, resolved: Mapping[str, Resolved]) -> Questions:
    """Say what follows when these steps resolve. One that has its result already changes nothing."""
    known: dict[str, StepState] = {}
    changed: dict[str, StepState] = {}
    fire: list[str] = []
    news = dict(resolved)
    while news:
        wanted = _touched(graph, news) - known.keys()
        if wanted:
            known.update((yield wanted))
        news = _wave(graph, news, known, changed, fire)
    # A step may be told by its last parent and resolve for another reason in the same go.
    return Advance(changed, tuple(name for name in fire if known[name].result is None))


def _touched(graph: Graph, news: Iterable[str]) -> set[str]:
    return set(news).union(child for name in news for child, _ in graph.children[name])


def _wave(
    graph: Graph,
    news: Mapping[str, Resolved],
    known: dict[str, StepState],
    changed: dict[str, StepState],
    fire: list[str],
) -> dict[str, Resolved]:
    """Write down what has resolved and tell the children. Returns the steps that are skipped because of it."""
    skipped: dict[str, Resolved] = {}
    for name, outcome in news.items():
        if known[name].result is not None:
            continue
        known[name] = changed[name] = known[name]._replace(result=outcome.result, reason=outcome.reason)
        for child, edge in graph.children[name]:
            if known[child].result is not None:
                continue
            state = known[child] = changed[child] = _told(known[child], edge, outcome)
            if not state.waiting and state.blockers:
                skipped[child] = Resolved(Result.SKIPPED)
            elif not state.waiting:
                fire.append(child)
    return skipped


def _told(state: StepState, edge: Edge, outcome: Resolved) -> StepState:
    """A child that has heard of one more parent."""
    waiting = state.waiting - 1
    if follows(edge, outcome) or len(state.blockers) >= MOST_BLOCKERS:
        return state._replace(waiting=waiting)
    return state._replace(waiting=waiting, blockers=(*state.blockers, edge.parent))


def follows(edge: Edge, outcome: Resolved) -> bool:
    return is_met(edge.when, outcome.result) and (edge.test is None or edge.test.holds(outcome.run_output))


def begin(graph: Graph, states: Mapping[str, StepState]) -> Advance:
    """What follows at once in a new execution: a step that waits for nobody fires, or is skipped with what follows."""
    free = [name for name, state in states.items() if state.result is None and not state.waiting]
    skipped = {name: Resolved(Result.SKIPPED) for name in free if states[name].blockers}
    changed, fire = answered(advance(graph, skipped), states)
    return Advance(changed, (*(name for name in free if name not in skipped), *fire))


def answered(questions: Questions, states: Mapping[str, StepState]) -> Advance:
    """Answer the questions from states that are all at hand."""
    try:
        wanted = next(questions)
        while True:
            wanted = questions.send({name: states[name] for name in wanted})
    except StopIteration as end:
        return cast(Advance, end.value)


def overall(graph: Graph, states: Mapping[str, StepState]) -> Status:
    """Return the status of an execution in which every step has its result.

    It has failed if a step failed whose failure was not recovered. It was skipped if all its steps were.
    """
    if all(state.result is Result.SKIPPED for state in states.values()):
        return Status.SKIPPED
    return Status.FAILED if unrecovered(graph, states) else Status.SUCCESS


def unrecovered(graph: Graph, states: Mapping[str, StepState]) -> list[str]:
    """Return the failed steps that no other step recovered."""
    recovered = recoveries(graph, states)
    return [name for name, state in states.items() if state.result is Result.FAILURE and name not in recovered]


def recoveries(graph: Graph, states: Mapping[str, StepState]) -> dict[str, list[str]]:
    """Return each failed step that was recovered, with the steps that did."""
    recovered: dict[str, list[str]] = {}
    for name in graph.recovering:
        if states[name].result is not Result.SUCCESS:
            continue
        for edge in graph.parents[name]:
            if edge.when & ON_FAILURE and states[edge.parent].result is Result.FAILURE:
                recovered.setdefault(edge.parent, []).append(name)
    return {name: sorted(found) for name, found in recovered.items()}
