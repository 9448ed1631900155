"""Explains a run, or a planned time of a schedule, from its tick to its exit."""

from datetime import datetime
from typing import Final

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import EARLIEST, LATEST, SECOND, Instant, from_datetime, to_datetime
from foliot.domain.run.reference import LAST, read_reference
from foliot.errors import InvalidInput
from foliot.ports.chains import ChainDetails
from foliot.ports.clock import Clock
from foliot.ports.pages import Explained, Matches
from foliot.ports.storage import Storage
from foliot.service.explain_path import RunPath, origin_of
from foliot.service.explain_tick import decided_stages, explain_decided, explain_undecided
from foliot.service.path import Change, ExplainedPath, Stage
from foliot.service.queries.chains import chain_of
from foliot.service.references import References

_NAMED: Final = 10
"""How many schedules of a job an error names."""


class ExplainQuery:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._references = References(storage)
        self._clock = clock

    async def run(self, reference: str) -> ExplainedPath:
        """Explain a run, given by its id, a part of it, `@last` or `JOB@last`; or the newest tick: `SCHEDULE@last`."""
        parsed = read_reference(reference)
        found = await self._queries.explained_run(parsed)
        if not isinstance(found, Matches):
            return await self._path(found)
        if reference.endswith(LAST) and (name := reference.removesuffix(LAST)):
            newest = await self._queries.explained_tick(ScheduleId(name), EARLIEST, LATEST)
            if newest is not None and newest.tick is not None and newest.tick.row is not None:
                return await self._path(newest)
        raise await self._references.no_single_run(reference, parsed, found)

    async def tick(self, schedule_id: str, at: datetime) -> ExplainedPath:
        """Explain a planned time of a schedule, or of the only schedule of a job. Compared in whole seconds."""
        since = Instant(from_datetime(at) // SECOND * SECOND)
        until = Instant(since + SECOND - 1)
        found = await self._queries.explained_tick(ScheduleId(schedule_id), since, until)
        if found is None:
            only = await self._only_schedule(schedule_id)
            found = await self._queries.explained_tick(only, since, until)
        if found is None:
            raise await self._references.no_schedule(schedule_id)
        return await self._path(found)

    async def _only_schedule(self, job_id: str) -> ScheduleId:
        schedules = (await self._queries.schedules(job_id=JobId(job_id), limit=_NAMED)).schedules
        match schedules:
            case []:
                raise await self._references.no_schedule(job_id)
            case [only]:
                return only.id
        names = ", ".join(schedule.id for schedule in schedules)
        raise InvalidInput(f"{job_id!a} has several schedules", hint=f"Name one of them: {names}.")

    async def _path(self, found: Explained) -> ExplainedPath:
        now = self._clock.now()
        run = None if found.run is None else found.run.run
        stages, change = _explain(found, None if run is None else await chain_of(self._queries, run), now)
        return ExplainedPath(
            at=to_datetime(now),
            run_id=None if run is None else run.id,
            job_id=None if run is None else run.job_id,
            status=None if run is None else run.status,
            stages=stages,
            change=change,
        )


def _explain(found: Explained, chain: ChainDetails | None, now: Instant) -> tuple[list[Stage], Change]:
    page, tick = found
    row = None if tick is None else tick.row
    if page is not None:
        origin = [origin_of(page, chain)] if tick is None or row is None else decided_stages(tick, row)
        return RunPath(page, chain).stages(origin)
    assert tick is not None
    return explain_undecided(tick, now) if row is None else explain_decided(tick, row)
