"""The graph of a workflow, indexed in both directions, and the problems of steps that do not form a graph."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import or_
from typing import Final, NamedTuple

from foliot.domain.workflow.conditions import ON_FAILURE
from foliot.domain.workflow.spec import ON_COMPLETE, Edge, Step
from foliot.errors import Problem, shortened, suggest

MOST_CYCLES: Final = 20
"""How many cycles of a workflow are reported. A longer list would not help."""
_MOST_NAMES: Final = 12


class Graph(NamedTuple):
    """Steps with their edges in both directions, including those of the final step."""

    parents: Mapping[str, Sequence[Edge]]
    children: Mapping[str, Sequence[tuple[str, Edge]]]
    """Each child with the edge that leads to it."""
    final: str | None
    recovering: frozenset[str] = frozenset()
    """Steps whose success makes up for the failure of a parent."""

    @property
    def roots(self) -> list[str]:
        return [name for name, edges in self.parents.items() if not edges]

    def descendants(self, names: Iterable[str]) -> set[str]:
        """Return the named steps and all steps after them."""
        after = {parent: [child for child, _ in edges] for parent, edges in self.children.items()}
        return _reached(names, after)

    def ordered(self) -> list[str]:
        """Return the steps, each after its parents. Steps after a cycle or an unknown step are left out."""
        waiting = {name: len(edges) for name, edges in self.parents.items()}
        order = self.roots
        for name in order:
            for child, _ in self.children[name]:
                waiting[child] -= 1
                if not waiting[child]:
                    order.append(child)
        return order


class Precedence:
    """Which step comes before which. It takes one bit for each pair of steps, to support ten thousand steps.

    It also accepts a graph with problems: on a cycle or after a step that does not exist, where the order is undefined,
    any other step may come before.
    """

    def __init__(self, graph: Graph) -> None:
        order = graph.ordered()
        self._names = graph.parents.keys()
        self._bits = {name: 1 << place for place, name in enumerate(order)}
        self._before: dict[str, int] = {}
        for name in order:
            parents = [edge.parent for edge in graph.parents[name]]
            self._before[name] = reduce(or_, (self._before[parent] | self._bits[parent] for parent in parents), 0)

    def is_before(self, earlier: str, later: str) -> bool:
        if later not in self._before:
            return earlier in self._names and earlier != later
        return bool(self._before[later] & self._bits.get(earlier, 0))


def graph_of(steps: Sequence[Step]) -> Graph:
    """Return the graph of steps. It is acyclic and complete if `problems_of` finds no problems."""
    final = next((step.name for step in steps if step.is_final), None)
    others = tuple(Edge(parent=step.name, when=ON_COMPLETE) for step in steps if not step.is_final)
    parents = _edges(steps) | {step.name: others for step in steps if step.is_final}
    children: dict[str, list[tuple[str, Edge]]] = {step.name: [] for step in steps}
    for child, edges in parents.items():
        for edge in edges:
            if edge.parent in children:
                children[edge.parent].append((child, edge))
    recovering = frozenset(step.name for step in steps if step.recovers and not step.is_final)
    return Graph(parents, children, final, recovering)


def _edges(steps: Sequence[Step]) -> dict[str, tuple[Edge, ...]]:
    """Return the edges of each step. A step that is defined twice has the edges of both definitions."""
    edges: dict[str, tuple[Edge, ...]] = {}
    for step in steps:
        edges[step.name] = (*edges.get(step.name, ()), *step.after)
    return edges


def problems_of(steps: Sequence[Step]) -> Iterator[Problem]:
    """Yield every reason why these steps are not a valid graph."""
    if not steps:
        yield Problem.error("a workflow needs at least one step", "Add a step with a name and a command.")
    names = [step.name for step in steps]
    for name in _repeated(names):
        yield Problem.error(f'step "{name}" is defined twice', "Give one of them another name.")
    finals = [step.name for step in steps if step.is_final]
    if len(finals) > 1:
        hint = "Make one of them final, and let the others come after the steps that they need."
        yield Problem.error(f"only one step can be final, not {', '.join(finals)}", hint)
    known = set(names)
    for step in steps:
        yield from _edge_problems(step, known, finals)
    yield from _cycle_problems({name: [edge.parent for edge in edges] for name, edges in _edges(steps).items()})


def _cycle_problems(parents: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    cycles = list(islice(find_cycles(parents), MOST_CYCLES + 1))
    for cycle in cycles[:MOST_CYCLES]:
        hint = "Remove one of these steps from the `after` of another."
        yield Problem.error(f"the steps form a cycle: {_in_words(cycle)}", hint)
    if len(cycles) > MOST_CYCLES:
        yield Problem.error("there are more cycles", "They are listed once these are removed.")


def _in_words(cycle: Sequence[str]) -> str:
    """Return the names on a cycle. Of a long one, only the beginning and the end."""
    shown = cycle if len(cycle) <= _MOST_NAMES else (*cycle[: _MOST_NAMES - 2], "...", *cycle[-2:])
    return " -> ".join(shown)


def _list_of_steps(known: set[str]) -> str:
    return f"The steps are: {shortened(', '.join(sorted(known)[:20]), 400)}."


def _edge_problems(step: Step, known: set[str], finals: Sequence[str]) -> Iterator[Problem]:
    parents = [edge.parent for edge in step.after]
    if step.is_final and parents:
        yield Problem.error(f'final step "{step.name}" already comes after every step', "Remove its after.")
    for name in _repeated(parents):
        yield Problem.error(f'step "{step.name}" comes after "{name}" twice', "Combine the conditions in one edge.")
    yield from _recovery_problems(step)
    for edge in step.after:
        if edge.parent not in known:
            hint = suggest(edge.parent, known, otherwise=_list_of_steps(known))
            yield Problem.error(f'step "{step.name}" comes after "{edge.parent}", which does not exist', hint)
        elif edge.parent in finals:
            hint = "Let it come after another step, or make that step not final."
            yield Problem.error(f'step "{step.name}" comes after the final step "{edge.parent}"', hint)
        if not edge.when:
            hint = "Use one of: success, failure, skipped, complete."
            yield Problem.error(f'step "{step.name}" has no condition on "{edge.parent}"', hint)


def _recovery_problems(step: Step) -> Iterator[Problem]:
    if not step.recovers:
        return
    if step.is_final:
        hint = "The final step follows every result, so it cannot recover a failure. Use another step."
        yield Problem.error(f'final step "{step.name}" cannot have recovers', hint)
    elif not any(edge.when & ON_FAILURE for edge in step.after):
        hint = 'Write after = { step = "...", when = "failure" }, or leave recovers out.'
        yield Problem.error(f'step "{step.name}" has recovers and follows no step by failure or complete', hint)


def find_cycles(parents: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Yield cycles that share no node: at least one of every strongly connected component."""
    left = parents
    while cycle := find_cycle(left):
        yield cycle
        found = set(cycle)
        left = {name: edges for name, edges in left.items() if name not in found}


def find_cycle(parents: Mapping[str, Iterable[str]]) -> list[str]:
    """Return one path from a node to itself, or an empty list. It does not recurse, so deep graphs are no problem."""
    done: set[str] = set()
    for start in parents:
        path: dict[str, Iterator[str]] = {}
        node: str | None = None if start in done else start
        while node is not None or path:
            if node is not None:
                path[node] = iter(parents.get(node, ()))
            here = next(reversed(path))
            node = next((name for name in path[here] if name not in done), None)
            if node is None:
                done.add(here)
                del path[here]
            elif node in path:
                around = list(path)
                return [*around[around.index(node) :], node][::-1]
    return []


def _reached(names: Iterable[str], onward: Mapping[str, Iterable[str]]) -> set[str]:
    seen: set[str] = set()
    open_ends = list(names)
    while open_ends:
        name = open_ends.pop()
        if name not in seen:
            seen.add(name)
            open_ends.extend(onward.get(name, ()))
    return seen


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]
