"""Explains a cron expression: in words, with its next fire times, clock changes, warnings and collisions."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from foliot.domain import cron
from foliot.domain.instant import Instant, from_datetime, to_datetime
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.service.queries.fires import fires_at

_COMPARED: Final = 200
"""How many schedules are compared with the expression."""
_TIMES: Final = 20
"""How many fire times are compared."""
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


class Fire(msgspec.Struct, frozen=True, kw_only=True):
    """A planned time, in the time zone of the expression."""

    at: datetime
    zone: str
    """The abbreviation of the time zone then, such as CET or CEST."""
    note: str
    """What a clock change before this time has changed, or empty."""


class Collision(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    schedules: list[str]
    """Other schedules that fire at the same time."""


class CronExplanation(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool
    expression: str
    description: str
    """The expression in words."""
    timezone: str
    next: datetime | None
    """The first of the fire times. None: it never fires by itself."""
    fires: list[Fire]
    warnings: tuple[str, ...]
    """What is valid but probably not meant."""
    collisions: list[Collision]


class CronQuery:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._clock = clock

    async def explain(
        self,
        expression: str,
        timezone: str | None = None,
        *,
        count: int = 5,
        start: datetime | None = None,
        dst: cron.Dst = "vixie",
        dom_dow: cron.DomDow = "or",
        key: str | None = None,
        with_collisions: bool = False,
    ) -> CronExplanation:
        """Explain an expression. InvalidCron has the position of an error. `key`: the name that H is computed from."""
        begin = to_datetime(self._clock.now()) if start is None else start
        compiled = cron.compile(expression, timezone, dst=dst, dom_dow=dom_dow, key=key, anchor=begin)
        times = compiled.between(begin, _LATEST, count)
        return CronExplanation(
            ok=True,
            expression=expression,
            description=compiled.describe(),
            timezone=compiled.timezone,
            next=times[0] if times else None,
            fires=_fires(times, begin),
            warnings=compiled.warnings,
            collisions=await self._collisions(times) if with_collisions else [],
        )

    async def _collisions(self, times: Sequence[datetime]) -> list[Collision]:
        """Return which of the first schedules fire at the first of these times."""
        found = await self._queries.schedules(limit=_COMPARED)
        now, moments = self._clock.now(), [from_datetime(at) for at in times[:_TIMES]]
        by_time: dict[Instant, list[str]] = {}
        for schedule in found.schedules:
            for at in fires_at(schedule, moments, now, found.project_pause):
                by_time.setdefault(at, []).append(schedule.id)
        return [
            Collision(at=at, schedules=by_time[moment])
            for at, moment in zip(times, moments, strict=False)
            if moment in by_time
        ]


def _fires(times: Sequence[datetime], begin: datetime) -> list[Fire]:
    fires: list[Fire] = []
    before = begin.astimezone(times[0].tzinfo).utcoffset() if times else None
    for at in times:
        after = at.utcoffset()
        note = "" if after == before else f"the clock was changed from {_offset(before)} to {_offset(after)}"
        fires.append(Fire(at=at, zone=at.tzname() or "", note=note))
        before = after
    return fires


def _offset(offset: timedelta | None) -> str:
    """Return an offset from UTC as text: +02:00."""
    minutes = round((offset or timedelta()) / timedelta(minutes=1))
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
