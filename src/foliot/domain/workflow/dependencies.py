"""Edges between jobs, added one by one: "run the report after the import has succeeded".

All of them together are one graph. Each job that waits for nobody and has somebody waiting for it leads a workflow of
its own, made of itself and whatever comes after it: when one of its schedules fires, that workflow starts.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.workflow.conditions import Conditions
from foliot.domain.workflow.graph import find_cycle, graph_of
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.errors import CycleDetected

EDGES: Final = "foliot.dependencies"
"""The workflow under whose name the edges are kept. It is never started."""
LED_BY: Final = "after:"

Dependencies = Mapping[JobId, tuple[Edge, ...]]
"""The edges of each job that waits for others."""


def led_by(root: JobId) -> str:
    """The name of the workflow that a job leads."""
    return f"{LED_BY}{root}"


def read_edges(spec: WorkflowSpec | None) -> dict[JobId, tuple[Edge, ...]]:
    return {} if spec is None else {JobId(step.name): step.after for step in spec.steps if step.after}


def write_edges(edges: Dependencies) -> WorkflowSpec:
    names = sorted({*edges, *(JobId(edge.parent) for after in edges.values() for edge in after)})
    return WorkflowSpec(steps=tuple(_step(name, edges.get(name, ())) for name in names), source="foliot")


def with_edge(edges: Dependencies, child: JobId, parent: JobId, when: Conditions) -> dict[JobId, tuple[Edge, ...]]:
    """The edges with one more; conditions on one parent are a set. An edge that closes a cycle is refused."""
    before = next((edge.when for edge in edges.get(child, ()) if edge.parent == parent), frozenset())
    joined = {**without_edge(edges, child, parent)}
    joined[child] = (*joined.get(child, ()), Edge(parent=parent, when=before | when))
    cycle = find_cycle({name: [edge.parent for edge in after] for name, after in joined.items()})
    if cycle:
        raise CycleDetected(cycle)
    return joined


def without_edge(edges: Dependencies, child: JobId, parent: JobId) -> dict[JobId, tuple[Edge, ...]]:
    """The edges without one. That it was not there is no error."""
    left = tuple(edge for edge in edges.get(child, ()) if edge.parent != parent)
    rest = {name: after for name, after in edges.items() if name != child}
    return {**rest, child: left} if left else rest


def without_job(edges: Dependencies, job_id: JobId) -> dict[JobId, tuple[Edge, ...]]:
    """The edges without any to or from a job."""
    for child in [name for name, after in edges.items() if any(edge.parent == job_id for edge in after)]:
        edges = without_edge(edges, child, job_id)
    return {name: after for name, after in edges.items() if name != job_id}


def renamed_edges(spec: WorkflowSpec, names: Mapping[JobId, JobId]) -> WorkflowSpec:
    """The stored edges when jobs have got other ids. Here steps are named by their jobs; none is ever started."""
    return replace(spec, steps=tuple(_renamed(step, names) for step in spec.steps))


def _renamed(step: Step, names: Mapping[JobId, JobId]) -> Step:
    after = tuple(replace(edge, parent=names.get(JobId(edge.parent), edge.parent)) for edge in step.after)
    return replace(step, name=names.get(JobId(step.name), step.name), after=after)


def led_workflows(edges: Dependencies) -> dict[JobId, WorkflowSpec]:
    """The workflow of each job that leads one. A parent that is not a part of it never resolves in it, so what waits
    for that parent as well is left out: it belongs to no single one of them."""
    graph = graph_of(write_edges(edges).steps)
    roots = [JobId(name) for name in graph.roots if graph.children[name]]
    members = {root: graph.descendants([root]) for root in roots}
    return {root: WorkflowSpec(steps=tuple(_steps(edges, members[root])), source="foliot") for root in roots}


def _steps(edges: Dependencies, members: set[str]) -> Iterable[Step]:
    """Those of the members whose parents are all members, and so on down."""
    whole = set(members)
    while strangers := {name for name in whole if any(edge.parent not in whole for edge in edges.get(JobId(name), ()))}:
        whole -= strangers
    return (_step(JobId(name), edges.get(JobId(name), ())) for name in sorted(whole))


def _step(name: JobId, after: tuple[Edge, ...]) -> Step:
    return Step(name=name, job=name, after=after)
