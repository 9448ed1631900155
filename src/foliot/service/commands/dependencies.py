"""Commands on dependencies: edges between jobs, each of which starts one job after another."""

from foliot.domain.ids import JobId
from foliot.domain.job.job import Job
from foliot.domain.workflow.builder import read_conditions
from foliot.domain.workflow.dependencies import Dependencies, unit_id, unit_of
from foliot.domain.workflow.spec import Edge
from foliot.errors import NotFound, WrongState
from foliot.ports.storage import Storage
from foliot.service.paging import PAGE, stored_jobs


class DependencyService:
    """Adds and removes edges between jobs. A job is named by its id or by its display name."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def add(self, child: str, parent: str, condition: str = "success") -> None:
        """Start `child` when `parent` ends with the condition. Adding an edge twice is a no-op."""
        after, before = await self._find(child), await self._find(parent)
        await self._storage.definitions.add_dependency(after.id, before.id, read_conditions([condition]))

    async def remove(self, child: str, parent: str) -> None:
        """Remove an edge; a missing edge is a no-op. Refused while an execution with both jobs is open."""
        after, before = await self._find(child), await self._find(parent)
        edges = await self._storage.definitions.dependencies()
        if any(edge.parent == before.id for edge in edges.get(after.id, ())):
            await self._refuse_active(after.id, before.id, edges)
            await self._storage.definitions.remove_dependency(after.id, before.id)

    async def of(self, child: str) -> list[Edge]:
        """Return the edges that a job waits for."""
        job = await self._find(child)
        return list((await self._storage.definitions.dependencies()).get(job.id, ()))

    async def _refuse_active(self, child: JobId, parent: JobId, edges: Dependencies) -> None:
        """Refuse while an execution with both jobs is open. Its workflow may be named after any job of the unit."""
        unit = unit_of(edges, child)
        for job_id in sorted(() if unit is None else unit.jobs):
            active = await self._storage.queries.active_executions(workflow_id=unit_id(job_id))
            for execution in active:
                # An execution that cannot be read may contain both.
                if execution.error is not None or {child, parent} <= execution.jobs.keys():
                    raise WrongState(
                        f'an execution with "{child}" and "{parent}" has not ended',
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
