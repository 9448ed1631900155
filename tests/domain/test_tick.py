"""Keys and jitter of ticks, which depend on the planned moment alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import SECOND, Instant, Millis
from foliot.domain.schedule.tick import (
    REASONS,
    JitterMode,
    PlannedTick,
    TickOutcome,
    TickReason,
    jitter_offset,
    tick_key,
)
from foliot.testing.clock import START

KEYS = st.builds(tick_key, st.text(max_size=20).map(ScheduleId), st.integers(0, 2**42).map(Instant))


@pytest.mark.proves("R4-23")
def test_the_idempotency_key_has_the_specified_form() -> None:
    key = tick_key(ScheduleId("sched-1"), START)

    assert key == "78c70fe49015728651a94b920a57a7237e431e6e213e17ef3a23e776747c814b"


@pytest.mark.proves("R4-23")
def test_the_idempotency_key_uses_whole_seconds() -> None:
    assert tick_key(ScheduleId("a"), Instant(START + 999)) == tick_key(ScheduleId("a"), START)
    assert tick_key(ScheduleId("a"), Instant(START + SECOND)) != tick_key(ScheduleId("a"), START)


@pytest.mark.proves("R4-23")
def test_a_range_has_no_key_of_its_own() -> None:
    one = PlannedTick(START, START, 1).cancelled()
    several = one._replace(until=Instant(START + SECOND), count=2)

    assert one.key(ScheduleId("a")) == tick_key(ScheduleId("a"), START)
    assert several.key(ScheduleId("a")) is None


@pytest.mark.proves("T15")
def test_a_planned_tick_of_a_deleted_schedule_is_cancelled() -> None:
    tick = PlannedTick(START, Instant(START + SECOND), 3).cancelled()

    assert (tick.scheduled_for, tick.until, tick.count) == (START, START, 1)
    assert (tick.outcome, tick.reason) == (TickOutcome.CANCELLED, TickReason.DELETED)
    assert (tick.fire_at, tick.revision, tick.run_id) == (START + SECOND, 3, None)


@pytest.mark.proves("R4-43", "T14")
@given(KEYS, st.integers(0, 86_400_000).map(Millis))
def test_the_offset_lies_within_the_jitter(key: str, jitter: Millis) -> None:
    assert -jitter <= jitter_offset(key, jitter, JitterMode.AROUND) <= jitter
    assert 0 <= jitter_offset(key, jitter, JitterMode.AFTER) <= jitter


@pytest.mark.proves("T14")
@given(KEYS, st.integers(0, 86_400_000).map(Millis), st.sampled_from(JitterMode))
def test_the_offset_is_the_same_every_time(key: str, jitter: Millis, mode: JitterMode) -> None:
    assert jitter_offset(key, jitter, mode) == jitter_offset(key, jitter, mode)


@pytest.mark.proves("T14")
def test_the_offset_is_the_same_on_every_node_and_in_every_version() -> None:
    key = tick_key(ScheduleId("sched-1"), START)

    assert jitter_offset(key, Millis(30_000), JitterMode.AROUND) == 3_662
    assert jitter_offset(key, Millis(30_000), JitterMode.AFTER) == 5_847


@pytest.mark.proves("R4-43")
def test_the_bounds_of_the_jitter_are_included() -> None:
    keys = [tick_key(ScheduleId("a"), Instant(START + number * SECOND)) for number in range(100)]

    assert {jitter_offset(key, Millis(1), JitterMode.AROUND) for key in keys} == {-1, 0, 1}
    assert {jitter_offset(key, Millis(1), JitterMode.AFTER) for key in keys} == {0, 1}


@pytest.mark.proves("R4-19")
@given(KEYS)
def test_without_jitter_there_is_no_offset(key: str) -> None:
    assert jitter_offset(key, Millis(0), JitterMode.AROUND) == 0


@pytest.mark.proves("R4-43")
def test_offsets_spread_evenly_around_the_moment() -> None:
    keys = [tick_key(ScheduleId("a"), Instant(START + number * SECOND)) for number in range(1_000)]

    offsets = [jitter_offset(key, Millis(1_000), JitterMode.AROUND) for key in keys]

    assert abs(sum(offsets)) / len(offsets) < 60
    assert min(offsets) < -900
    assert max(offsets) > 900


@pytest.mark.proves("T2")
def test_every_outcome_and_every_reason_is_in_the_table() -> None:
    assert set(REASONS) == set(TickOutcome)
    assert set().union(*REASONS.values()) == set(TickReason)
