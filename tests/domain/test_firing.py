"""The decisions about due moments, policy by policy."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis, later
from foliot.domain.schedule.firing import SchedulerSettings
from foliot.domain.schedule.schedule import Catchup, Overlap, Pause, Revision, ScheduleType
from foliot.domain.schedule.tick import JitterMode, PlannedTick, TickOutcome, TickReason, TickRecord, tick_key
from foliot.testing.builders import NIGHTLY, REPORT, a_due_schedule, a_job, every, fire, once
from foliot.testing.clock import START

GRID = {"anchor": START}


def at(minutes: float) -> Instant:
    return later(START, int(minutes * MINUTE))


def outcomes(ticks: list[TickRecord]) -> list[tuple[TickOutcome, TickReason, int]]:
    return [(tick.outcome, tick.reason, tick.count) for tick in ticks]


@pytest.mark.proves("R1-44", "R4-45")
def test_a_tick_on_time_becomes_a_run() -> None:
    firing = fire(a_due_schedule(every(60, **GRID)), at(1))

    [tick], [run] = firing.ticks, firing.runs
    assert (tick.scheduled_for, tick.outcome, tick.reason, tick.run_id) == (
        at(1),
        TickOutcome.RAN,
        TickReason.ON_TIME,
        run.id,
    )
    assert run.tick is not None
    assert (run.tick.scheduled_for, run.tick.key, run.due_at) == (at(1), tick_key(NIGHTLY, at(1)), at(1))
    assert (firing.settled_until, firing.next_run_at, firing.wake_at) == (at(1), at(2), at(2))
    assert firing.last_scheduled_at == at(1)


def test_a_tick_is_not_decided_before_its_moment() -> None:
    firing = fire(a_due_schedule(every(60, **GRID)), Instant(at(1) - 1))

    assert (firing.ticks, firing.runs, len(firing.planned)) == ([], [], 0)
    assert (firing.settled_until, firing.wake_at) == (START, at(1))


@pytest.mark.parametrize("late", [0, 1, 4_999, 5_000])
def test_a_tick_younger_than_the_grace_is_on_time(late: int) -> None:
    firing = fire(a_due_schedule(every(60, **GRID)), later(at(1), late))

    assert outcomes(firing.ticks) == [(TickOutcome.RAN, TickReason.ON_TIME, 1)]


def test_the_grace_is_at_least_two_polls() -> None:
    slow = SchedulerSettings(poll=Millis(10 * SECOND))

    firing = fire(a_due_schedule(every(60, **GRID)), later(at(1), 20 * SECOND), scheduler=slow)

    assert outcomes(firing.ticks) == [(TickOutcome.RAN, TickReason.ON_TIME, 1)]


@pytest.mark.proves("R4-40", "T2")
def test_without_catch_up_missed_ticks_are_one_range() -> None:
    firing = fire(a_due_schedule(every(60, **GRID)), at(10.5))

    assert outcomes(firing.ticks) == [(TickOutcome.MISSED, TickReason.DOWN, 10)]
    assert (firing.ticks[0].scheduled_for, firing.ticks[0].until) == (at(1), at(10))
    assert (firing.runs, firing.settled_until, firing.next_run_at) == ([], at(10), at(11))


def test_without_catch_up_the_tick_that_is_due_now_still_runs() -> None:
    firing = fire(a_due_schedule(every(60, **GRID)), at(10))

    assert outcomes(firing.ticks) == [
        (TickOutcome.MISSED, TickReason.DOWN, 9),
        (TickOutcome.RAN, TickReason.ON_TIME, 1),
    ]


def test_catch_up_once_runs_the_newest_for_all() -> None:
    firing = fire(a_due_schedule(every(60, catchup=Catchup.ONCE, **GRID)), at(10.5))

    assert outcomes(firing.ticks) == [
        (TickOutcome.COALESCED, TickReason.CAUGHT_UP, 9),
        (TickOutcome.RAN, TickReason.CAUGHT_UP, 1),
    ]
    assert firing.ticks[0].into == firing.ticks[1].scheduled_for == at(10)
    assert len(firing.runs) == 1


def test_catch_up_once_lets_a_tick_that_is_due_now_run_for_all() -> None:
    firing = fire(a_due_schedule(every(60, catchup=Catchup.ONCE, **GRID)), at(10))

    assert outcomes(firing.ticks) == [
        (TickOutcome.COALESCED, TickReason.CAUGHT_UP, 9),
        (TickOutcome.RAN, TickReason.ON_TIME, 1),
    ]
    assert firing.ticks[0].into == at(10)


def test_catch_up_once_is_one_run_through_a_pause() -> None:
    due = a_due_schedule(every(60, catchup=Catchup.ONCE, **GRID), pauses=(Pause(at(3.5), at(6.5)),))

    firing = fire(due, at(10.5))

    assert [run.tick.scheduled_for for run in firing.runs if run.tick] == [at(10)]
    assert outcomes(firing.ticks) == [
        (TickOutcome.COALESCED, TickReason.CAUGHT_UP, 3),
        (TickOutcome.SKIPPED, TickReason.PAUSED, 3),
        (TickOutcome.COALESCED, TickReason.CAUGHT_UP, 3),
        (TickOutcome.RAN, TickReason.CAUGHT_UP, 1),
    ]


@pytest.mark.proves("T2", "T11")
def test_catch_up_once_does_not_coalesce_into_a_paused_tick() -> None:
    due = a_due_schedule(every(60, catchup=Catchup.ONCE, **GRID), pauses=(Pause(at(8.5), at(10.2)),))

    firing = fire(due, at(10.5))

    assert outcomes(firing.ticks) == [
        (TickOutcome.COALESCED, TickReason.CAUGHT_UP, 7),
        (TickOutcome.RAN, TickReason.CAUGHT_UP, 1),
        (TickOutcome.SKIPPED, TickReason.PAUSED, 2),
    ]
    assert firing.ticks[0].into == firing.ticks[1].scheduled_for == at(8)


@pytest.mark.proves("R4-41")
def test_catch_up_all_runs_each() -> None:
    spec = every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW, **GRID)

    firing = fire(a_due_schedule(spec), at(10.5))

    assert outcomes(firing.ticks) == [(TickOutcome.RAN, TickReason.CAUGHT_UP, 1)] * 10
    assert [run.tick.scheduled_for for run in firing.runs if run.tick] == [at(minute) for minute in range(1, 11)]


@pytest.mark.proves("R4-59", "T9")
def test_a_pass_stops_at_its_cap_and_drops_nothing() -> None:
    spec = every(1, catchup=Catchup.ALL, overlap=Overlap.ALLOW, **GRID)

    firing = fire(a_due_schedule(spec), later(START, DAY))

    assert len(firing.runs) == 100
    assert firing.settled_until == later(START, 100 * SECOND)
    assert (firing.next_run_at, firing.behind_since) == (later(START, 101 * SECOND), later(START, DAY))
    assert firing.wake_at == later(START, DAY + SECOND)


@pytest.mark.proves("T9")
def test_a_pass_that_stopped_at_its_cap_sets_behind_since() -> None:
    spec = every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW, **GRID)

    firing = fire(a_due_schedule(spec), at(10.5), scheduler=SchedulerSettings(max_catchup_per_tick=5))

    assert (len(firing.runs), firing.next_run_at) == (5, at(6))
    assert (firing.behind_since, firing.wake_at) == (at(10.5), later(at(10.5), SECOND))


@pytest.mark.proves("T9")
def test_time_spent_catching_up_is_not_lateness() -> None:
    spec = every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW, catchup_max_age=HOUR, **GRID)
    due = a_due_schedule(spec, behind_since=at(60), settled_until=at(10))

    firing = fire(due, at(75))

    assert {tick.outcome for tick in firing.ticks} == {TickOutcome.RAN}
    assert len(firing.ticks) == 65
    assert firing.behind_since is None


def test_ticks_older_than_the_catch_up_age_are_missed() -> None:
    spec = every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW, catchup_max_age=Millis(5 * MINUTE), **GRID)

    firing = fire(a_due_schedule(spec), at(10.5))

    assert outcomes(firing.ticks)[0] == (TickOutcome.MISSED, TickReason.TOO_OLD, 5)
    assert len(firing.runs) == 5


@pytest.mark.proves("T9")
def test_a_tick_that_is_just_as_old_as_the_catch_up_age_still_runs() -> None:
    spec = every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW, catchup_max_age=Millis(5 * MINUTE), **GRID)

    firing = fire(a_due_schedule(spec), at(10))

    assert outcomes(firing.ticks)[0] == (TickOutcome.MISSED, TickReason.TOO_OLD, 4)
    assert [run.tick.scheduled_for for run in firing.runs if run.tick] == [at(minute) for minute in range(5, 11)]


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        (8 * MINUTE, (TickOutcome.RAN, TickReason.CAUGHT_UP, 1)),
        (8 * MINUTE + 1, (TickOutcome.MISSED, TickReason.TOO_OLD, 1)),
    ],
)
def test_the_age_of_a_planned_tick_counts_from_its_fire_time(
    late: int, expected: tuple[TickOutcome, TickReason, int]
) -> None:
    spec = every(60, catchup=Catchup.ALL, catchup_max_age=Millis(8 * MINUTE), **GRID)
    due = a_due_schedule(spec, settled_until=at(10), planned=(PlannedTick(at(1), at(1.5), 1),))

    assert outcomes(fire(due, later(at(1.5), late)).ticks)[0] == expected


@pytest.mark.proves("T9")
def test_the_cap_of_a_pass_applies_to_all_revisions_together() -> None:
    spec = every(1, overlap=Overlap.ALLOW, **GRID)
    revisions = (Revision(1, START, spec), Revision(2, later(START, 3 * SECOND), spec))
    due = a_due_schedule(spec, revisions=revisions)

    firing = fire(due, later(START, 5 * SECOND), scheduler=SchedulerSettings(max_catchup_per_tick=4))

    assert (len(firing.runs), firing.settled_until) == (4, later(START, 4 * SECOND))
    assert firing.next_run_at == later(START, 5 * SECOND)


@pytest.mark.proves("R4-42", "T14")
def test_catch_up_spread_spaces_the_runs_over_the_look_ahead() -> None:
    spec = every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW, **GRID)

    firing = fire(a_due_schedule(spec), at(10.5))

    starts = [at(10.5), *(tick.fire_at for tick in firing.planned)]
    assert len(firing.runs) == 1
    assert [tick.scheduled_for for tick in firing.planned] == [at(minute) for minute in range(2, 11)]
    assert {b - a for a, b in pairwise(starts)} == {MINUTE // 10}
    assert firing.wake_at == firing.planned[0].fire_at


@pytest.mark.proves("R4-42")
def test_catch_up_spread_above_the_cap_keeps_the_order_of_ticks() -> None:
    spec = every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW, **GRID)
    scheduler, now = SchedulerSettings(max_catchup_per_tick=4), at(10.5)
    due, moments = a_due_schedule(spec), []
    for _ in range(200):
        firing = fire(due, now, scheduler=scheduler)
        moments += [tick.scheduled_for for tick in firing.ticks]
        due = a_due_schedule(
            spec,
            settled_until=firing.settled_until,
            planned=tuple(firing.planned),
            behind_since=firing.behind_since,
        )
        if firing.behind_since is None and not firing.planned:
            break
        now = firing.wake_at or now

    late = [moment for moment in moments if moment <= at(10)]
    assert late == [at(minute) for minute in range(1, 11)]


@pytest.mark.proves("R4-42")
def test_a_spread_tick_has_the_reason_caught_up() -> None:
    spec = every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW, **GRID)
    planned = tuple(fire(a_due_schedule(spec), at(10.5)).planned)
    due = a_due_schedule(spec, settled_until=at(10), planned=planned)

    firing = fire(due, planned[0].fire_at)

    assert outcomes(firing.ticks) == [(TickOutcome.RAN, TickReason.CAUGHT_UP, 1)]


@pytest.mark.proves("R4-43")
@pytest.mark.parametrize("offset", [-30 * SECOND, 0, SECOND, 30 * SECOND])
def test_a_tick_moved_by_jitter_is_on_time(offset: int) -> None:
    spec = every(60, jitter=Millis(30 * SECOND), **GRID)
    fire_at = later(at(5), offset)
    due = a_due_schedule(spec, settled_until=at(6), planned=(PlannedTick(at(5), fire_at, 1),))

    assert outcomes(fire(due, fire_at).ticks) == [(TickOutcome.RAN, TickReason.ON_TIME, 1)]


@pytest.mark.proves("R4-42")
def test_catch_up_spread_of_a_single_tick_runs_it_now() -> None:
    firing = fire(a_due_schedule(once(at(1), catchup=Catchup.SPREAD)), at(10))

    assert len(firing.runs) == 1
    assert (len(firing.planned), firing.next_run_at, firing.wake_at) == (0, None, None)


def test_a_planned_tick_fires_at_its_own_moment() -> None:
    planned = (PlannedTick(at(1), at(10), 1), PlannedTick(at(2), at(11), 1))
    due = a_due_schedule(every(60, overlap=Overlap.ALLOW, **GRID), settled_until=at(9.9), planned=planned)

    firing = fire(due, at(10))

    assert [tick.scheduled_for for tick in firing.ticks] == [at(1), at(10)]
    assert firing.planned == [planned[1]]
    assert firing.wake_at == at(11)


@pytest.mark.proves("R4-43", "T14")
def test_a_jittered_tick_is_planned_before_it_fires() -> None:
    spec = every(60, jitter=Millis(30 * SECOND), **GRID)
    planned: Sequence[PlannedTick] = ()
    now = START
    while not planned:
        now = later(now, 30 * SECOND)
        planned = fire(a_due_schedule(spec), now).planned

    assert abs(planned[0].fire_at - planned[0].scheduled_for) <= 30 * SECOND
    assert planned[0].fire_at > now


@pytest.mark.proves("R4-43", "T14")
@pytest.mark.parametrize(("mode", "early"), [(JitterMode.AROUND, 20 * SECOND), (JitterMode.AFTER, 0)])
def test_a_schedule_wakes_as_early_as_its_jitter_may_let_a_tick_fire(mode: JitterMode, early: int) -> None:
    spec = every(60, jitter=Millis(20 * SECOND), jitter_mode=mode, **GRID)

    firing = fire(a_due_schedule(spec), at(0.1))

    assert (firing.next_run_at, firing.wake_at) == (at(1), later(at(1), -early))


@pytest.mark.proves("R4-43", "T3")
@pytest.mark.parametrize("mode", JitterMode)
def test_jitter_never_fires_before_creation_or_start(mode: JitterMode) -> None:
    for number in range(50):
        begin = later(START, number * SECOND)
        created = once(later(begin, SECOND), jitter=MINUTE, jitter_mode=mode, catchup=Catchup.ALL)
        started = replace(created, start_at=begin)
        for due in (a_due_schedule(created, since=begin), a_due_schedule(started, since=Instant(START - DAY))):
            [tick] = fire(due, later(START, HOUR)).ticks
            assert tick.outcome is TickOutcome.RAN
            assert begin <= tick.fire_at <= later(begin, SECOND + MINUTE)


@pytest.mark.proves("R4-38", "T10")
def test_overlap_skip_skips_while_a_run_is_in_flight() -> None:
    firing = fire(a_due_schedule(every(60, **GRID), in_flight=1), at(1))

    assert outcomes(firing.ticks) == [(TickOutcome.SKIPPED, TickReason.OVERLAP, 1)]
    assert firing.runs == []


@pytest.mark.proves("T10")
def test_overlap_skip_counts_the_runs_of_its_own_pass() -> None:
    firing = fire(a_due_schedule(every(60, catchup=Catchup.ALL, **GRID)), at(3))

    assert [tick.outcome for tick in firing.ticks] == [TickOutcome.RAN, TickOutcome.SKIPPED, TickOutcome.SKIPPED]


@pytest.mark.proves("R4-37", "T10")
def test_overlap_allow_runs_while_others_are_in_flight() -> None:
    firing = fire(a_due_schedule(every(60, overlap=Overlap.ALLOW, **GRID), in_flight=9), at(1))

    assert len(firing.runs) == 1
    assert firing.waiting == set()


@pytest.mark.proves("R4-39", "T10")
def test_overlap_queue_lets_the_run_wait() -> None:
    firing = fire(a_due_schedule(every(60, overlap=Overlap.QUEUE, **GRID), in_flight=1), at(1))

    assert firing.waiting == {run.id for run in firing.runs}
    assert outcomes(firing.ticks) == [(TickOutcome.RAN, TickReason.ON_TIME, 1)]


@pytest.mark.proves("R4-39")
def test_overlap_queue_lets_the_first_of_a_pass_start() -> None:
    firing = fire(a_due_schedule(every(60, overlap=Overlap.QUEUE, catchup=Catchup.ALL, **GRID)), at(3))

    first, *others = [run.id for run in firing.runs]
    assert firing.waiting == set(others)
    assert first not in firing.waiting


@pytest.mark.proves("R4-39", "T10")
@pytest.mark.parametrize("catchup", Catchup)
def test_a_full_queue_stops_the_watermark_and_loses_nothing(catchup: Catchup) -> None:
    scheduler = SchedulerSettings(max_waiting=3)
    spec = every(60, overlap=Overlap.QUEUE, catchup=catchup, **GRID)

    firing = fire(a_due_schedule(spec, in_flight=4, settled_until=at(9)), at(10), scheduler=scheduler)

    assert (firing.runs, firing.ticks, firing.settled_until) == ([], [], at(9))
    assert firing.behind_since == at(10)
    assert firing.wake_at == later(at(10), SECOND)


@pytest.mark.proves("R4-39", "T10")
def test_a_queue_holds_max_waiting_runs_besides_the_running_one() -> None:
    spec = every(60, overlap=Overlap.QUEUE, **GRID)

    firing = fire(a_due_schedule(spec, in_flight=3), at(1), scheduler=SchedulerSettings(max_waiting=3))

    assert firing.waiting == {run.id for run in firing.runs}
    assert (len(firing.runs), firing.settled_until, firing.behind_since) == (1, at(1), None)


@pytest.mark.proves("R4-39", "T10")
@pytest.mark.parametrize("catchup", Catchup)
def test_ticks_delayed_by_a_full_queue_all_run_and_late_ones_are_caught_up(catchup: Catchup) -> None:
    spec = every(60, overlap=Overlap.QUEUE, catchup=catchup, **GRID)
    due = a_due_schedule(spec, settled_until=at(9), behind_since=at(10))

    firing = fire(due, at(70))

    reasons = [(tick.scheduled_for, tick.outcome, tick.reason) for tick in firing.ticks]
    waited = [(at(minute), TickOutcome.RAN, TickReason.CAUGHT_UP) for minute in range(10, 70)]
    assert reasons == [*waited, (at(70), TickOutcome.RAN, TickReason.ON_TIME)]


@pytest.mark.proves("R4-39", "T2")
def test_a_full_queue_loses_no_tick_that_others_coalesced_into() -> None:
    spec = every(60, overlap=Overlap.QUEUE, catchup=Catchup.ONCE, jitter=Millis(10 * SECOND), **GRID)
    due = a_due_schedule(spec, in_flight=4)

    firing = fire(due, at(10), scheduler=SchedulerSettings(max_waiting=3))

    covered = sum(tick.count for tick in firing.ticks) + len(firing.planned)
    assert covered == (firing.settled_until - START) // MINUTE


def test_overlap_cancel_running_replaces_what_is_in_flight() -> None:
    firing = fire(a_due_schedule(every(60, overlap=Overlap.CANCEL_RUNNING, **GRID), in_flight=1), at(1))

    assert firing.cancels_running
    assert firing.waiting == {run.id for run in firing.runs}


def test_overlap_cancel_running_keeps_only_the_newest_of_a_pass() -> None:
    spec = every(60, overlap=Overlap.CANCEL_RUNNING, catchup=Catchup.ALL, **GRID)

    firing = fire(a_due_schedule(spec), at(3))

    assert outcomes(firing.ticks) == [
        (TickOutcome.CANCELLED, TickReason.SUPERSEDED, 1),
        (TickOutcome.CANCELLED, TickReason.SUPERSEDED, 1),
        (TickOutcome.RAN, TickReason.ON_TIME, 1),
    ]
    assert [run.id for run in firing.runs] == [firing.ticks[-1].run_id]
    assert not firing.waiting
    assert not firing.cancels_running


@pytest.mark.proves("T11")
def test_a_paused_stretch_is_one_range_and_never_caught_up() -> None:
    spec = every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW, **GRID)
    due = a_due_schedule(spec, pauses=(Pause(at(2), at(8)),))

    firing = fire(due, at(10))

    assert (TickOutcome.SKIPPED, TickReason.PAUSED, 6) in outcomes(firing.ticks)
    assert [run.tick.scheduled_for for run in firing.runs if run.tick] == [at(1), at(2), at(9), at(10)]


@pytest.mark.proves("T11")
def test_a_tick_planned_before_a_pause_and_inside_it_does_not_run() -> None:
    planned = (PlannedTick(at(3), at(3.2), 1),)
    due = a_due_schedule(every(60, **GRID), settled_until=at(3), planned=planned, pauses=(Pause(at(2.9), at(3.1)),))

    firing = fire(due, at(3.2))

    assert outcomes(firing.ticks) == [(TickOutcome.SKIPPED, TickReason.PAUSED, 1)]


@pytest.mark.proves("T11", "T2")
def test_a_late_planned_tick_does_not_coalesce_into_a_paused_one() -> None:
    planned = (PlannedTick(at(1), at(1.2), 1), PlannedTick(at(2), at(2.2), 1))
    spec = every(60, catchup=Catchup.ONCE, **GRID)
    due = a_due_schedule(spec, settled_until=at(10), planned=planned, pauses=(Pause(at(1.5), at(2.5)),))

    firing = fire(due, at(10))

    assert outcomes(firing.ticks) == [
        (TickOutcome.RAN, TickReason.CAUGHT_UP, 1),
        (TickOutcome.SKIPPED, TickReason.PAUSED, 1),
    ]


@pytest.mark.proves("R4-42")
def test_a_late_planned_tick_runs_when_all_later_ones_are_missed() -> None:
    """Otherwise it would coalesce into a tick that never runs."""
    former = Revision(1, START, every(60, catchup=Catchup.ONCE, **GRID))
    current = Revision(2, at(1.5), every(60, catchup=Catchup.NONE, **GRID))
    planned = (PlannedTick(at(1), at(1.2), 1), PlannedTick(at(2), at(2.2), 2))
    due = a_due_schedule(current.spec, revisions=(former, current), settled_until=at(9.9), planned=planned)

    firing = fire(due, at(10))

    assert outcomes(firing.ticks)[:2] == [
        (TickOutcome.RAN, TickReason.CAUGHT_UP, 1),
        (TickOutcome.MISSED, TickReason.DOWN, 1),
    ]


def test_a_disabled_job_skips_its_ticks() -> None:
    jobs = {REPORT: a_job(enabled=False)}

    firing = fire(a_due_schedule(every(60, **GRID)), at(1), jobs=jobs)

    assert outcomes(firing.ticks) == [(TickOutcome.SKIPPED, TickReason.DISABLED, 1)]


@pytest.mark.parametrize("overlap", Overlap)
def test_a_disabled_job_skips_its_ticks_while_runs_are_in_flight(overlap: Overlap) -> None:
    jobs = {REPORT: a_job(enabled=False)}

    firing = fire(a_due_schedule(every(60, overlap=overlap, **GRID), in_flight=2_000), at(1), jobs=jobs)

    assert outcomes(firing.ticks) == [(TickOutcome.SKIPPED, TickReason.DISABLED, 1)]


@pytest.mark.proves("R4-66")
def test_a_tick_that_cannot_be_launched_has_failed() -> None:
    firing = fire(a_due_schedule(every(60, job_id=JobId("ghost"), **GRID)), at(1))

    assert outcomes(firing.ticks) == [(TickOutcome.FAILED, TickReason.LAUNCH_FAILED, 1)]
    assert (firing.runs, firing.settled_until) == ([], at(1))


@pytest.mark.proves("T15")
def test_each_tick_follows_the_revision_of_its_moment() -> None:
    revisions = (
        Revision(1, START, every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW, **GRID)),
        Revision(2, at(3), every(120, catchup=Catchup.NONE, **GRID)),
    )
    due = a_due_schedule(every(60), revisions=revisions)

    firing = fire(due, at(9))

    assert [(tick.scheduled_for, tick.revision, tick.outcome) for tick in firing.ticks] == [
        (at(1), 1, TickOutcome.RAN),
        (at(2), 1, TickOutcome.RAN),
        (at(3), 1, TickOutcome.RAN),
        (at(4), 2, TickOutcome.MISSED),
    ]
    assert firing.ticks[-1].count == 3


@pytest.mark.proves("R1-13")
def test_a_one_time_schedule_has_no_next_moment_after_it_fired() -> None:
    firing = fire(a_due_schedule(once(at(1))), at(1))

    assert len(firing.runs) == 1
    assert (firing.next_run_at, firing.wake_at) == (None, None)


@pytest.mark.proves("R1-13")
def test_a_schedule_without_a_next_moment_is_exhausted_unless_it_is_manual_or_has_a_planned_tick() -> None:
    last = fire(a_due_schedule(once(at(1))), at(1))
    waiting = replace(last, planned=[PlannedTick(at(1), at(2), 1)])

    assert last.is_exhausted(ScheduleType.ONCE)
    assert not last.is_exhausted(ScheduleType.MANUAL)
    assert not waiting.is_exhausted(ScheduleType.ONCE)
    assert not fire(a_due_schedule(every(60, **GRID)), at(1)).is_exhausted(ScheduleType.INTERVAL)


@pytest.mark.proves("T6")
def test_a_clock_set_back_decides_nothing() -> None:
    firing = fire(a_due_schedule(every(60, **GRID), settled_until=at(60)), at(5))

    assert (firing.ticks, firing.runs, firing.settled_until) == ([], [], at(60))
    assert firing.next_run_at == at(61)


@pytest.mark.proves("T6")
def test_after_the_clock_is_set_back_a_backlog_does_not_make_a_tick_late() -> None:
    due = a_due_schedule(every(60, **GRID), settled_until=at(9), behind_since=at(60))

    assert outcomes(fire(due, at(10)).ticks) == [(TickOutcome.RAN, TickReason.ON_TIME, 1)]


@pytest.mark.proves("R4-36", "T2")
def test_a_month_of_seconds_is_one_row() -> None:
    firing = fire(a_due_schedule(every(1, **GRID)), later(START, 30 * DAY))

    missed = firing.ticks[0]
    assert missed.count == (missed.until - missed.scheduled_for) // SECOND + 1
    assert sum(tick.count for tick in firing.ticks) == 30 * DAY // SECOND
