"""Dependencies between jobs, added one by one: "run the report after the import has succeeded".

Together they form one graph. Each job that has dependents but no dependency leads a workflow, which consists of the job
and its descendants: when one of its schedules fires, that workflow starts.
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
"""The id of the workflow that stores the edges. It is never started."""
LED_BY: Final = "after:"

Dependencies = Mapping[JobId, tuple[Edge, ...]]
"""The edges of each job that has dependencies."""


def led_by(root: JobId) -> str:
    """Return the id of the workflow that a job leads."""
    return f"{LED_BY}{root}"


def read_edges(spec: WorkflowSpec | None) -> dict[JobId, tuple[Edge, ...]]:
    return {} if spec is None else {JobId(step.name): step.after for step in spec.steps if step.after}


def write_edges(edges: Dependencies) -> WorkflowSpec:
    names = sorted({*edges, *(JobId(edge.parent) for after in edges.values() for edge in after)})
    return WorkflowSpec(steps=tuple(_step(name, edges.get(name, ())) for name in names), source="foliot")


def with_edge(edges: Dependencies, child: JobId, parent: JobId, when: Conditions) -> dict[JobId, tuple[Edge, ...]]:
    """Return the edges with one more. Conditions on the same parent are combined. Raise CycleDetected for a cycle."""
    before = next((edge.when for edge in edges.get(child, ()) if edge.parent == parent), frozenset())
    joined = {**without_edge(edges, child, parent)}
    joined[child] = (*joined.get(child, ()), Edge(parent=parent, when=before | when))
    cycle = find_cycle({name: [edge.parent for edge in after] for name, after in joined.items()})
    if cycle:
        raise CycleDetected(cycle)
    return joined


def without_edge(edges: Dependencies, child: JobId, parent: JobId) -> dict[JobId, tuple[Edge, ...]]:
    """Return the edges without one. It need not exist."""
    left = tuple(edge for edge in edges.get(child, ()) if edge.parent != parent)
    rest = {name: after for name, after in edges.items() if name != child}
    return {**rest, child: left} if left else rest


def without_job(edges: Dependencies, job_id: JobId) -> dict[JobId, tuple[Edge, ...]]:
    """Return the edges without those to or from a job."""
    for child in [name for name, after in edges.items() if any(edge.parent == job_id for edge in after)]:
        edges = without_edge(edges, child, job_id)
    return {name: after for name, after in edges.items() if name != job_id}


def renamed_edges(spec: WorkflowSpec, names: Mapping[JobId, JobId]) -> WorkflowSpec:
    """Return the stored edges after a rename of jobs. The name of each step is the id of its job."""
    return replace(spec, steps=tuple(_renamed(step, names) for step in spec.steps))


def _renamed(step: Step, names: Mapping[JobId, JobId]) -> Step:
    after = tuple(replace(edge, parent=names.get(JobId(edge.parent), edge.parent)) for edge in step.after)
    return replace(step, name=names.get(JobId(step.name), step.name), after=after)


def led_workflows(edges: Dependencies) -> dict[JobId, WorkflowSpec]:
    """Return the workflow of each job that leads one. A job that also depends on jobs outside of the workflow is left
    out: its other parents would never resolve in it."""
    graph = graph_of(write_edges(edges).steps)
    roots = [JobId(name) for name in graph.roots if graph.children[name]]
    members = {root: graph.descendants([root]) for root in roots}
    return {root: WorkflowSpec(steps=tuple(_steps(edges, members[root])), source="foliot") for root in roots}


def _steps(edges: Dependencies, members: set[str]) -> Iterable[Step]:
    """Return the members whose ancestors are all members."""
    kept = set(members)
    while outside := {name for name in kept if any(edge.parent not in kept for edge in edges.get(JobId(name), ()))}:
        kept -= outside
    return (_step(JobId(name), edges.get(JobId(name), ())) for name in sorted(kept))


def _step(name: JobId, after: tuple[Edge, ...]) -> Step:
    return Step(name=name, job=name, after=after)
