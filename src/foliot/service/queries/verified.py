"""The result of checking all ledgers: how much was checked, and what is wrong."""

from datetime import datetime

import msgspec

from foliot.domain.audit import Fault, Finding
from foliot.domain.instant import LATEST, Instant, to_datetime


class FindingView(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of a ledger, or of another row."""

    schedule_id: str | None
    """None: the row belongs to no schedule."""
    fault: Fault
    first: datetime
    last: datetime
    count: int
    """How many planned times are affected."""
    run_id: str | None
    row: str | None
    """Which row cannot be read, and why."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """How much was checked, and what is wrong."""

    is_sound: bool
    schedules: int
    ticks: int
    """The planned times, those in ranges included."""
    unsound_schedules: int
    other_rows: int
    """Unreadable rows that belong to no schedule."""
    faults: int
    """How many findings there are."""
    findings: list[FindingView]
    """The first of them."""


def view_finding(schedule_id: str | None, finding: Finding) -> FindingView:
    return FindingView(
        schedule_id=schedule_id,
        fault=finding.fault,
        first=_moment(finding.first),
        last=_moment(finding.last),
        count=finding.count,
        run_id=finding.run_id,
        row=finding.row,
    )


def _moment(instant: Instant) -> datetime:
    """Clamp to the calendar first: a number that was written from outside may be beyond it."""
    return to_datetime(max(Instant(0), min(instant, LATEST)))
