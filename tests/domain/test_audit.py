"""The audit reports every fault of a ledger and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.audit import Fault, Finding, audit
from foliot.domain.instant import DAY, MINUTE, Instant, later
from foliot.domain.schedule.schedule import Pause, Revision
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickReason, TickRecord
from foliot.domain.schedule.timetable import Timetable
from foliot.testing.builders import NIGHTLY, a_tick, every
from foliot.testing.clock import START

TIMETABLE = Timetable(NIGHTLY, (Revision(1, START, every(60, anchor=START)),))
UNTIL = later(START, 5 * MINUTE)


def at(minute: int) -> Instant:
    return later(START, minute * MINUTE)


def ran(minute: int) -> TickRecord:
    return a_tick(at(minute), TickOutcome.RAN, TickReason.ON_TIME)


def a_range(first: int, last: int, count: int) -> TickRecord:
    return a_tick(at(first), TickOutcome.MISSED, TickReason.DOWN, until=at(last), count=count)


def faults(
    *ticks: TickRecord, planned: tuple[PlannedTick, ...] = (), timetable: Timetable = TIMETABLE
) -> list[Finding]:
    return audit(timetable, ticks, planned, after=START, until=UNTIL)


def test_a_ledger_with_all_planned_moments_has_no_findings() -> None:
    assert faults(*(ran(minute) for minute in range(1, 6))) == []
    assert faults(a_range(1, 4, 4), ran(5)) == []
    assert faults(ran(1), a_range(2, 3, 2), planned=(PlannedTick(at(4), at(4), 1), PlannedTick(at(5), at(5), 1))) == []


def test_the_order_of_the_rows_does_not_matter() -> None:
    assert faults(ran(5), a_range(2, 4, 3), ran(1)) == []


@pytest.mark.parametrize("gone", range(1, 6))
def test_a_missing_row_is_found(gone: int) -> None:
    [finding] = faults(*(ran(minute) for minute in range(1, 6) if minute != gone))

    assert (finding.fault, finding.count) == (Fault.MISSING, 1)
    assert finding.first <= at(gone) <= finding.last


def test_in_an_empty_ledger_every_moment_is_missing() -> None:
    assert faults() == [Finding(Fault.MISSING, Instant(START + 1), UNTIL, 5)]


def test_missing_moments_are_not_named_from_before_the_schedule_existed() -> None:
    [finding] = audit(TIMETABLE, [], [], after=Instant(START - 7 * DAY), until=UNTIL)

    assert finding == Finding(Fault.MISSING, START, UNTIL, 5)


def test_an_invented_row_is_found() -> None:
    invented = a_tick(Instant(at(2) + 1))

    assert faults(*(ran(minute) for minute in range(1, 6)), invented) == [
        Finding(Fault.INVENTED, invented.scheduled_for, invented.until, 1)
    ]


def test_a_doubled_row_is_found() -> None:
    found = faults(*(ran(minute) for minute in (1, 2, 3, 3, 4, 5)))

    assert [finding.fault for finding in found] == [Fault.DOUBLED]


def test_a_row_inside_a_range_is_found() -> None:
    found = faults(a_range(1, 5, 5), ran(3))

    assert [finding.fault for finding in found] == [Fault.DOUBLED]


def test_a_tick_that_is_planned_and_recorded_is_found() -> None:
    found = faults(*(ran(minute) for minute in range(1, 6)), planned=(PlannedTick(at(2), at(2), 1),))

    assert [finding.fault for finding in found] == [Fault.DOUBLED]


def test_a_range_that_counts_wrongly_is_found() -> None:
    assert faults(a_range(1, 5, 7)) == [Finding(Fault.MISCOUNTED, at(1), at(5), 2)]


def test_a_run_in_a_pause_is_found() -> None:
    timetable = TIMETABLE._replace(pauses=(Pause(at(2), at(4)),))
    paused = a_tick(at(4), TickOutcome.SKIPPED, TickReason.PAUSED)

    found = faults(ran(1), ran(2), ran(3), paused, ran(5), timetable=timetable)

    assert found == [Finding(Fault.RAN_WHILE_PAUSED, at(3), at(3), 1)]


def test_a_tick_that_fired_before_the_pause_of_its_moment_is_valid() -> None:
    timetable = TIMETABLE._replace(pauses=(Pause(START, at(2)), Pause(Instant(at(3) - 500), None)))
    early = ran(3)._replace(fire_at=Instant(at(3) - 1_000))
    before, after = (a_tick(at(minute), TickOutcome.SKIPPED, TickReason.PAUSED) for minute in (1, 2))
    rest = a_tick(at(4), TickOutcome.SKIPPED, TickReason.PAUSED, until=at(5), count=2)

    assert faults(before, after, early, rest, timetable=timetable) == []
    assert faults(before, after, early._replace(fire_at=at(3)), rest, timetable=timetable) != []


@given(st.sets(st.integers(1, 300)))
def test_the_number_of_missing_moments_is_exact(gone: set[int]) -> None:
    rows = [ran(minute) for minute in range(1, 301) if minute not in gone]

    found = audit(TIMETABLE, rows, (), after=START, until=at(300))

    assert sum(finding.count for finding in found) == len(gone)
    assert {finding.fault for finding in found} <= {Fault.MISSING}


@pytest.mark.parametrize(("early", "late"), [(1, 0), (0, 1), (1, 1)])
def test_a_range_that_begins_or_ends_between_two_moments_is_found(early: int, late: int) -> None:
    loose = a_range(2, 4, 3)
    loose = loose._replace(scheduled_for=Instant(loose.scheduled_for - early), until=Instant(loose.until + late))

    found = faults(ran(1), loose, ran(5))

    assert [finding.fault for finding in found] == [Fault.INVENTED]


def test_rows_with_the_reason_paused_and_pauses_must_agree() -> None:
    timetable = TIMETABLE._replace(pauses=(Pause(at(1), at(3)),))
    paused = a_tick(at(2), TickOutcome.SKIPPED, TickReason.PAUSED, until=at(3), count=2)
    too_long = a_tick(at(2), TickOutcome.SKIPPED, TickReason.PAUSED, until=at(4), count=3)

    assert faults(ran(1), paused, ran(4), ran(5), timetable=timetable) == []
    assert faults(ran(1), too_long, ran(5), timetable=timetable) == [Finding(Fault.PAUSE_MISMATCH, at(2), at(4), 1)]
    assert faults(ran(1), a_range(2, 5, 4), timetable=timetable) == [Finding(Fault.PAUSE_MISMATCH, at(2), at(5), 2)]
    assert faults(a_range(1, 5, 5), timetable=timetable) == [Finding(Fault.PAUSE_MISMATCH, at(1), at(5), 2)]


def test_only_rows_in_the_given_period_are_checked() -> None:
    assert audit(TIMETABLE, [ran(3)], (), after=at(2), until=at(3)) == []


def test_a_moment_of_two_overlapping_revisions_is_planned_twice() -> None:
    revisions = [Revision(number, at(opened), every(60, anchor=START)) for number, opened in ((1, 0), (2, 2), (3, 1))]

    found = faults(*(ran(minute) for minute in range(1, 6)), timetable=TIMETABLE._replace(revisions=revisions))

    assert found == [Finding(Fault.MISCOUNTED, at(2), at(2), -1)]
