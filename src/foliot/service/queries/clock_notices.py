"""Notices about clocks that were set, or that differ: their size, and what waits because of them."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from foliot.domain.clock import ClockFault, ClockFaultKind
from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.ports.health import ClockEffects
from foliot.service.queries.notice import BaseNotice, State


class WaitingSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule that does not fire until its next undecided tick."""

    schedule_id: str
    until: datetime | None


class WaitingLease(msgspec.Struct, frozen=True, kw_only=True):
    """A worker whose leases expire too late. If its process has ended, its runs are freed only at that time."""

    worker: str
    until: datetime


class ClockSetBack(BaseNotice, frozen=True, kw_only=True, tag="clock_set_back"):
    """The clock was set back: ticks that were decided are not decided again."""

    by: float
    """Seconds."""
    at: datetime | None
    """None: no process has noticed the step, but schedules have decided ticks in the future."""
    nodes: tuple[str, ...]
    """The processes that have noticed it."""
    until: datetime
    """When the clock shows its former time again."""
    schedules: tuple[WaitingSchedule, ...]
    leases: tuple[WaitingLease, ...]
    state: State = State.ATTENTION


class ClockSetForward(BaseNotice, frozen=True, kw_only=True, tag="clock_set_forward"):
    """The clock was set forward: the ticks in between were decided together, as after a downtime."""

    by: float
    """Seconds."""
    at: datetime
    nodes: tuple[str, ...]
    state: State = State.ATTENTION


class SkewedNode(msgspec.Struct, frozen=True, kw_only=True):
    node: str
    ahead: float
    """Seconds; negative if the clock is behind."""


class ClocksDiffer(BaseNotice, frozen=True, kw_only=True, tag="clocks_differ"):
    """Clocks of machines differ from that of the database by more than a few seconds."""

    nodes: tuple[SkewedNode, ...]
    state: State = State.ATTENTION


ClockNotice = ClockSetBack | ClockSetForward | ClocksDiffer


def is_set_back(faults: Sequence[ClockFault], now: Instant) -> bool:
    """Return whether a clock was set back and does not show its former time yet: then schedules may wait."""
    return any(fault.size < 0 for fault in _steps(faults, now))


def clock_notices(faults: Sequence[ClockFault], effects: ClockEffects | None, now: Instant) -> Iterator[ClockNotice]:
    back = [fault for fault in _steps(faults, now) if fault.size < 0]
    if back or (effects is not None and effects.schedules):
        yield _set_back(back, effects or ClockEffects((), ()), now)
    forward = [fault for fault in _steps(faults, now) if fault.size > 0]
    if forward:
        newest = max(forward, key=lambda fault: fault.at)
        yield ClockSetForward(by=_span(newest.size), at=to_datetime(newest.at), nodes=_nodes(forward))
    skewed = [fault for fault in faults if fault.kind is ClockFaultKind.SKEW and fault.is_current(now)]
    if skewed:
        yield ClocksDiffer(nodes=tuple(SkewedNode(node=one.node, ahead=_span(one.size)) for one in skewed))


def _steps(faults: Sequence[ClockFault], now: Instant) -> list[ClockFault]:
    return [fault for fault in faults if fault.kind is ClockFaultKind.STEP and fault.is_current(now)]


def _set_back(back: Sequence[ClockFault], effects: ClockEffects, now: Instant) -> ClockSetBack:
    """Return the largest step: several processes notice the same one. Decided ticks may reach further, after several
    steps."""
    largest = min(back, key=lambda fault: fault.size, default=None)
    until = max([fault.former_time for fault in back] + [schedule.settled_until for schedule in effects.schedules])
    return ClockSetBack(
        by=_span(until - now if largest is None else -largest.size),
        at=None if largest is None else to_datetime(largest.at),
        nodes=_nodes(back),
        until=to_datetime(Instant(until)),
        schedules=tuple(
            WaitingSchedule(schedule_id=one.id, until=None if one.wake_at is None else to_datetime(one.wake_at))
            for one in effects.schedules
        ),
        leases=tuple(WaitingLease(worker=one.worker, until=to_datetime(one.expires_at)) for one in effects.leases),
    )


def _nodes(faults: Sequence[ClockFault]) -> tuple[str, ...]:
    return tuple(sorted({fault.node for fault in faults}))


def _span(size: int) -> float:
    return size / SECOND
