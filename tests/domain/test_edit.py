"""How a schedule's row changes when it is created, edited, paused or resumed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foliot.domain.ids import ScheduleUid
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, later
from foliot.domain.job.job import DEFAULT_PROJECT
from foliot.domain.schedule import edit
from foliot.domain.schedule.schedule import Overlap, Schedule, ScheduleSpec
from foliot.domain.schedule.timetable import Timetable
from foliot.testing.builders import NIGHTLY, cron, every, manual, once
from foliot.testing.clock import START

SPECS = st.sampled_from([every(60), every(90, jitter=1_000), cron("*/5 * * * *"), once(later(START, HOUR)), manual()])
SPANS = st.integers(0, 7_200_000)


def created(spec: ScheduleSpec) -> Schedule:
    return edit.create(ScheduleUid("uid"), NIGHTLY, DEFAULT_PROJECT, spec, START)


@pytest.mark.proves("R4-17", "R4-61")
def test_a_new_schedule_is_settled_up_to_now_and_planned_from_there() -> None:
    schedule = created(every(60))

    assert (schedule.version, schedule.revision.number, schedule.enabled) == (1, 1, True)
    assert (schedule.settled_until, schedule.revision.opened_at) == (START, START)
    assert schedule.next_run_at == schedule.wake_at == START + MINUTE


def test_the_moment_of_creation_is_not_planned() -> None:
    assert created(cron("* * * * *")).next_run_at == START + MINUTE


@pytest.mark.proves("R4-61")
@given(SPECS, st.none() | SPANS, st.none() | SPANS)
def test_the_first_moment_equals_that_of_the_timetable(spec: ScheduleSpec, start: int | None, end: int | None) -> None:
    bounds = [None if span is None else later(START, span) for span in (start, end)]

    schedule = created(replace(spec, start_at=bounds[0], end_at=bounds[1]))

    assert schedule.next_run_at == Timetable(NIGHTLY, (schedule.revision,)).next(START)


def test_a_schedule_that_may_fire_early_wakes_early() -> None:
    assert created(every(60, jitter=1_000)).wake_at == START + MINUTE - 1_000


@pytest.mark.proves("T15")
def test_an_edit_takes_effect_after_the_moment_it_is_made() -> None:
    before = created(every(60))

    after = edit.edit(before, every(90), [before.revision], later(START, 30 * SECOND))

    assert (after.revision.number, after.revision.opened_at) == (2, START + 30 * SECOND)
    assert after.next_run_at == START + 30 * SECOND + 90 * SECOND
    assert after.version == before.version + 1


@pytest.mark.proves("T15")
def test_moments_before_an_edit_keep_the_rule_they_had() -> None:
    before = created(every(60))

    after = edit.edit(before, every(3_600), [before.revision], later(START, 150 * SECOND))

    assert after.next_run_at == START + MINUTE
    assert after.wake_at == START + MINUTE


@pytest.mark.proves("T6", "T15")
def test_after_the_clock_is_set_back_an_edit_opens_at_the_watermark() -> None:
    before = replace(created(every(60)), settled_until=later(START, HOUR))

    after = edit.edit(before, every(90), [before.revision], later(START, MINUTE))

    assert after.revision.opened_at == START + HOUR
    assert after.next_run_at is not None
    assert after.next_run_at > START + HOUR


@pytest.mark.proves("T6", "T15")
def test_after_the_clock_is_set_back_an_edit_does_not_open_before_the_last_edit() -> None:
    first = created(every(60))
    second = edit.edit(first, every(90), [first.revision], later(START, HOUR))

    third = edit.edit(second, every(120), [first.revision, second.revision], later(START, MINUTE))

    assert third.revision.opened_at == second.revision.opened_at == START + HOUR


def test_an_edit_does_not_resume_a_paused_schedule() -> None:
    paused = edit.pause(created(every(60)), later(START, SECOND))

    after = edit.edit(paused, every(90), [paused.revision], later(START, MINUTE))

    assert (after.paused_at, after.wake_at) == (paused.paused_at, None)


def test_an_edit_wakes_an_exhausted_schedule() -> None:
    spent = replace(
        created(once(later(START, MINUTE))),
        enabled=False,
        next_run_at=None,
        wake_at=None,
        settled_until=later(START, MINUTE),
    )

    after = edit.edit(spent, once(later(START, HOUR)), [spent.revision], later(START, 2 * MINUTE))

    assert (after.enabled, after.next_run_at, after.wake_at) == (True, START + HOUR, START + HOUR)


@given(SPECS, SPANS)
def test_saving_the_same_specification_opens_no_revision(spec: ScheduleSpec, span: int) -> None:
    schedule = created(spec)

    assert edit.is_same_rule(schedule, spec)
    assert edit.is_same_rule(schedule, schedule.revision.spec)


def test_any_difference_is_an_edit() -> None:
    schedule = created(every(60))

    assert not edit.is_same_rule(schedule, every(61))
    assert not edit.is_same_rule(schedule, every(60, overlap=Overlap.ALLOW))


def test_saving_an_exhausted_schedule_again_changes_nothing() -> None:
    schedule = created(every(60))

    assert edit.is_same_rule(replace(schedule, enabled=False, next_run_at=None), every(60))


def test_an_edited_schedule_has_its_new_rule() -> None:
    schedule = created(every(60))

    after = edit.edit(schedule, every(90), [schedule.revision], later(START, MINUTE))

    assert edit.is_same_rule(after, every(90))
    assert not edit.is_same_rule(after, every(60))


def test_a_paused_schedule_does_not_wake_and_a_resumed_one_wakes_immediately() -> None:
    schedule = created(every(60))

    paused = edit.pause(schedule, later(START, SECOND))
    resumed = edit.resume(paused, later(START, HOUR))

    assert (paused.paused_at, paused.wake_at) == (START + SECOND, None)
    assert (resumed.paused_at, resumed.wake_at) == (None, START + HOUR)
    assert [schedule.version, paused.version, resumed.version] == [1, 2, 3]


@pytest.mark.proves("T3", "T6")
def test_a_pause_begins_at_the_watermark_or_later() -> None:
    """A tick may have fired before its moment because of its jitter or because the clock was set back."""
    schedule = replace(created(every(60)), settled_until=later(START, MINUTE))

    paused = edit.pause(schedule, later(START, SECOND))

    assert (paused.paused_at, paused.updated_at) == (START + MINUTE, START + SECOND)


def test_a_schedule_whose_row_is_repaired_is_due_immediately_unless_it_is_paused() -> None:
    schedule = created(every(60))
    paused = edit.pause(schedule, later(START, SECOND))

    renewed, still_paused = (edit.renew(one, later(START, HOUR)) for one in (schedule, paused))

    assert (renewed.wake_at, renewed.version) == (START + HOUR, schedule.version + 1)
    assert (still_paused.wake_at, still_paused.paused_at) == (None, paused.paused_at)


@given(st.lists(st.sampled_from(["edit", "pause", "resume"]), max_size=8), SPECS)
def test_every_change_raises_the_version(changes: list[str], spec: ScheduleSpec) -> None:
    schedule = created(every(60))
    now = START
    for change in changes:
        now = Instant(now + SECOND)
        before = schedule
        match change:
            case "edit":
                schedule = edit.edit(schedule, spec, [schedule.revision], now)
            case "pause":
                schedule = edit.pause(schedule, now)
            case "resume":
                schedule = edit.resume(schedule, now)
        assert schedule.version == before.version + 1
        assert schedule.updated_at == now
