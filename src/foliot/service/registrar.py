"""Registers jobs and schedules: checks everything, then stores it, or stores nothing."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from foliot.domain.edit import is_same_rule
from foliot.domain.ids import IdSource, JobId, ScheduleId, ScheduleUid
from foliot.domain.input.schedule import read_schedule
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.job import Job, JobSpec, check_name
from foliot.domain.payload import encode_payload
from foliot.domain.schedule import Schedule, ScheduleSpec, ScheduleType, canonical, check_schedule
from foliot.domain.timetable import Timetable
from foliot.errors import InvalidInput, InvalidSchedule, NotFound
from foliot.ports.clock import Clock
from foliot.ports.storage import Ledger, NewSchedule, Storage

PREVIEW = 5
_SUGGESTIONS = 1_000


class Upserted(NamedTuple):
    """The answer to `upsert_schedule`. `next_run_at` is None for a schedule that only people fire."""

    schedule_id: str
    next_run_at: datetime | None


class ScheduleView(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule as people see it, with its next fire times."""

    schedule_id: str
    schedule_type: str
    schedule_expr: str
    job_id: str | None
    workflow_id: str | None
    version: int | None
    user_id: str | None
    timezone: str
    start_at: datetime | None
    end_at: datetime | None
    next_run_at: datetime | None
    last_scheduled_at: datetime | None
    enabled: bool
    paused: bool
    jitter_ms: int
    overlap_policy: str
    catchup_policy: str
    created_at: datetime
    updated_at: datetime
    preview: list[datetime]
    """The next fire times as they are planned now, in the schedule's zone's instants, UTC."""

    @property
    def cron_expr(self) -> str | None:
        return self.schedule_expr if self.schedule_type == ScheduleType.CRON else None


class Registrar:
    """Puts definitions into the storage."""

    def __init__(self, storage: Storage, clock: Clock, ids: IdSource) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids

    async def put_jobs(self, jobs: Mapping[JobId, JobSpec]) -> list[Job]:
        """Create or replace jobs. One that is wrong refuses them all."""
        for job_id, spec in jobs.items():
            _check_job(job_id, spec)
        return await self._storage.jobs.put(list(jobs.items()))

    async def upsert_schedule(self, schedule_id: str | None = None, **fields: Any) -> Upserted:
        """Create or change one schedule; see `domain.input.schedule.schedule_spec` for the fields."""
        if schedule_id is not None and not isinstance(schedule_id, str):
            raise InvalidSchedule(f"schedule_id must be text, not {type(schedule_id).__name__}", field="schedule_id")
        chosen = ScheduleId(schedule_id or self._ids.make(self._clock.now()))
        [schedule] = await self.put_schedules({chosen: read_schedule(fields)})
        return Upserted(schedule.id, _moment(schedule.next_run_at))

    async def put_schedules(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> list[Schedule]:
        """Create or change schedules. One that is wrong refuses them all."""
        now = self._clock.now()
        specs = {schedule_id: canonical(spec, schedule_id) for schedule_id, spec in schedules.items()}
        known = await self._storage.schedules.get(specs)
        # What is there already and stays as it is need not be possible any more: a one-shot that has fired, say.
        changes = {
            schedule_id: spec
            for schedule_id, spec in specs.items()
            if schedule_id not in known or not is_same_rule(known[schedule_id], spec)
        }
        for schedule_id, spec in changes.items():
            _check(spec, schedule_id, now)
        await self._check_jobs(changes)
        uids = self._ids.batch(now, len(specs))
        return await self._storage.schedules.put(
            [
                NewSchedule(ScheduleUid(uid), schedule_id, spec)
                for uid, (schedule_id, spec) in zip(uids, specs.items(), strict=True)
            ]
        )

    async def pause_schedule(self, schedule_id: str, paused: bool) -> None:
        if not await self._storage.schedules.pause([ScheduleId(schedule_id)], paused=paused):
            raise await self._no_schedule(schedule_id)

    async def delete_schedule(self, schedule_id: str) -> None:
        if not await self._storage.schedules.delete([ScheduleId(schedule_id)]):
            raise await self._no_schedule(schedule_id)

    async def get_schedule(self, schedule_id: str) -> ScheduleView:
        ledgers = await self._storage.schedules.ledgers(ids=[ScheduleId(schedule_id)])
        living = [ledger for ledger in ledgers if ledger.deleted_at is None]
        if not living:
            raise await self._no_schedule(schedule_id)
        return view(living[-1], self._clock.now())

    async def schedule(self, schedule_id: str) -> Schedule:
        found = await self._storage.schedules.get([ScheduleId(schedule_id)])
        if ScheduleId(schedule_id) not in found:
            raise await self._no_schedule(schedule_id)
        return found[ScheduleId(schedule_id)]

    async def no_job(self, job_id: str) -> NotFound:
        known = [job.id for job in await self._storage.jobs.page(limit=_SUGGESTIONS)]
        return NotFound("job", job_id, known=known)

    async def _no_schedule(self, schedule_id: str) -> NotFound:
        known = [schedule.id for schedule in await self._storage.schedules.page(limit=_SUGGESTIONS)]
        return NotFound("schedule", schedule_id, known=known)

    async def _check_jobs(self, specs: Mapping[ScheduleId, ScheduleSpec]) -> None:
        """A schedule may name a workflow that is deployed later, but no job that is not there."""
        named = {spec.job_id for spec in specs.values() if spec.job_id is not None}
        missing = sorted(named - (await self._storage.jobs.get(named)).keys()) if named else []
        if missing:
            raise await self.no_job(missing[0])


def _check_job(job_id: JobId, spec: JobSpec) -> None:
    try:
        check_name("job_id", job_id)
        spec.check()
        encode_payload(spec.payload_template, what="payload_template")
    except InvalidInput as error:
        error.add_context(f"job {job_id[:64]!a}")
        raise


def _check(spec: ScheduleSpec, schedule_id: ScheduleId, now: Instant) -> None:
    try:
        check_schedule(spec, schedule_id, now)
        encode_payload(spec.payload)
    except InvalidInput as error:
        error.add_context(f"schedule {schedule_id[:64]!a}")
        raise


def view(ledger: Ledger, now: Instant) -> ScheduleView:
    schedule = ledger.schedule
    spec = schedule.revision.spec
    return ScheduleView(
        schedule_id=schedule.id,
        schedule_type=spec.type,
        schedule_expr=spec.expr,
        job_id=spec.job_id,
        workflow_id=spec.workflow_id,
        version=spec.version,
        user_id=spec.user_id,
        timezone=spec.timezone,
        start_at=_moment(spec.start_at),
        end_at=_moment(spec.end_at),
        next_run_at=_moment(schedule.next_run_at),
        last_scheduled_at=_moment(schedule.last_scheduled_at),
        enabled=schedule.enabled,
        paused=schedule.paused_at is not None,
        jitter_ms=spec.jitter,
        overlap_policy=spec.overlap,
        catchup_policy=spec.catchup,
        created_at=to_datetime(schedule.created_at),
        updated_at=to_datetime(schedule.updated_at),
        preview=[to_datetime(moment) for moment in upcoming(ledger, now)],
    )


def upcoming(ledger: Ledger, now: Instant, limit: int = PREVIEW) -> Sequence[Instant]:
    """When the schedule will fire next, were it not paused."""
    return Timetable(ledger.schedule.id, ledger.revisions).upcoming(now, limit)


def _moment(instant: Instant | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)
