"""Dependencies between jobs, added one by one: "run the report after the import has succeeded".

All edges form one graph. A job that waits for no other job is a root, and jobs that are connected by edges are a unit:

    a --> b --> d          one root: a schedule of a starts a, then b, then d
    a --> d <-- c          two roots with a common child: a schedule of a starts a and c, and d when both have ended

Each unit is stored as a workflow. When a schedule of a root fires, the whole workflow starts, so that a job with
several parents sees the results of all of them in one execution. If two roots of a unit had schedules, each of them
would run more often than its own schedule says. That is refused when the edge is added.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple

from foliot.domain.ids import JobId
from foliot.domain.workflow.conditions import Condition, Conditions
from foliot.domain.workflow.graph import find_cycle
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.errors import CycleDetected, InvalidJob, shortened

UNIT_PREFIX: Final = "after:"

Dependencies = Mapping[JobId, tuple[Edge, ...]]
"""The edges of each job that has dependencies."""


class Unit(NamedTuple):
    """Jobs that are connected by edges."""

    roots: tuple[JobId, ...]
    """In ascending order."""
    jobs: frozenset[JobId]
    spec: WorkflowSpec

    @property
    def workflow_id(self) -> str:
        return unit_id(self.roots[0])


class UnitChanges(NamedTuple):
    """What must be stored when edges have changed."""

    workflows: Mapping[str, WorkflowSpec]
    """New and changed units."""
    leads: Mapping[JobId, str]
    """The roots of these units with the workflow that their schedules start; "" for a job that is no root any more."""


def unit_id(root: JobId) -> str:
    """The id of the workflow of a unit, made from the first of its roots."""
    return f"{UNIT_PREFIX}{root}"


def read_dependencies(rows: Iterable[tuple[str, str, str]]) -> dict[JobId, tuple[Edge, ...]]:
    """Return edges from rows of child, parent and condition, in ascending order."""
    found: dict[JobId, dict[str, set[Condition]]] = {}
    for child, parent, condition in sorted(rows):
        found.setdefault(JobId(child), {}).setdefault(parent, set()).add(Condition(condition))
    return {child: tuple(_edge(parent, when) for parent, when in edges.items()) for child, edges in found.items()}


def with_edge(edges: Dependencies, child: JobId, parent: JobId, when: Conditions) -> dict[JobId, tuple[Edge, ...]]:
    """Return the edges with one more; conditions on one parent are joined. Refuse an edge that closes a cycle."""
    known = {edge.parent: edge.when for edge in edges.get(child, ())}
    joined = {**known, parent: known.get(parent, frozenset()) | when}
    after = {**edges, child: tuple(_edge(name, joined[name]) for name in sorted(joined))}
    if cycle := find_cycle({name: [edge.parent for edge in waits] for name, waits in after.items()}):
        raise CycleDetected(cycle)
    return after


def without_edge(edges: Dependencies, child: JobId, parent: JobId) -> dict[JobId, tuple[Edge, ...]]:
    """Return the edges without one. A missing edge is no error."""
    return _kept(edges, lambda job_id, edge: (job_id, edge.parent) != (child, parent))


def without_jobs(edges: Dependencies, job_ids: Collection[str]) -> dict[JobId, tuple[Edge, ...]]:
    """Return the edges without those to or from these jobs."""
    return _kept(edges, lambda job_id, edge: job_id not in job_ids and edge.parent not in job_ids)


def units_of(edges: Dependencies) -> list[Unit]:
    """Return all units, in the order of their first jobs."""
    neighbours: dict[JobId, set[JobId]] = {}
    for child, waits in edges.items():
        for edge in waits:
            neighbours.setdefault(child, set()).add(JobId(edge.parent))
            neighbours.setdefault(JobId(edge.parent), set()).add(child)
    units: list[Unit] = []
    seen: set[JobId] = set()
    for job_id in sorted(neighbours):
        if job_id not in seen:
            members = _connected(job_id, neighbours)
            seen |= members
            units.append(_unit(sorted(members), edges))
    return units


def unit_of(edges: Dependencies, job_id: JobId) -> Unit | None:
    """Return the unit of a job. None: the job has no edges."""
    return next((unit for unit in units_of(edges) if job_id in unit.jobs), None)


def changes_of(before: Dependencies, after: Dependencies) -> UnitChanges:
    """Return what a change of edges changes about units."""
    former, units = units_of(before), units_of(after)
    known = {unit.workflow_id: unit for unit in former}
    changed = [unit for unit in units if known.get(unit.workflow_id) != unit]
    roots = {root for unit in units for root in unit.roots}
    gone = {root: "" for unit in former for root in unit.roots if root not in roots}
    leads = {root: unit.workflow_id for unit in changed for root in unit.roots}
    return UnitChanges({unit.workflow_id: unit.spec for unit in changed}, gone | leads)


def refuse_separate_starts(child: JobId, scheduled: Collection[JobId]) -> None:
    """Refuse to connect roots that have schedules. `scheduled` are the roots of the unit of `child` that have some."""
    if len(scheduled) > 1:
        names = shortened(", ".join(f'"{name}"' for name in sorted(scheduled)), 400)
        raise InvalidJob(
            f'"{child}" would join jobs that start on schedules of their own: {names}',
            hint="Each schedule would start all of them. Keep the schedules of one job only, or let one of these jobs "
            f'wait for another. To leave the schedules as they are, give "{child}" a schedule and depends_on instead.',
            field="parent",
        )


def _kept(edges: Dependencies, is_kept: Callable[[JobId, Edge], bool]) -> dict[JobId, tuple[Edge, ...]]:
    left = {job_id: tuple(edge for edge in waits if is_kept(job_id, edge)) for job_id, waits in edges.items()}
    return {job_id: waits for job_id, waits in left.items() if waits}


def _edge(parent: str, when: Iterable[Condition]) -> Edge:
    return Edge(parent=parent, when=frozenset(when))


def _connected(start: JobId, neighbours: Mapping[JobId, Iterable[JobId]]) -> set[JobId]:
    seen = {start}
    open_ends = [start]
    while open_ends:
        new = set(neighbours[open_ends.pop()]) - seen
        seen |= new
        open_ends += new
    return seen


def _unit(members: list[JobId], edges: Dependencies) -> Unit:
    steps = tuple(Step(name=name, job=name, after=edges.get(name, ())) for name in members)
    roots = tuple(name for name in members if name not in edges)
    return Unit(roots, frozenset(members), WorkflowSpec(steps=steps, source="foliot"))
