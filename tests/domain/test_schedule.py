"""Specifications of schedules: what is valid, and what they mean."""

import pytest

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Instant, later
from foliot.domain.schedule.rule import NEVER
from foliot.domain.schedule.schedule import (
    Catchup,
    Overlap,
    ScheduleSpec,
    ScheduleType,
    anchored,
    canonical,
    check_schedule,
    rule_of,
)
from foliot.domain.schedule.tick import JitterMode
from foliot.errors import FoliotError, InvalidInput, InvalidSchedule, InvalidTimezone
from foliot.testing.builders import NIGHTLY, cron, every, manual, once
from foliot.testing.clock import START
from tests.cases import for_each


@pytest.mark.proves("R4-19", "R4-20", "R4-21")
def test_the_defaults_are_those_of_the_specification() -> None:
    spec = cron("0 * * * *")

    assert (spec.overlap, spec.catchup, spec.jitter, spec.timezone) == (Overlap.SKIP, Catchup.NONE, 0, "UTC")


@for_each(
    "spec",
    [
        cron("*/5 * * * *"),
        cron("0 */5 * * * *"),
        cron("0 2 * * *", timezone="America/Argentina/Buenos_Aires"),
        cron("@triggered"),
        cron("@every 90s"),
        every(1),
        every(60, jitter=30_000),
        once(later(START, 1)),
        manual(),
        every(60, start_at=later(START, DAY), end_at=later(START, 2 * DAY)),
        every(60, job_id=None, workflow_id="etl"),
        once(later(START, HOUR), end_at=later(START, HOUR)),
        once(later(START, HOUR), start_at=later(START, HOUR)),
    ],
)
@pytest.mark.proves("R4-13", "R4-14")
def test_valid_schedules_are_accepted(spec: ScheduleSpec) -> None:
    check_schedule(canonical(spec, NIGHTLY), NIGHTLY, START)


@for_each(
    ("spec", "field"),
    [
        (cron("61 * * * *"), "cron"),
        (cron("0 0 31 2 *"), ""),
        (every(0), "every"),
        (every(-5), "every"),
        (cron("1.5", type=ScheduleType.INTERVAL), "every"),
        (cron("٣", type=ScheduleType.INTERVAL), "every"),
        (cron("9" * 100, type=ScheduleType.INTERVAL), "every"),
        (once(START), "schedule_expr"),
        (cron("tomorrow", type=ScheduleType.ONCE), "at"),
        (every(60, jitter=-1), "jitter"),
        (every(10**6, jitter=DAY + 1), "jitter"),
        (every(60, jitter=30_001), "jitter"),
        (every(60, catchup_max_age=-1), "catchup_max_age"),
        (every(60, start_at=later(START, 2), end_at=later(START, 1)), "start_at"),
        (every(60, end_at=Instant(START - 1)), "end_at"),
        (every(60, end_at=later(START, 59_999)), "schedule_expr"),
        (every(60, job_id=None), "job_id"),
        (every(60, workflow_id="etl"), "job_id"),
        (every(60, job_id=JobId("../x")), "job_id"),
    ],
)
@pytest.mark.proves("R4-33", "R4-58")
def test_invalid_schedules_are_refused(spec: ScheduleSpec, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_schedule(spec, NIGHTLY, START)

    assert not field or refused.value.field == field
    assert refused.value.message


@pytest.mark.proves("R4-58")
@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../../etc/passwd", "Europe/Berlin\0", "/etc/localtime"])
def test_a_zone_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(InvalidTimezone):
        check_schedule(cron("0 * * * *", timezone=name), NIGHTLY, START)


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 201, "ü", "a\n"])
def test_an_id_with_special_characters_is_refused(name: str) -> None:
    with pytest.raises(InvalidSchedule):
        check_schedule(every(60), ScheduleId(name), START)


def test_jitter_is_at_most_half_of_the_period() -> None:
    with pytest.raises(InvalidSchedule) as refused:
        check_schedule(cron("*/10 * * * * *", jitter=6 * SECOND), NIGHTLY, START)

    assert refused.value.hint == "Use at most 5 s."
    check_schedule(cron("*/10 * * * * *", jitter=5 * SECOND), NIGHTLY, START)


def test_only_jitter_around_the_moment_is_early() -> None:
    assert every(60, jitter=5_000).early == 5_000
    assert every(60, jitter=5_000, jitter_mode=JitterMode.AFTER).early == 0


@pytest.mark.proves("R1-14")
def test_an_interval_begins_one_step_after_its_creation() -> None:
    assert anchored(every(60), START).anchor == START + 60 * SECOND
    assert anchored(every(60), later(START, 300)).anchor == START + 60 * SECOND


def test_an_interval_is_anchored_at_its_start() -> None:
    assert anchored(every(60, start_at=later(START, HOUR)), START).anchor == START + HOUR


def test_an_edit_that_keeps_the_interval_keeps_its_grid() -> None:
    before = anchored(every(60), START)

    kept = anchored(every(60, overlap=Overlap.ALLOW), later(START, 31_000), before)
    moved = anchored(every(90), later(START, 31_000), before)

    assert (kept.anchor, moved.anchor) == (START + 60_000, START + 31_000 + 90_000)


def test_a_given_anchor_is_kept() -> None:
    assert anchored(every(60, anchor=Instant(7_000)), START).anchor == 7_000


@pytest.mark.parametrize("spec", [cron("0 * * * *"), once(START), manual()])
def test_only_intervals_have_anchors(spec: ScheduleSpec) -> None:
    assert anchored(spec, START) == spec


def test_cron_text_that_is_an_interval_becomes_one() -> None:
    spec = canonical(cron("@every 90s"), NIGHTLY)

    assert (spec.type, spec.expr) == (ScheduleType.INTERVAL, "90")


def test_cron_text_without_times_becomes_manual() -> None:
    spec = canonical(cron("@triggered"), NIGHTLY)

    assert spec.type is ScheduleType.MANUAL
    assert rule_of(spec, NIGHTLY) is NEVER


def test_other_cron_text_stays_as_it_is() -> None:
    spec = cron("@hourly")

    assert canonical(spec, NIGHTLY) == spec


def test_schedules_with_equal_expressions_share_one_rule() -> None:
    one, other = (rule_of(cron("*/5 * * * *"), ScheduleId(name)) for name in ("a", "b"))

    assert one is other


def test_a_hashed_field_depends_on_the_schedule() -> None:
    fires = {rule_of(cron("H H * * *"), ScheduleId(f"s{number}")).next(START) for number in range(10)}

    assert len(fires) > 5


def test_refused_schedules_raise_invalid_input_with_a_hint() -> None:
    with pytest.raises(FoliotError) as refused:
        check_schedule(once(Instant(START - MINUTE)), NIGHTLY, START)

    assert "never fires" in str(refused.value)
    assert refused.value.hint
