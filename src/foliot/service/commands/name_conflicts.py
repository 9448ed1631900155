"""Names of workflows and steps that are already in use. A step is stored as a job, and job ids are unique."""

from collections.abc import Collection, Mapping

from foliot.domain.ids import JobId
from foliot.domain.job.job import Job
from foliot.domain.workflow.jobs import PART_SOURCE, job_names, possible_conflicts
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import RowUnreadable
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.storage import Storage
from foliot.service.paging import found_with_errors, known_jobs, versions_with_errors


class NameConflicts:
    """Compares the names of a workflow with stored workflows and with those that are stored together with it."""

    def __init__(self, storage: Storage, coming: Mapping[str, WorkflowSpec]) -> None:
        self._storage = storage
        self._coming = _names_of(coming)

    async def taken(self, workflow_id: str, spec: WorkflowSpec) -> dict[JobId, str]:
        """Return the new names of a workflow that are in use, each with what uses it.

        Former versions count: their jobs are stored, and executions of them may be open. Names that the workflow
        already has are not new.
        """
        rivals = [(name, None) for name in possible_conflicts(workflow_id, spec)]
        found = await versions_with_errors(self._storage, [(workflow_id, None), *rivals])
        own = found.pop((workflow_id, None), None)
        new = {*job_names(workflow_id, spec)}
        if isinstance(own, WorkflowVersion):
            new -= job_names(workflow_id, own.spec).keys()
        if not new:
            return {}
        others = self._coming_beside(workflow_id, new)
        unreadable = []
        for (rival, _), newest in found.items():
            for one in await self._versions(newest):
                if isinstance(one, RowUnreadable):
                    unreadable.append(rival)
                else:
                    others |= job_names(rival, one.spec)
        if unreadable:
            others = await self._maybe_taken(new, unreadable, own) | others
        others = await self._unreadable_jobs(workflow_id, new) | others
        return {name: what for name, what in others.items() if name in new}

    async def _unreadable_jobs(self, workflow_id: str, names: set[JobId]) -> dict[JobId, str]:
        """Return jobs that cannot be read and are not known to belong to the workflow."""
        stored: dict[JobId, Job | RowUnreadable] = await found_with_errors(self._storage.definitions.get_jobs, [*names])
        unreadable = {name for name, job in stored.items() if isinstance(job, RowUnreadable)}
        if not unreadable:
            return {}
        behind = await self._storage.definitions.jobs_behind(workflow_id)
        return dict.fromkeys(unreadable - behind.jobs, "a job that cannot be read")

    def _coming_beside(self, workflow_id: str, names: set[JobId]) -> dict[JobId, str]:
        coming = {name: self._coming[name] for name in names if name in self._coming}
        return {name: what for name, (owner, what) in coming.items() if owner != workflow_id}

    async def _maybe_taken(
        self, names: set[JobId], rivals: Collection[str], own: WorkflowVersion | RowUnreadable | None
    ) -> dict[JobId, str]:
        """Return jobs of steps that unreadable workflows may have named, without those of `own`."""
        if isinstance(own, RowUnreadable):
            # The names may be its own; refusing them would make it impossible to replace it.
            return {}
        former = [] if own is None else await self._versions(own)
        readable = [one for one in former if not isinstance(one, RowUnreadable)]
        had = {name for one in readable for name in job_names(one.workflow_id, one.spec)}
        stored = await known_jobs(self._storage, names - had)
        parts = [name for name, job in stored.items() if job.spec.source == PART_SOURCE]
        return {
            name: f'a step of workflow "{rival[:64]}", which cannot be read'
            for rival in sorted(rivals)
            for name in parts
            if name.startswith(f"{rival}.")
        }

    async def _versions(self, newest: WorkflowVersion | RowUnreadable) -> list[WorkflowVersion | RowUnreadable]:
        """Return all versions of a workflow, or only the newest if that cannot be read."""
        if isinstance(newest, RowUnreadable):
            return [newest]
        numbers = [(newest.workflow_id, number + 1) for number in range(newest.version)]
        return [*(await versions_with_errors(self._storage, numbers)).values()]


def _names_of(workflows: Mapping[str, WorkflowSpec]) -> Mapping[JobId, tuple[str, str]]:
    """Return each name with its workflow and a description of what uses it. Of two workflows, the first is returned."""
    users: dict[JobId, tuple[str, str]] = {}
    for workflow_id, spec in workflows.items():
        for name, what in job_names(workflow_id, spec).items():
            users.setdefault(name, (workflow_id, what))
    return users
