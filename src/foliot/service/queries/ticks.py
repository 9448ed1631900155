"""Queries about ticks."""

from collections.abc import Collection
from datetime import datetime

from foliot.domain.instant import from_datetime
from foliot.domain.schedule.tick import TickOutcome
from foliot.ports.storage import Storage
from foliot.ports.ticks import TickFilter, TickPage
from foliot.service.queries.schedule_view import TickView, view_tick
from foliot.service.references import References


class TickQueries:
    def __init__(self, storage: Storage) -> None:
        self._queries = storage.queries
        self._references = References(storage)

    async def newest(
        self,
        name: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        outcomes: Collection[TickOutcome] = (),
        has_failed_run: bool = False,
        limit: int = 50,
    ) -> list[TickView]:
        """Return rows of the ledgers, newest first: of a schedule, of a job or workflow, or of all schedules.

        `outcomes`: only these. `has_failed_run`: also, or without outcomes only, ticks whose run failed or timed out.
        """
        only = TickFilter(name=name, outcomes=frozenset(outcomes), has_failed_run=has_failed_run, limit=limit)
        if since is not None:
            only = only._replace(since=from_datetime(since))
        if until is not None:
            only = only._replace(until=from_datetime(until))
        page = await self._queries.tick_page(only)
        if page is None:
            raise await self._references.nothing(name or "", "job or schedule")
        return view_tick_page(page)


def view_tick_page(page: TickPage) -> list[TickView]:
    return [
        view_tick(tick.schedule_id, tick.row, page.runs.get(tick.row.record.run_id) if tick.row.record.run_id else None)
        for tick in page.ticks
    ]
