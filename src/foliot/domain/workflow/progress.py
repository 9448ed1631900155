"""The progress of an execution: which steps start, which are skipped, and the final status.

Each step has a counter of unresolved parents, so that the cost of resolving a parent depends on the number of its
children only. A parent whose edge is not met blocks its child. When the counter reaches 0 the child starts, or, if it
is blocked, is skipped. A skipped step is resolved, so its own children follow.

The result does not depend on the order in which steps resolve. A step resolves only once.

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
"""How many blocking parents of a step are stored. A longer list would not explain more."""


class StepState(NamedTuple):
    """The state of a step. Without a result it is pending: it waits for parents, or `run_id` is its run."""

    waiting: int
    """The number of unresolved parents."""
    blockers: tuple[str, ...] = ()
    """Parents whose result prevents the step from starting."""
    result: Result | None = None
    run_id: RunId | None = None
    reason: str = ""
    """Why it has its result, if that follows neither from its run nor from its blockers."""


class Resolved(NamedTuple):
    """The result of a step that has just resolved, with the output of its run."""

    result: Result
    run_output: RunOutput = RunOutput()
    reason: str = ""


class Advance(NamedTuple):
    """What follows when steps resolve: changed states, and the steps to start, in order."""

    changed: Mapping[str, StepState]
    fire: tuple[str, ...]


StateRequests = Generator[set[str], Mapping[str, StepState], Advance]
"""Yields the names of steps whose states are needed, is sent the states, and returns what follows."""


def first_states(graph: Graph) -> dict[str, StepState]:
    """Return the states of all steps of a new execution. Steps without parents are to be started."""
    return {name: StepState(len(edges)) for name, edges in graph.parents.items()}


def advance(graph: Graph, resolved: Mapping[str, Resolved]) -> StateRequests:
    """Compute what follows when these steps resolve. A step that already has a result is ignored."""
    known: dict[str, StepState] = {}
    changed: dict[str, StepState] = {}
    fire: list[str] = []
    wave = dict(resolved)
    while wave:
        wanted = _affected(graph, wave) - known.keys()
        if wanted:
            known.update((yield wanted))
        wave = _apply(graph, wave, known, changed, fire)
    # A step whose last parent resolves may itself be among `resolved`, for example because it is skipped by a cancel.
    return Advance(changed, tuple(name for name in fire if known[name].result is None))


def _affected(graph: Graph, resolved: Iterable[str]) -> set[str]:
    return set(resolved).union(child for name in resolved for child, _ in graph.children[name])


def _apply(
    graph: Graph,
    resolved: Mapping[str, Resolved],
    known: dict[str, StepState],
    changed: dict[str, StepState],
    fire: list[str],
) -> dict[str, Resolved]:
    """Set the results of steps and update their children. Return the children that are skipped because of it."""
    skipped: dict[str, Resolved] = {}
    for name, outcome in resolved.items():
        if known[name].result is not None:
            continue
        known[name] = changed[name] = known[name]._replace(result=outcome.result, reason=outcome.reason)
        for child, edge in graph.children[name]:
            if known[child].result is not None:
                continue
            state = known[child] = changed[child] = _after_parent(known[child], edge, outcome)
            if not state.waiting and state.blockers:
                skipped[child] = Resolved(Result.SKIPPED)
            elif not state.waiting:
                fire.append(child)
    return skipped


def _after_parent(state: StepState, edge: Edge, outcome: Resolved) -> StepState:
    """Return the state of a child after one more parent has resolved."""
    waiting = state.waiting - 1
    if follows(edge, outcome) or len(state.blockers) >= MOST_BLOCKERS:
        return state._replace(waiting=waiting)
    return state._replace(waiting=waiting, blockers=(*state.blockers, edge.parent))


def follows(edge: Edge, outcome: Resolved) -> bool:
    return is_met(edge.when, outcome.result) and (edge.test is None or edge.test.holds(outcome.run_output))


def begin(graph: Graph, states: Mapping[str, StepState]) -> Advance:
    """Return what follows in a new execution: steps that wait for no parent start, or are skipped if blocked."""
    free = [name for name, state in states.items() if state.result is None and not state.waiting]
    skipped = {name: Resolved(Result.SKIPPED) for name in free if states[name].blockers}
    changed, fire = advance_with(advance(graph, skipped), states)
    return Advance(changed, (*(name for name in free if name not in skipped), *fire))


def advance_with(requests: StateRequests, states: Mapping[str, StepState]) -> Advance:
    """Run `advance` with states that are all loaded."""
    try:
        wanted = next(requests)
        while True:
            wanted = requests.send({name: states[name] for name in wanted})
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
