"""Commands on dependencies: edges between jobs, each of which starts one job after another."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.workflow.builder import read_conditions
from foliot.domain.workflow.dependencies import (
    EDGES,
    Dependencies,
    led_by,
    led_workflows,
    read_edges,
    with_edge,
    without_edge,
    without_job,
    write_edges,
)
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import Edge, WorkflowSpec
from foliot.errors import InvalidRun, NotFound, RowUnreadable
from foliot.ports.storage import Storage
from foliot.service.paging import PAGE, stored_jobs

log = logging.getLogger(__name__)


class DependencyService:
    """Adds and removes edges between jobs. A job is named by its id or by its display name."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def add(self, child: str, parent: str, condition: str = "success") -> None:
        """Start `child` when `parent` ends with the condition. Adding an edge twice is a no-op."""
        after, before = await self._find(child), await self._find(parent)
        when = read_conditions([condition])
        await self._change(lambda edges: with_edge(edges, after.id, before.id, when))

    async def remove(self, child: str, parent: str) -> None:
        """Remove an edge; a missing edge is a no-op. Refused while an execution with both jobs is open."""
        after, before = await self._find(child), await self._find(parent)
        edges = await self._edges()
        if all(edge.parent != before.id for edge in edges.get(after.id, ())):
            return
        await self._refuse_active(after.id, before.id, edges)
        await self._change(lambda edges: without_edge(edges, after.id, before.id))

    async def remove_jobs(self, job_ids: Collection[JobId]) -> None:
        """Remove all edges of deleted jobs. Edges that cannot be read are logged and kept."""
        try:
            edges = await self._edges()
        except RowUnreadable as error:
            log.warning("dependencies_unreadable", extra={"jobs": sorted(job_ids), "error": error.message})
            return
        if reduce(without_job, job_ids, edges) != edges:
            await self._change(lambda known: reduce(without_job, job_ids, known))

    async def of(self, child: str) -> list[Edge]:
        """Return the edges that a job waits for."""
        return list((await self._edges()).get((await self._find(child)).id, ()))

    async def _change(self, change: Callable[[Dependencies], Dependencies]) -> None:
        """Save changed edges with the workflows made of them. After a concurrent change, apply the change again."""
        while True:
            known = (await self._storage.definitions.get_workflows([(EDGES, None)])).get((EDGES, None))
            before = read_edges(None if known is None else known.spec)
            after = change(before)
            stored = (await self._storage.definitions.put_workflows({EDGES: write_edges(after)}))[EDGES]
            if stored.version <= (0 if known is None else known.version) + 1:
                return await self._follow(led_workflows(before).keys(), led_workflows(after))

    async def _follow(self, former: Iterable[JobId], led: Mapping[JobId, WorkflowSpec]) -> None:
        """Attach each workflow to its root job, and detach it from former roots."""
        versions = await self._storage.definitions.put_workflows({led_by(root): spec for root, spec in led.items()})
        jobs: dict[JobId, JobSpec] = {}
        for name, (_, version, spec, _) in versions.items():
            jobs |= jobs_of(name, version, spec)
        for job_id, job in (await self._storage.definitions.get_jobs({*former, *led})).items():
            jobs[job_id] = replace(job.spec, leads=led_by(job_id) if job_id in led else "")
        await self._storage.definitions.put_jobs(list(jobs.items()))

    async def _edges(self) -> Dependencies:
        known = (await self._storage.definitions.get_workflows([(EDGES, None)])).get((EDGES, None))
        return read_edges(None if known is None else known.spec)

    async def _refuse_active(self, child: JobId, parent: JobId, edges: Dependencies) -> None:
        """Refuse while an execution with both jobs is open. A former root may have started one."""
        for root in _before(edges, parent):
            active = await self._storage.queries.active_executions(workflow_id=led_by(root))
            for execution in active:
                # An execution that cannot be read may contain both.
                if execution.error is not None or {child, parent} <= execution.jobs.keys():
                    raise InvalidRun(
                        f'an execution with "{child}" and "{parent}" is under way',
                        hint=f"Wait for it, or: foliot cancel {execution.run_id}",
                    )

    async def _find(self, name: str) -> Job:
        """Return a job by its id, else by its display name."""
        found = await self._storage.definitions.get_jobs([JobId(name)])
        if found:
            return found[JobId(name)]
        known: list[str] = []
        async for job in stored_jobs(self._storage):
            if job.spec.name == name:
                return job
            known.append(job.id)
        raise NotFound("job", name, known=known[:PAGE])


def _before(edges: Dependencies, job_id: JobId) -> list[JobId]:
    """Return the job and all its ancestors."""
    found = [job_id]
    for name in found:
        found += {JobId(edge.parent) for edge in edges.get(name, ())}.difference(found)
    return found
