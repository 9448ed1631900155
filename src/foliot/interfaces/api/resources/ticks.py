"""Ticks: planned times of schedules and their outcomes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Final

import msgspec

from foliot.domain.access.role import Permission
from foliot.domain.instant import Instant, from_datetime, to_datetime
from foliot.domain.schedule.tick import TickOutcome
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.paging import PageQuery, cursor_after, number_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Page
from foliot.service.queries.ledger_page import LedgerPage
from foliot.service.queries.schedule_view import TickView

_MOST_AT_ONCE: Final = 10_000
"""How many ticks of one moment a page may have: those of all schedules at one time are one page."""
_OUTCOME: Final = "|".join(TickOutcome)
Outcomes = Annotated[str, msgspec.Meta(pattern=f"^({_OUTCOME})(,({_OUTCOME}))*$", max_length=200)]


class TicksQuery(PageQuery, frozen=True, kw_only=True):
    since: datetime | None = None
    until: datetime | None = None
    outcome: TickOutcome | None = None
    outcomes: Outcomes | None = None
    """Several, separated by commas."""
    failed: bool = False
    """Those whose run failed or timed out; with `outcome` in addition to those."""


class AllTicksQuery(TicksQuery, frozen=True, kw_only=True):
    name: str | None = None
    """A job, a workflow or a schedule."""


class LedgerQuery(Parameters, frozen=True, kw_only=True):
    since: datetime | None = None
    until: datetime | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="How many rows the answer has at most.")] = 1_000


@ROUTES.get(
    "/api/ticks",
    permission=Permission.READ,
    summary="List ticks, newest first.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def list_ticks(call: Call, query: AllTicksQuery) -> Page[TickView]:
    return await _page(call, query.name, query)


@ROUTES.get(
    "/api/schedules/{schedule_id}/ticks",
    permission=Permission.READ,
    summary="List the ticks of a schedule, newest first.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def list_ticks_of_schedule(call: Call, schedule_id: str, query: TicksQuery) -> Page[TickView]:
    return await _page(call, schedule_id, query)


@ROUTES.get(
    "/api/schedules/{schedule_id}/ledger",
    permission=Permission.READ,
    summary="Return the ticks of a schedule in an interval, by default the last 21 days, with counts per outcome.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def get_ledger(call: Call, schedule_id: str, query: LedgerQuery) -> LedgerPage:
    return await call.services.queries.ledger_page.page(
        schedule_id, since=query.since, until=query.until, limit=query.limit
    )


async def _page(call: Call, name: str | None, query: TicksQuery) -> Page[TickView]:
    before = number_cursor(query.cursor)
    until = query.until if before is None else to_datetime(Instant(before)) - timedelta(milliseconds=1)

    async def read(limit: int) -> list[TickView]:
        return await call.services.queries.ticks.newest(
            name,
            since=query.since,
            until=until,
            outcomes=_outcomes(query),
            has_failed_run=query.failed,
            limit=limit,
        )

    found = await read(query.limit + 1)
    if len(found) <= query.limit:
        return Page(items=found, next=None)
    items = _before_last_moment(found)
    if not items:
        found = await read(_MOST_AT_ONCE)
        items = [tick for tick in found if tick.scheduled_for == found[0].scheduled_for]
    return Page(items=items, next=cursor_after(from_datetime(items[-1].scheduled_for)))


def _outcomes(query: TicksQuery) -> list[TickOutcome]:
    named = [] if query.outcomes is None else [TickOutcome(word) for word in query.outcomes.split(",")]
    return named if query.outcome is None else [*named, query.outcome]


def _before_last_moment(found: Sequence[TickView]) -> list[TickView]:
    """Return the ticks without those of the last moment, of which there may be more: pages end between two moments."""
    return [tick for tick in found if tick.scheduled_for != found[-1].scheduled_for]
