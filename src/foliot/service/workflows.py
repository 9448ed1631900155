"""Registers and deploys workflows, and tells which there are."""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from foliot.domain.deployment import FILE, Declared
from foliot.domain.edit import is_same_rule
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.words import flag
from foliot.domain.job import JobSpec
from foliot.domain.schedule import Schedule, ScheduleSpec, canonical
from foliot.domain.workflow.checking import check_workflow, names_around
from foliot.domain.workflow.dependencies import EDGES
from foliot.domain.workflow.jobs import GRAPH, PART_SOURCE, jobs_of_all
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidSchedule, NotFound, RowUnreadable
from foliot.ports.definitions import Deployment
from foliot.ports.executions import WorkflowVersion
from foliot.ports.storage import Storage
from foliot.service.ownership import refuse_foreign, refuse_owned
from foliot.service.paging import (
    known_jobs,
    page_of_jobs,
    page_of_workflows,
    stored_schedules,
    workflow_id_of,
)
from foliot.service.registrar import Registrar
from foliot.service.rivals import Rivals

log = logging.getLogger(__name__)

_SUGGESTIONS: Final = 1_000


class Deployed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a workflow that was deployed. One that says what is stored already keeps its version."""

    workflow_id: str
    version: int
    schedules: list[str]
    """The ids of those that came with it."""
    warnings: list[str]


class Workflows:
    """Where workflows are asked for."""

    def __init__(self, storage: Storage, registrar: Registrar) -> None:
        self._storage = storage
        self._registrar = registrar

    async def register(self, workflows: Mapping[str, WorkflowSpec]) -> dict[str, WorkflowVersion]:
        """Store workflows with the jobs behind them. One that is wrong refuses all; an equal one changes nothing."""
        await self.check(workflows)
        return await self._storage.workflows.deploy(Deployment(workflows))

    async def deploy(
        self,
        workflow_id: str,
        spec: WorkflowSpec,
        schedules: Mapping[ScheduleId, ScheduleSpec],
        *,
        past: Collection[ScheduleId] = (),
        warn: Sequence[str] = (),
    ) -> Deployed:
        """Store a workflow with its schedules; what it was deployed with before and has no longer is deleted.

        All of it, or nothing. Those in `past` cannot fire any more: they stay if they are stored, and are not created.
        """
        await self.check({workflow_id: spec})
        await self._refuse_taken(workflow_id, schedules)
        stored = {one.id: one async for one in stored_schedules(self._storage, JobId(workflow_id))}
        wanted = {name: one for name, one in schedules.items() if name not in past or _is_stored(name, one, stored)}
        gone = [name for name, one in stored.items() if _came_with_it(one) and name not in wanted]
        new = await self._registrar.prepare_schedules(wanted)
        versions = await self._storage.workflows.deploy(Deployment({workflow_id: spec}, new, gone))
        return Deployed(
            workflow_id=workflow_id,
            version=versions[workflow_id].version,
            schedules=[*wanted],
            warnings=[*warn],
        )

    async def delete(self, workflow_id: str, *, force: bool = False) -> set[JobId]:
        """Delete a workflow, its schedules and the jobs of its steps, whose names come back.

        Executions that have begun go on, those that have not are cancelled, and history is kept. With `force` also one
        that was defined in a file or in code.
        """
        try:
            newest = await self.get(workflow_id)
        except RowUnreadable:
            # Nobody can say whose it is: that is what force is for.
            if not force:
                raise
        else:
            refuse_owned("workflow", workflow_id, newest.spec.source, force=force)
        behind = await self._storage.workflows.behind(workflow_id)
        await self._registrar.refuse_needed(behind.jobs)
        if not await self._storage.workflows.delete([workflow_id]):
            raise NotFound("workflow", workflow_id)
        for name in sorted(behind.doubtful):
            log.warning("job_left_behind", extra={"job": name, "workflow": workflow_id, "reason": "unreadable"})
        return behind.jobs

    async def own_schedules(self, workflow_id: str) -> dict[ScheduleId, ScheduleSpec]:
        """The schedules that were defined with a workflow, not those that people added."""
        found = {one.id: one.revision.spec async for one in stored_schedules(self._storage, JobId(workflow_id))}
        return {name: spec for name, spec in found.items() if spec.source in (PART_SOURCE, FILE)}

    async def check(self, workflows: Mapping[str, WorkflowSpec], declared: Declared | None = None) -> None:
        """Refuse workflows that cannot be walked through. `declared` is what is to be stored with them."""
        around = declared or Declared(workflows=workflows)
        coming = around.jobs.keys() | jobs_of_all(around.workflows)
        rivals = Rivals(self._storage, around.workflows)
        for workflow_id, spec in workflows.items():
            jobs = {**await self.jobs_named(names_around(workflow_id, spec), besides=coming), **around.jobs}
            refuse_foreign("workflow", _owners(workflow_id, spec, jobs))
            taken = await rivals.taken(workflow_id, spec)
            check_workflow(workflow_id, spec, jobs, watchable=jobs.keys() | coming, taken=taken)

    async def jobs_named(self, names: Collection[JobId], besides: Collection[JobId] = ()) -> dict[JobId, JobSpec]:
        """Those of the jobs that exist; if one does not, others too: one of them was probably meant."""
        others = set(names).difference(besides)
        found = await self._storage.jobs.get(others)
        if others - found.keys():
            page = await page_of_jobs(self._storage, None, _SUGGESTIONS)
            found = {job.id: job for job in page if not isinstance(job, RowUnreadable)} | found
        # What is put in the place of one that cannot be read mends it.
        found |= await known_jobs(self._storage, set(names).intersection(besides))
        return {job_id: job.spec for job_id, job in found.items()}

    async def _refuse_taken(self, workflow_id: str, schedules: Mapping[ScheduleId, ScheduleSpec]) -> None:
        """A schedule of something else does not become one of this workflow's."""
        for schedule_id, known in (await self._storage.schedules.get(schedules)).items():
            # Of one that says nowhere whose it is, nobody is asked: another takes its place.
            if known.revision.spec.target not in ("", workflow_id):
                raise InvalidSchedule(
                    f'schedule "{schedule_id}" belongs to "{known.revision.spec.target}"',
                    hint="Delete that one, or give the schedule of the workflow another name.",
                    field="name",
                )

    async def get(self, workflow_id: str, version: int | None = None) -> WorkflowVersion:
        """The newest version, or the one that is asked for."""
        found = await self._storage.workflows.get([(workflow_id, version)])
        if (workflow_id, version) not in found:
            known = [workflow_id_of(known) for known in await self.page(limit=_SUGGESTIONS)]
            name = workflow_id if version is None else f"{workflow_id} version {version}"
            raise NotFound("workflow", name, known=known)
        return found[workflow_id, version]

    async def exists(self, workflow_id: str) -> bool:
        return bool(await self._storage.workflows.get([(workflow_id, None)]))

    async def page(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowVersion | RowUnreadable]:
        """The newest version of each workflow, by id; without the list of edges between jobs, which is kept as one.

        An error stands in the place of each that cannot be read.
        """
        found = await page_of_workflows(self._storage, after, limit)
        return [version for version in found if workflow_id_of(version) != EDGES]

    async def pause_step(self, workflow_id: str, step: str, *, paused: bool = True) -> None:
        """Let executions that reach the step skip it, or no longer."""
        flag(paused, "paused")
        version = await self.get(workflow_id)
        names = [known.name for known in version.spec.steps]
        if step not in names:
            raise NotFound("step", step, known=names)
        await self._storage.workflows.pause_step(workflow_id, step, paused=paused)


def _came_with_it(schedule: Schedule) -> bool:
    return schedule.revision.spec.source == PART_SOURCE


def _is_stored(schedule_id: ScheduleId, spec: ScheduleSpec, stored: Mapping[ScheduleId, Schedule]) -> bool:
    return schedule_id in stored and is_same_rule(stored[schedule_id], canonical(spec, schedule_id))


def _owners(workflow_id: str, spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[tuple[str, str, str]]:
    """Who has a workflow of that name, and who wants it."""
    known = jobs.get(JobId(workflow_id))
    if known is not None and known.kind == GRAPH:
        yield workflow_id, known.source, spec.source
