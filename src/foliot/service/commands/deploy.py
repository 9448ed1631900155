"""Applies a whole set of definitions: all of it, or nothing if something is invalid.

    plan      read the stored definitions, compare (`domain.deploy.compare`), return what would change
    apply     plan, check, then: rename, put jobs and workflows, put schedules, delete removed schedules, disable
              removed jobs

Every step can be repeated: the next apply completes one that a crash interrupted, and two processes that apply the same
set at the same time end with the same result.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from foliot.domain.deploy.compare import compare
from foliot.domain.deploy.deployment import Action, Changes, Current, Declared, Refusal
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.workflow.jobs import jobs_of_all
from foliot.errors import InvalidInput, NotFound, OwnedElsewhere, RowUnreadable
from foliot.ports.storage import Storage
from foliot.ports.ticks import ScheduleLedger
from foliot.service.commands.jobs import JobService, check_job
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.workflows import WorkflowService
from foliot.service.notifications.urls import UrlSecrets
from foliot.service.paging import (
    PAGE,
    declared_schedules,
    page_with_errors,
    stored_jobs,
    stored_schedules,
    stored_workflows,
)


class Deployer:
    """Makes the stored definitions equal to the declared ones."""

    def __init__(
        self,
        storage: Storage,
        jobs: JobService,
        schedules: ScheduleService,
        workflows: WorkflowService,
        urls: UrlSecrets,
    ) -> None:
        self._urls = urls
        self._storage = storage
        self._jobs = jobs
        self._schedules = schedules
        self._workflows = workflows

    async def plan(self, declared: Declared) -> Changes:
        """Return what `apply` would change. Refusals are part of the result and are not raised."""
        jobs = [
            replace(job, spec=await self._urls.readable(job.spec))
            async for job in stored_jobs(self._storage)
            if declared.concerns(job.id, job.spec.source)
        ]
        # A declared schedule that cannot be read is put again, which repairs it.
        schedules = [
            schedule
            async for schedule in self._stored_schedules(declared)
            if declared.concerns(schedule.id, schedule.revision.spec.source)
            and (not schedule.is_unreadable or schedule.id not in declared.schedules)
        ]
        # The workflows that Foliot creates from dependencies are not declared.
        workflows = {
            version.workflow_id: version.spec
            async for version in stored_workflows(self._storage)
            if version.spec.source != "foliot" and declared.concerns(version.workflow_id, version.spec.source)
        }
        return compare(declared, Current.of(jobs, schedules, workflows))

    async def _stored_schedules(self, declared: Declared) -> AsyncIterator[Schedule]:
        """Yield all schedules that may matter to the comparison. There may be very many others."""
        if declared.renames:
            async for schedule in stored_schedules(self._storage):
                yield schedule
            return
        named = await self._storage.definitions.get_schedules(
            [*map(ScheduleId, {*declared.jobs, *declared.workflows, *declared.schedules})]
        )
        for schedule in named.values():
            yield schedule
        async for schedule in declared_schedules(self._storage):
            if schedule.id not in named:
                yield schedule

    async def apply(self, declared: Declared) -> Changes:
        """Apply the changes and return them. First refuse invalid definitions and those of another owner."""
        changes = await self.plan(declared)
        _refuse(changes.refusals)
        self._check(changes)
        await self._workflows.check(changes.workflows_to_put, declared)
        await self._check_targets(changes.schedules_to_put, declared)
        await self._check_gates(changes.jobs_to_put, declared)
        await self._save(changes)
        return changes

    def _check(self, changes: Changes) -> None:
        for job_id, spec in changes.jobs_to_put.items():
            check_job(job_id, spec)
        self._schedules.check(changes.schedules_to_put)

    async def _check_targets(self, schedules: Mapping[ScheduleId, ScheduleSpec], declared: Declared) -> None:
        ours = declared.jobs.keys() | declared.workflows.keys()
        wanted = {spec.job_id for spec in schedules.values() if spec.job_id is not None} - ours
        missing = sorted(wanted - (await self._storage.definitions.get_jobs(wanted)).keys())
        if missing:
            raise NotFound("job", missing[0], known=declared.jobs)

    async def _check_gates(self, jobs: Mapping[JobId, JobSpec], declared: Declared) -> None:
        """Refuse a gate on a job that is neither declared nor stored."""
        ours = declared.jobs.keys() | jobs_of_all(declared.workflows)
        wanted = {name for spec in jobs.values() if spec.gate is not None for name in spec.gate.depends_on} - ours
        missing = sorted(wanted - (await self._storage.definitions.get_jobs(wanted)).keys()) if wanted else []
        if missing:
            raise NotFound("job", missing[0], known=declared.jobs)

    async def _save(self, changes: Changes) -> None:
        gone = {change.id for change in changes.jobs if change.action is Action.REMOVED}
        wanted = {job_id: spec for job_id, spec in changes.jobs_to_put.items() if job_id not in gone}
        removed = {job_id: spec for job_id, spec in changes.jobs_to_put.items() if job_id in gone}
        await self._storage.definitions.rename_jobs(changes.renames)
        await self._jobs.put(wanted, coming=jobs_of_all(changes.workflows_to_put))
        await self._workflows.put(changes.workflows_to_put)
        await self._schedules.put(changes.schedules_to_put)
        await self._pause_again([change.id for change in changes.schedules if change.action is Action.CREATED])
        await self._storage.definitions.delete_schedules(changes.schedules_to_delete)
        await self._jobs.put(removed)

    async def _pause_again(self, created: Sequence[ScheduleId]) -> None:
        """Pause a created schedule whose deleted predecessor was paused: a definition never resumes a schedule."""
        paused: dict[ScheduleId, bool] = {}
        after: ScheduleUid | None = None
        while created and (page := await self._ledgers(created, after)):
            # Ordered by uid, so the newest deleted schedule comes last.
            known = [ledger for ledger in page if not isinstance(ledger, RowUnreadable)]
            gone = [ledger.schedule for ledger in known if ledger.deleted_at is not None]
            paused |= {schedule.id: schedule.paused_at is not None for schedule in gone}
            after = _uid(page[-1])
        await self._storage.definitions.pause_schedules(
            [name for name, was_paused in paused.items() if was_paused], paused=True
        )

    async def _ledgers(
        self, schedule_ids: Sequence[ScheduleId], after: ScheduleUid | None
    ) -> list[ScheduleLedger | RowUnreadable]:
        read = partial(self._storage.queries.ledgers, ids=schedule_ids)
        return await page_with_errors(read, _uid, after, PAGE)


def _uid(ledger: ScheduleLedger | RowUnreadable) -> ScheduleUid:
    return ScheduleUid(ledger.uid) if isinstance(ledger, RowUnreadable) else ledger.schedule.uid


def _refuse(refusals: Sequence[Refusal]) -> None:
    if refusals:
        facts = "; ".join(refusal.message for refusal in refusals)
        hint = " ".join(dict.fromkeys(refusal.hint for refusal in refusals))
        is_about_owners = any(refusal.owner for refusal in refusals)
        raise (OwnedElsewhere if is_about_owners else InvalidInput)(facts, hint=hint)
