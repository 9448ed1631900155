"""Pauses of all schedules."""

import pytest

from foliot.domain.audit import Fault
from foliot.domain.audit.tick_check import audit
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import MINUTE, Instant
from foliot.domain.schedule.project_pause import PauseOrder, begin, change, check_pause, end, in_force, merge_pauses
from foliot.domain.schedule.schedule import Pause, Revision
from foliot.domain.schedule.tick import TickOutcome, TickReason, TickRecord
from foliot.domain.schedule.timetable import Timetable
from foliot.errors import InvalidInput
from foliot.testing.builders import NIGHTLY, every
from foliot.testing.clock import START


def at(minutes: float) -> Instant:
    return Instant(int(START + minutes * MINUTE))


def test_a_tick_at_the_end_of_a_pause_fires() -> None:
    pause = begin(START, PauseOrder(at(10)), 1, {})

    assert pause.ends_at == at(10)
    assert [pause.includes(at(minutes)) for minutes in (0, 1, 9, 10)] == [False, True, True, False]


def test_a_changed_pause_keeps_its_beginning() -> None:
    pause = begin(START, PauseOrder(at(10), "ada", "disks"), 1, {})

    changed = change(pause, at(5), PauseOrder(None, "bob", "more disks"), 2, {})

    assert (changed.since, changed.until, changed.by, changed.note) == (START, None, "bob", "more disks")


def test_the_newest_pause_is_in_force_when_the_clock_was_set_back_into_two() -> None:
    first, second = begin(at(0), PauseOrder(at(10)), 1, {}), begin(at(5), PauseOrder(at(10)), 2, {})

    assert in_force([second, first], at(7)) == second
    assert in_force([second, first], at(3)) == first
    assert in_force([second, first], at(10)) is None


def test_overlapping_and_adjacent_pauses_are_joined() -> None:
    pauses = [Pause(at(4), at(6)), Pause(at(0), at(2)), Pause(at(2), at(3)), Pause(at(5), at(9)), Pause(at(3), at(3))]

    assert merge_pauses(pauses) == [Pause(at(0), at(3)), Pause(at(4), at(9))]
    assert merge_pauses([Pause(at(1), None), Pause(at(0), at(2)), Pause(at(5), at(6))]) == [Pause(at(0), None)]


@pytest.mark.parametrize(
    ("order", "field"),
    [
        (PauseOrder(START), "until"),
        (PauseOrder(at(-1)), "until"),
        (PauseOrder(note="x" * 501), "note"),
        (PauseOrder(note="two\nlines"), "note"),
        (PauseOrder(by="x" * 201), "by"),
    ],
)
def test_a_pause_that_cannot_be_shown_or_has_passed_is_refused(order: PauseOrder, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_pause(order, START)

    assert refused.value.field == field


# -- verify


def timetable(*project_pauses: Pause, own: tuple[Pause, ...] = ()) -> Timetable:
    return Timetable(
        ScheduleId(NIGHTLY), [Revision(1, START, every(60, anchor=at(1)))], own, project_pauses=project_pauses
    )


def row(first: int, last: int, outcome: TickOutcome, reason: TickReason) -> TickRecord:
    return TickRecord(at(first), at(last), last - first + 1, outcome, reason, at(first), 1)


def faults(table: Timetable, *rows: TickRecord) -> list[Fault]:
    return [finding.fault for finding in audit(table, rows, [], after=START, until=at(10))]


PAUSED = (TickOutcome.SKIPPED, TickReason.PAUSED)
MISSED = (TickOutcome.MISSED, TickReason.DOWN)


@pytest.mark.proves("T2", "T3")
def test_verify_expects_the_pauses_of_all_schedules() -> None:
    table = timetable(Pause(at(2), at(6)), own=(Pause(at(5), at(8)),))

    assert faults(table, row(1, 2, *MISSED), row(3, 8, *PAUSED), row(9, 10, *MISSED)) == []
    assert faults(table, row(1, 3, *MISSED), row(4, 8, *PAUSED), row(9, 10, *MISSED)) == [Fault.PAUSE_MISMATCH]
    assert faults(table, row(1, 2, *MISSED), row(3, 9, *PAUSED), row(10, 10, *MISSED)) == [Fault.PAUSE_MISMATCH]


@pytest.mark.proves("T6")
def test_verify_accepts_rows_that_were_decided_before_the_clock_was_set_back() -> None:
    decided = timetable(Pause(at(2), at(6), decided_until=at(4)))
    recorded = timetable(Pause(at(2), at(6), recorded_until=at(8)))

    assert faults(decided, row(1, 4, *MISSED), row(5, 6, *PAUSED), row(7, 10, *MISSED)) == []
    assert faults(decided, row(1, 5, *MISSED), row(6, 6, *PAUSED), row(7, 10, *MISSED)) == [Fault.PAUSE_MISMATCH]
    assert faults(recorded, row(1, 2, *MISSED), row(3, 8, *PAUSED), row(9, 10, *MISSED)) == []
    assert faults(recorded, row(1, 2, *MISSED), row(3, 9, *PAUSED), row(10, 10, *MISSED)) == [Fault.PAUSE_MISMATCH]


def test_a_pause_that_is_shortened_or_prolonged_keeps_the_later_watermarks() -> None:
    uid = ScheduleUid("uid")
    pause = begin(START, PauseOrder(at(5)), 1, {})

    ended = end(pause, at(1), 2, {uid: at(4)})
    prolonged = change(pause, at(1), PauseOrder(at(20)), 2, {uid: at(8)})

    assert ended.pause_of(uid) == Pause(START, at(1), None, at(4))
    assert prolonged.pause_of(uid) == Pause(START, Instant(at(20) - 1), at(8), at(8))
