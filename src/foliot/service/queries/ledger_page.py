"""The ledger of one schedule in an interval, for a calendar."""

from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import DAY, Instant, from_datetime, to_datetime
from foliot.errors import InvalidInput
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.ports.ticks import LedgerFilter
from foliot.service.queries.account_view import AccountView, view_account
from foliot.service.queries.fires import NextFire, next_fires
from foliot.service.queries.job_row_view import StripTick, view_strip
from foliot.service.references import References

SPAN: Final = 21 * DAY
_COMING: Final = 100


class LedgerPage(msgspec.Struct, frozen=True, kw_only=True):
    """What the planned times of a schedule have become in an interval."""

    schedule_id: str
    job_id: str
    since: datetime
    until: datetime
    ticks: list[StripTick]
    """Rows that overlap the interval, oldest first. A range is one row."""
    is_complete: bool
    """False: there are more rows than the limit, and these are the newest ones."""
    counts: AccountView
    next: list[NextFire]
    """The next fire times, at most 100."""


class LedgerPageQuery:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._references = References(storage)
        self._clock = clock

    async def page(
        self, schedule_id: str, *, since: datetime | None = None, until: datetime | None = None, limit: int = 1_000
    ) -> LedgerPage:
        """Return the ledger in an interval, by default the last 21 days."""
        now = self._clock.now()
        end = now if until is None else from_datetime(until)
        begin = Instant(max(0, end - SPAN)) if since is None else from_datetime(since)
        if begin > end:
            raise InvalidInput("since is later than until", hint="Give the earlier time as since.", field="since")
        found = await self._queries.ledger(LedgerFilter(ScheduleId(schedule_id), begin, end, limit))
        if found is None:
            raise await self._references.no_schedule(schedule_id)
        return LedgerPage(
            schedule_id=schedule_id,
            job_id=found.schedule.revision.spec.target,
            since=to_datetime(begin),
            until=to_datetime(end),
            ticks=view_strip(found.ticks, found.states, now),
            is_complete=found.is_complete,
            counts=view_account(found.account, begin, end),
            next=next_fires([found.schedule], now, found.project_pause, _COMING),
        )
