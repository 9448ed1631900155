"""After any sequence of edits, pauses and clock changes the ledger holds exactly the planned moments."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foliot.domain.instant import HOUR, SECOND, Millis
from foliot.domain.schedule.firing import Firing, SchedulerSettings
from foliot.domain.schedule.schedule import Catchup, Overlap, ScheduleSpec
from foliot.domain.schedule.tick import REASONS, JitterMode, TickOutcome
from foliot.testing.builders import every
from tests.domain.schedule_model import ScheduleModel

SCHEDULER = SchedulerSettings(max_catchup_per_tick=5, max_waiting=3, lookahead=Millis(20 * SECOND))


@st.composite
def specs(draw: st.DrawFn) -> ScheduleSpec:
    seconds = draw(st.integers(1, 120))
    return every(
        seconds,
        jitter=Millis(draw(st.integers(0, seconds * SECOND // 2))),
        jitter_mode=draw(st.sampled_from(JitterMode)),
        overlap=draw(st.sampled_from(Overlap)),
        catchup=draw(st.sampled_from(Catchup)),
        catchup_max_age=draw(st.none() | st.integers(0, HOUR).map(Millis)),
    )


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("advance"), st.integers(0, 400_000)),
        st.tuples(st.just("step back"), st.integers(0, 60_000)),
        st.tuples(st.just("fire"), st.none()),
        st.tuples(st.just("wake"), st.integers(0, 20_000)),
        st.tuples(st.just("edit"), specs()),
        st.tuples(st.just("pause"), st.none()),
        st.tuples(st.just("resume"), st.none()),
        st.tuples(st.just("finish"), st.integers(1, 5)),
    ),
    max_size=25,
)


def play(model: ScheduleModel, steps: list[tuple[str, object]]) -> list[Firing]:
    firings = []
    for name, argument in steps:
        match name, argument:
            case "advance", int(span):
                model.advance(span)
            case "wake", int(lateness):
                firing = model.wake(lateness)
                firings += [firing] if firing else []
            case "step back", int(span):
                model.advance(-span)
            case "edit", ScheduleSpec() as spec:
                model.edit(spec)
            case "pause", _:
                model.pause()
            case "resume", _:
                model.resume()
            case "finish", int(how_many):
                model.in_flight = max(0, model.in_flight - how_many)
            case _:
                firing = model.fire()
                firings += [firing] if firing else []
    return firings


def without_steps_back(steps: list[tuple[str, object]]) -> list[tuple[str, object]]:
    return [step for step in steps if step[0] != "step back"]


def drain(model: ScheduleModel, rounds: int = 1_000) -> None:
    """End runs and run the scheduler until no decision is left."""
    model.resume()
    for _ in range(rounds):
        model.in_flight = 0
        if model.is_at_rest:
            return
        model.advance(SECOND)
        model.fire()
    raise AssertionError("the scheduler never comes to rest")


@pytest.mark.proves("T1", "T2", "T3", "T5", "T15")
@given(specs(), STEPS)
@settings(max_examples=200)
def test_the_ledger_has_no_findings_after_every_step(spec: ScheduleSpec, steps: list[tuple[str, object]]) -> None:
    model = ScheduleModel(spec, SCHEDULER)

    play(model, without_steps_back(steps))

    assert model.findings() == []


@pytest.mark.proves("T1", "T2", "T6")
@given(specs(), STEPS)
@settings(max_examples=200)
def test_a_clock_that_is_set_back_loses_and_duplicates_no_tick(
    spec: ScheduleSpec, steps: list[tuple[str, object]]
) -> None:
    model = ScheduleModel(spec, SCHEDULER)

    play(model, steps)

    assert model.findings() == []


@pytest.mark.proves("T1", "T2", "T3", "T9")
@given(specs(), STEPS)
@settings(max_examples=200)
def test_no_tick_is_lost_or_invented(spec: ScheduleSpec, steps: list[tuple[str, object]]) -> None:
    model = ScheduleModel(spec, SCHEDULER)
    play(model, steps)

    drain(model)

    assert sorted(model.accounted_for()) == model.planned_by_hand(model.schedule.settled_until)


@given(specs(), STEPS)
@settings(max_examples=200)
def test_a_schedule_wakes_for_every_planned_tick(spec: ScheduleSpec, steps: list[tuple[str, object]]) -> None:
    model = ScheduleModel(spec, SCHEDULER)
    play(model, without_steps_back(steps))
    if model.schedule.paused_at is not None:
        return

    wake_at, behind = model.schedule.wake_at, model.schedule.behind_since

    assert wake_at is not None
    if behind is None:
        assert all(wake_at <= max(tick.fire_at, model.now) for tick in model.planned)


@pytest.mark.proves("T9", "R4-59")
@given(specs(), STEPS)
def test_no_pass_starts_more_runs_than_the_cap(spec: ScheduleSpec, steps: list[tuple[str, object]]) -> None:
    model = ScheduleModel(spec, SCHEDULER)

    for firing in play(model, steps):
        considered = len(firing.planned) + len(firing.runs)
        assert considered <= 100


@pytest.mark.proves("T2")
@given(specs(), STEPS)
def test_every_row_has_a_reason_of_the_closed_list(spec: ScheduleSpec, steps: list[tuple[str, object]]) -> None:
    model = ScheduleModel(spec, SCHEDULER)

    play(model, steps)

    assert all(tick.reason in REASONS[tick.outcome] for tick in model.ticks)
    assert all((tick.run_id is not None) == (tick.outcome is TickOutcome.RAN) for tick in model.ticks)


@pytest.mark.proves("T4")
@given(specs(), STEPS)
def test_every_tick_that_ran_has_its_run_in_the_same_firing(
    spec: ScheduleSpec, steps: list[tuple[str, object]]
) -> None:
    model = ScheduleModel(spec, SCHEDULER)

    for firing in play(model, steps):
        runs = {run.id: run.tick.scheduled_for for run in firing.runs if run.tick}
        assert runs == {tick.run_id: tick.scheduled_for for tick in firing.ticks if tick.run_id is not None}
        assert firing.waiting <= set(runs)


@pytest.mark.proves("T6")
@given(specs(), STEPS)
def test_the_watermark_never_goes_back(spec: ScheduleSpec, steps: list[tuple[str, object]]) -> None:
    model = ScheduleModel(spec, SCHEDULER)
    watermarks = [model.schedule.settled_until]
    for step in steps:
        play(model, [step])
        watermarks.append(model.schedule.settled_until)

    assert watermarks == sorted(watermarks)


@pytest.mark.proves("T7", "R4-43")
@given(specs(), STEPS)
def test_no_tick_runs_before_its_moment_to_fire(spec: ScheduleSpec, steps: list[tuple[str, object]]) -> None:
    model = ScheduleModel(spec, SCHEDULER)
    for step in steps:
        before = len(model.ticks)
        play(model, [step])
        fresh = [tick for tick in model.ticks[before:] if tick.outcome is TickOutcome.RAN]
        assert all(tick.fire_at <= model.now for tick in fresh)
