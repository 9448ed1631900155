"""The layout of a workflow to draw: its steps in layers, and arrows with their conditions.

A step is one layer below the lowest of its parents. The final step comes after every other step. Arrows from all of
them would hide the graph, so it gets arrows only from the steps that no other step follows. That is equivalent: all
earlier steps have resolved when these have.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from foliot.domain.workflow.conditions import Condition
from foliot.domain.workflow.graph import Graph, graph_of
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import ON_SUCCESS, Edge, Step


class Arrow(NamedTuple):
    """`words` is the condition. Empty: on success. The arrows to the final step have `complete`."""

    parent: str
    child: str
    words: str = ""


class Layout(NamedTuple):
    """The layout of a workflow, for any kind of drawing."""

    layers: Sequence[Sequence[str]]
    arrows: Sequence[Arrow]
    final: str | None
    questions: frozenset[str]
    """Steps that are approvals."""

    @property
    def steps(self) -> list[str]:
        return [name for layer in self.layers for name in layer]

    def parents(self) -> dict[str, list[Arrow]]:
        """Return the arrows to each step."""
        found: dict[str, list[Arrow]] = {name: [] for name in self.steps}
        for arrow in self.arrows:
            found[arrow.child].append(arrow)
        return found


def layout_of(steps: Sequence[Step]) -> Layout:
    """Return the layout of a workflow that has been checked. The cost is linear in steps and edges."""
    graph = graph_of(steps)
    return Layout(
        layers=_layers(graph, [step.name for step in steps]),
        arrows=_arrows(graph),
        final=graph.final,
        questions=frozenset(step.name for step in steps if step.approval is not None),
    )


def edge_words(edge: Edge) -> str:
    """Return the condition of an edge in words: `failure`, `success, exit code 3`. Empty for a plain success."""
    if edge.when == ON_SUCCESS and edge.test is None:
        return ""
    conditions = [condition for condition in Condition if condition in edge.when]
    return ", ".join([*conditions, *(_test_words(edge.test) if edge.test is not None else ())])


def _test_words(test: OutputTest) -> list[str]:
    words = []
    if test.exit_code:
        words.append(f"exit code {' or '.join(map(str, test.exit_code))}")
    if test.contains is not None:
        words.append(f"contains {_quoted(test.contains)}")
    if test.equals is not UNSET:
        words.append(f"{test.path or 'output'} = {_quoted(test.equals)}")
    elif test.path is not None:
        words.append(f"has {test.path}")
    return words


def _quoted(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _layers(graph: Graph, names: Sequence[str]) -> list[list[str]]:
    """Return the steps by the length of the longest path to them; within a layer in the order of the definition."""
    depth: dict[str, int] = {}
    for name in graph.ordered():
        depth[name] = max((depth[edge.parent] + 1 for edge in graph.parents[name]), default=0)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        layers[depth[name]].append(name)
    return layers


def _arrows(graph: Graph) -> list[Arrow]:
    followed = {edge.parent for name, edges in graph.parents.items() if name != graph.final for edge in edges}
    return [
        Arrow(edge.parent, name, edge_words(edge))
        for name, edges in graph.parents.items()
        for edge in edges
        if name != graph.final or edge.parent not in followed
    ]
