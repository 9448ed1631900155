"""Registers jobs and schedules: checks everything, then stores it, or stores nothing."""

import logging
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

from foliot.domain.edit import is_same_rule
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import IdSource, JobId, ScheduleId, ScheduleUid
from foliot.domain.input.schedule import read_schedule
from foliot.domain.input.words import flag
from foliot.domain.instant import Instant
from foliot.domain.job import Job, JobSpec, check_name, inherited, watched_by
from foliot.domain.payload import encode_payload
from foliot.domain.schedule import Schedule, ScheduleSpec, canonical, why_over
from foliot.domain.sharing import once_each
from foliot.domain.workflow.spec import GRAPH
from foliot.errors import InvalidInput, InvalidJob, InvalidSchedule, NotFound, RowUnreadable, shown
from foliot.ports.clock import Clock
from foliot.ports.definitions import NewSchedule
from foliot.ports.storage import Storage
from foliot.service.ownership import refuse_foreign, refuse_owned
from foliot.service.paging import (
    job_id_of,
    known_jobs,
    page_of_jobs,
    stored_jobs,
    stored_schedules,
    stored_workflows,
)
from foliot.service.views import ScheduleView, moment, view_ledger

log = logging.getLogger(__name__)

_SUGGESTIONS: Final = 1_000


class Upserted(NamedTuple):
    """The answer to `upsert_schedule`. `next_run_at` is None for a schedule that only people fire."""

    schedule_id: str
    next_run_at: datetime | None


class _Asked(NamedTuple):
    """Schedules somebody wants stored, and those that are stored under their ids."""

    specs: Mapping[ScheduleId, ScheduleSpec]
    known: Mapping[ScheduleId, Schedule]
    changes: Mapping[ScheduleId, ScheduleSpec]
    """What is there already and stays as it is need not be possible any more: a one-shot that has fired, say."""


class Registrar:
    """Puts definitions into the storage."""

    def __init__(self, storage: Storage, clock: Clock, ids: IdSource) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids

    async def put_jobs(self, jobs: Mapping[JobId, JobSpec], *, coming: Collection[JobId] = ()) -> list[Job]:
        """Create or replace jobs. One that is wrong refuses them all. What is `coming` may be depended on already."""
        for job_id, spec in jobs.items():
            check_job(job_id, spec)
        known = await known_jobs(self._storage, jobs)
        refuse_foreign("job", ((job_id, job.spec.source, jobs[job_id].source) for job_id, job in known.items()))
        await self._check_gates(jobs, {*jobs, *coming})
        before = {job_id: job.spec for job_id, job in known.items()}
        kept = [(job_id, inherited(spec, before.get(job_id))) for job_id, spec in jobs.items()]
        stored = await self._storage.jobs.put(kept)
        watched = watched_by(jobs)
        if watched:
            await self._storage.runs.watch(watched)
        return stored

    async def _check_gates(self, jobs: Mapping[JobId, JobSpec], coming: Collection[JobId]) -> None:
        """A job may depend on those that exist, or are put together with it."""
        named = {name for spec in jobs.values() if spec.gate is not None for name in spec.gate.depends_on}
        await self._refuse_missing(named.difference(coming))

    async def upsert_schedule(
        self, schedule_id: str | None = None, *, paused: bool | None = None, **fields: Any
    ) -> Upserted:
        """Create or change one schedule; see `domain.input.schedule.read_schedule` for the fields.

        One that is paused stays so unless `paused` says otherwise. To pause and to change are two writes, in the order
        in which nothing fires in between that should not; only a new one exists for an instant before it is paused.
        """
        _check_kinds(schedule_id, paused)
        chosen = ScheduleId(schedule_id or self._ids.make(self._clock.now()))
        prepared = await self.prepare_schedules({chosen: read_schedule(fields)})
        if paused:
            with suppress(RowUnreadable):
                await self._storage.schedules.pause([chosen], paused=True)
        [schedule] = await self._storage.schedules.put(prepared)
        if paused is not None:
            [schedule] = await self._storage.schedules.pause([chosen], paused=paused) or [schedule]
        return Upserted(schedule.id, moment(schedule.next_run_at))

    async def put_schedules(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> list[Schedule]:
        """Create or change schedules. One that is wrong refuses them all."""
        return await self._storage.schedules.put(await self.prepare_schedules(schedules))

    async def declare_schedules(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> list[Schedule]:
        """The same for what code declares at every start, which must not keep it from starting one day.

        A schedule whose time is over was right once. It is told of, changed where it is stored, and not created.
        """
        asked = await self._compare(schedules)
        over = self._over(asked.changes)
        _tell_of(over, asked.known)
        await self._check_changes(asked)
        wanted = {name: spec for name, spec in asked.specs.items() if name in asked.known or name not in over}
        return await self._storage.schedules.put(self._with_uids(wanted))

    async def prepare_schedules(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> list[NewSchedule]:
        """Schedules as they can be stored. One that is wrong refuses them all."""
        asked = await self._compare(schedules)
        self.check_schedules(asked.changes)
        await self._check_changes(asked)
        return self._with_uids(asked.specs)

    async def _compare(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> _Asked:
        plain = once_each(canonical, schedules.values())
        specs = {schedule_id: plain(spec, schedule_id) for schedule_id, spec in schedules.items()}
        known = await self._storage.schedules.get(specs)
        changes = {
            schedule_id: spec
            for schedule_id, spec in specs.items()
            if schedule_id not in known or not is_same_rule(known[schedule_id], spec)
        }
        return _Asked(specs, known, changes)

    async def _check_changes(self, asked: _Asked) -> None:
        """Nothing changes that somebody else owns, or for a job that is not there."""
        owners = {name: schedule.revision.spec.source for name, schedule in asked.known.items()}
        changed = [(name, owners[name], spec.source) for name, spec in asked.changes.items() if name in owners]
        refuse_foreign("schedule", changed)
        await self._check_jobs(asked.changes)

    def _with_uids(self, specs: Mapping[ScheduleId, ScheduleSpec]) -> list[NewSchedule]:
        uids = map(ScheduleUid, self._ids.batch(self._clock.now(), len(specs)))
        return [*map(NewSchedule, uids, specs.keys(), specs.values())]

    def check_schedules(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> None:
        """Refuse schedules that could not be kept if they were saved now."""
        _refuse(self._over(schedules))

    def _over(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> dict[ScheduleId, InvalidInput]:
        """Those that cannot fire any more, and why. Those that never could are refused."""
        why = once_each(partial(_why_over, now=self._clock.now()), schedules.values())
        over: dict[ScheduleId, InvalidInput] = {}
        for schedule_id, spec in schedules.items():
            try:
                check_name("schedule_id", schedule_id, InvalidSchedule)
                error = why(spec, schedule_id)
            except InvalidInput as refusal:
                refusal.add_context(f"schedule {schedule_id[:64]!a}")
                raise
            if error is not None:
                over[schedule_id] = error
        return over

    async def pause_schedule(self, schedule_id: str, paused: bool) -> None:
        flag(paused, "paused", InvalidSchedule)
        if not await self._storage.schedules.pause([ScheduleId(schedule_id)], paused=paused):
            raise await self._no_schedule(schedule_id)

    async def delete_schedule(self, schedule_id: str, *, force: bool = False) -> None:
        """Delete a schedule; with `force` also one that was defined in a file or in code."""
        schedule = await self.schedule(schedule_id)
        refuse_owned("schedule", schedule.id, schedule.revision.spec.source, force=force)
        if not await self._storage.schedules.delete([schedule.id]):
            raise await self._no_schedule(schedule_id)

    async def pause_job(self, job_id: str, paused: bool = True) -> list[ScheduleId]:
        """Pause or resume all schedules of a job, whoever owns it; their ids come back."""
        flag(paused, "paused", InvalidSchedule)
        job = await self.job(job_id)
        names = [schedule.id async for schedule in stored_schedules(self._storage, job.id)]
        return [schedule.id for schedule in await self._storage.schedules.pause(names, paused=paused)]

    async def delete_job(self, job_id: str, *, force: bool = False) -> None:
        """Delete a job with its schedules, and cancel its runs that have not started. Its history is kept.

        With `force` also one that was defined in a file or in code.
        """
        try:
            job = await self.job(job_id)
        except RowUnreadable:
            # Nobody can say whose it is: that is what force is for.
            if not force:
                raise
        else:
            _check_deletion(job, force=force)
        await self.refuse_needed([JobId(job_id)])
        if not await self._storage.jobs.delete([JobId(job_id)]):
            raise await self.no_job(job_id)

    async def job(self, job_id: str) -> Job:
        found = await self._storage.jobs.get([JobId(job_id)])
        if JobId(job_id) not in found:
            raise await self.no_job(job_id)
        return found[JobId(job_id)]

    async def refuse_needed(self, job_ids: Collection[JobId]) -> None:
        """Nothing may depend on jobs that are not there, except what goes with them."""
        doomed = set(job_ids)
        needs: list[tuple[JobId, str]] = []
        needs += [(job, name) async for name, gate in self._gates() if name not in doomed for job in gate.depends_on]
        async for version in stored_workflows(self._storage):
            if version.spec.source != "foliot" and version.workflow_id not in doomed:
                needs += [(step.job, version.workflow_id) for step in version.spec.steps if step.job is not None]
        needed = next((job for job, _ in needs if job in doomed), None)
        if needed is not None:
            users = dict.fromkeys(user for job, user in needs if job == needed)
            raise InvalidJob(
                f'job "{needed}" is needed by {", ".join([*users][:10])}',
                hint="Change or delete these first, or disable the job instead.",
                field="job_id",
            )

    async def _gates(self) -> AsyncIterator[tuple[JobId, Gate]]:
        async for job in stored_jobs(self._storage):
            if job.spec.gate is not None:
                yield job.id, job.spec.gate

    async def get_schedule(self, schedule_id: str) -> ScheduleView:
        ledger = await self._storage.schedules.ledger(ScheduleId(schedule_id))
        if ledger is None:
            raise await self._no_schedule(schedule_id)
        return view_ledger(ledger, self._clock.now())

    async def schedule(self, schedule_id: str) -> Schedule:
        found = await self._storage.schedules.get([ScheduleId(schedule_id)])
        if ScheduleId(schedule_id) not in found:
            raise await self._no_schedule(schedule_id)
        return found[ScheduleId(schedule_id)]

    async def no_job(self, job_id: str) -> NotFound:
        known = [job_id_of(job) for job in await page_of_jobs(self._storage, None, _SUGGESTIONS)]
        return NotFound("job", job_id, known=known)

    async def _no_schedule(self, schedule_id: str) -> NotFound:
        known = [schedule.id for schedule in await self._storage.schedules.page(limit=_SUGGESTIONS)]
        return NotFound("schedule", schedule_id, known=known)

    async def _check_jobs(self, specs: Mapping[ScheduleId, ScheduleSpec]) -> None:
        """A schedule may name a workflow that is deployed later, but no job that is not there."""
        await self._refuse_missing({spec.job_id for spec in specs.values() if spec.job_id is not None})

    async def _refuse_missing(self, named: set[JobId]) -> None:
        missing = sorted(named - (await self._storage.jobs.get(named)).keys()) if named else []
        if missing:
            raise await self.no_job(missing[0])


def check_job(job_id: JobId, spec: JobSpec) -> None:
    try:
        check_name("job_id", job_id)
        spec.check()
        if spec.gate is not None:
            spec.gate.check(job_id)
        encode_payload(spec.payload_template, what="payload_template")
    except InvalidInput as error:
        error.add_context(f"job {job_id[:64]!a}")
        raise


def _check_kinds(schedule_id: object, paused: object) -> None:
    """Refuse what somebody gives who is not held to our types."""
    if schedule_id is not None and not isinstance(schedule_id, str):
        raise InvalidSchedule(
            f"schedule_id must be text, not {type(schedule_id).__name__}",
            hint="Write it in quotes, or leave it out to be given one.",
            field="schedule_id",
        )
    if paused is not None and not isinstance(paused, bool):
        raise InvalidSchedule(
            f"paused must be true or false, not {shown(paused)}",
            hint="Leave it out to keep it as it is.",
            field="paused",
        )


def _check_deletion(job: Job, *, force: bool) -> None:
    refuse_owned("job", job.id, job.spec.source, force=force)
    if job.spec.kind == GRAPH:
        raise InvalidJob(
            f'"{job.id}" is a workflow',
            hint="Delete it, steps and all, with delete_workflow or: foliot workflows delete",
            field="job_id",
        )


def _refuse(over: Mapping[ScheduleId, InvalidInput]) -> None:
    for schedule_id, error in over.items():
        error.add_context(f"schedule {schedule_id[:64]!a}")
        raise error


def _tell_of(over: Mapping[ScheduleId, InvalidInput], known: Collection[ScheduleId]) -> None:
    for schedule_id, error in over.items():
        hint = "Remove it, or give it a later time."
        facts = {"schedule": schedule_id, "problem": f"it will not fire any more: {error.message}"}
        log.warning("schedule_is_over", extra={**facts, "is_stored": schedule_id in known, "hint": hint})


def _why_over(spec: ScheduleSpec, schedule_id: ScheduleId, *, now: Instant) -> InvalidInput | None:
    """Why a schedule cannot be kept any more. One that never could is refused."""
    encode_payload(spec.payload)
    return why_over(spec, schedule_id, now)
