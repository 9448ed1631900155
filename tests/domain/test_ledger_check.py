"""The ledger check accepts everything that policies, jitter, retention and backlogs can produce, and nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foliot.domain.audit import AuditInput, Fault, Finding, LaunchedRun, LedgerCheck, Page
from foliot.domain.ids import JobId, RunId, ScheduleUid
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis, later
from foliot.domain.run.run import Tick
from foliot.domain.schedule.edit import create
from foliot.domain.schedule.schedule import Catchup, Overlap, Revision, Schedule, ScheduleSpec
from foliot.domain.schedule.tick import JitterMode, PlannedTick, TickOutcome, TickReason, TickRecord, tick_key
from foliot.domain.schedule.timetable import Timetable
from foliot.testing.builders import NIGHTLY, REPORT, a_tick, every
from foliot.testing.clock import START
from tests.cases import for_each

UID = ScheduleUid("uid-of-nightly")


def at(minute: int) -> Instant:
    return later(START, minute * MINUTE)


def ran(minute: int) -> TickRecord:
    return a_tick(at(minute), TickOutcome.RAN, TickReason.ON_TIME, run_id=run_id(minute))


def run_id(minute: int) -> RunId:
    return RunId(f"R{minute:02}")


def a_run_of(minute: int, job_id: str = REPORT, *, took: int = SECOND) -> LaunchedRun:
    tick = Tick(UID, NIGHTLY, at(minute), tick_key(NIGHTLY, at(minute)))
    return LaunchedRun(run_id(minute), JobId(job_id), tick, None if took < 0 else later(at(minute), took))


class StoredLedger(NamedTuple):
    """The input of an audit with all its rows and runs."""

    schedule: Schedule
    deleted_at: Instant | None
    timetable: Timetable
    planned: Sequence[PlannedTick]
    ticks: Sequence[TickRecord]
    keys: Mapping[Instant, str]
    runs: Mapping[RunId, LaunchedRun]
    after: Instant
    now: Instant


def check(case: StoredLedger, size: int = 100) -> list[Finding]:
    """Return the findings when rows and runs are read in pages of this size."""
    audit_input = AuditInput(case.schedule, case.deleted_at, case.timetable, case.planned, case.after, case.now)
    named = Counter(tick.run_id for tick in case.ticks if tick.run_id is not None)
    ledger_check = LedgerCheck(audit_input, [run_id for run_id, times in named.items() if times > 1])
    rows = {tick.scheduled_for: tick for tick in case.ticks}
    runs = sorted(case.runs.values(), reverse=True)
    for start in range(0, len(runs), size):
        ledger_check.read_runs(runs[start : start + size], rows)
    for start in range(0, len(case.ticks), size):
        ticks = case.ticks[start : start + size]
        own = {tick.run_id for tick in ticks}
        page = Page(ticks, dict(case.keys), {run.id: run for run in runs if run.id in own})
        ledger_check.read(page)
    return ledger_check.findings()


def a_ledger(
    *ticks: TickRecord, spec: ScheduleSpec | None = None, runs: list[LaunchedRun] | None = None, **fields: Any
) -> StoredLedger:
    """Return the ledger that a scheduler would have written for these ticks, with a run for each tick that ran."""
    spec = spec or every(60, anchor=START)
    settled_until = max([START, *(tick.until for tick in ticks)])
    launched = [tick.scheduled_for for tick in ticks if tick.outcome is TickOutcome.RAN]
    coming = Timetable(NIGHTLY, (Revision(1, START, spec),)).next(settled_until)
    schedule = replace(
        create(UID, NIGHTLY, "default", spec, START),
        settled_until=settled_until,
        next_run_at=coming,
        wake_at=coming,
        last_scheduled_at=max(launched, default=None),
    )
    if runs is None:
        runs = [a_run_of((moment - START) // MINUTE) for moment in launched]
    known: dict[str, Any] = {
        "schedule": schedule,
        "deleted_at": None,
        "timetable": Timetable(NIGHTLY, (schedule.revision,)),
        "planned": (),
        "ticks": ticks,
        "keys": {tick.scheduled_for: tick_key(NIGHTLY, tick.scheduled_for) for tick in ticks if tick.count == 1},
        "runs": {run.id: run for run in runs},
        "after": START,
        "now": settled_until,
    }
    return StoredLedger(**{**known, **fields})


def faults(case: StoredLedger) -> list[Fault]:
    return [finding.fault for finding in check(case)]


def test_a_ledger_written_by_a_scheduler_has_no_findings() -> None:
    assert faults(a_ledger()) == []
    assert faults(a_ledger(*(ran(minute) for minute in range(1, 6)))) == []


def test_findings_are_in_order_of_their_moments() -> None:
    wrong = [ran(minute)._replace(revision=9, fire_at=START) for minute in (1, 2, 3)]

    findings = check(a_ledger(*wrong))

    assert len(findings) == 6
    assert findings == sorted(findings, key=lambda finding: finding.first)


# -- outcomes


MISSED = (TickOutcome.MISSED, TickReason.DOWN)
TOO_OLD = (TickOutcome.MISSED, TickReason.TOO_OLD)
OVERLAP = (TickOutcome.SKIPPED, TickReason.OVERLAP)
DISABLED = (TickOutcome.SKIPPED, TickReason.DISABLED)
SUPERSEDED = (TickOutcome.CANCELLED, TickReason.SUPERSEDED)
DELETED = (TickOutcome.CANCELLED, TickReason.DELETED)
FAILED = (TickOutcome.FAILED, TickReason.LAUNCH_FAILED)
COALESCED = (TickOutcome.COALESCED, TickReason.CAUGHT_UP)
RAN = (TickOutcome.RAN, TickReason.ON_TIME)
AGED = {"catchup": Catchup.ALL, "catchup_max_age": HOUR}


@for_each(
    ("ending", "policies", "is_possible"),
    [
        (MISSED, {"catchup": Catchup.NONE}, True),
        (MISSED, {"catchup": Catchup.ONCE}, False),
        (TOO_OLD, AGED, True),
        (TOO_OLD, {"catchup": Catchup.ALL}, False),
        (TOO_OLD, {**AGED, "catchup": Catchup.NONE}, False),
        (OVERLAP, {"overlap": Overlap.SKIP}, True),
        (OVERLAP, {"overlap": Overlap.QUEUE}, False),
        (SUPERSEDED, {"overlap": Overlap.CANCEL_RUNNING}, True),
        (SUPERSEDED, {"overlap": Overlap.ALLOW}, False),
        (DELETED, {}, False),
        (DISABLED, {}, True),
        (FAILED, {}, True),
        ((TickOutcome.FAILED, TickReason.OVERLAP), {}, False),
        ((TickOutcome.RAN, TickReason.DOWN), {}, False),
    ],
)
def test_an_outcome_must_be_possible_under_the_policies(
    ending: tuple[TickOutcome, TickReason], policies: dict[str, Any], is_possible: bool
) -> None:
    ledger = a_ledger(a_tick(at(1), *ending), spec=every(60, anchor=START, **policies))

    assert (Fault.IMPOSSIBLE in faults(ledger)) is not is_possible


@pytest.mark.parametrize(("ending", "is_possible"), [(MISSED, True), (DISABLED, False), (FAILED, False)])
def test_only_counted_outcomes_can_be_a_range(ending: tuple[TickOutcome, TickReason], is_possible: bool) -> None:
    ledger = a_ledger(a_tick(at(1), *ending, until=at(3), count=3))

    assert faults(ledger) == ([] if is_possible else [Fault.IMPOSSIBLE])


def test_only_a_deleted_schedule_has_ticks_cancelled_as_deleted() -> None:
    assert faults(a_ledger(a_tick(at(1), *DELETED), deleted_at=at(1))) == []


# -- targets of coalesced ticks


def coalesced(minute: int, into: Instant) -> TickRecord:
    return a_tick(at(minute), TickOutcome.COALESCED, TickReason.CAUGHT_UP, into=into)


@pytest.mark.parametrize(
    ("target", "is_sound"),
    [
        (ran(2), True),
        (coalesced(2, at(3)), True),
        (a_tick(at(2), *OVERLAP), True),
        (a_tick(at(2), *DISABLED), True),
        (a_tick(at(2), *FAILED), True),
        (a_tick(at(2), *MISSED), False),
        (a_tick(at(2), TickOutcome.SKIPPED, TickReason.PAUSED), False),
    ],
)
def test_a_coalesced_tick_must_name_a_tick_that_was_offered(target: TickRecord, is_sound: bool) -> None:
    spec = every(60, anchor=START, catchup=Catchup.ONCE)

    found = faults(a_ledger(coalesced(1, at(2)), target, ran(3), spec=spec))

    assert (Fault.LEADS_NOWHERE not in found) is is_sound


def test_a_coalesced_tick_may_name_the_last_row() -> None:
    missed = a_tick(at(2), *MISSED)

    found = faults(a_ledger(coalesced(1, at(2)), missed, spec=every(60, anchor=START, catchup=Catchup.ONCE)))

    assert Fault.LEADS_NOWHERE in found


def test_with_a_backlog_a_coalesced_tick_may_name_an_undecided_moment() -> None:
    ledger = a_ledger(coalesced(1, at(2)), spec=every(60, anchor=START, catchup=Catchup.ONCE))
    behind = ledger._replace(schedule=replace(ledger.schedule, behind_since=at(9)))

    assert faults(ledger) == [Fault.LEADS_NOWHERE]
    assert faults(behind) == []


def test_a_coalesced_tick_may_name_a_planned_tick() -> None:
    spec = every(60, anchor=START, catchup=Catchup.ONCE, catchup_max_age=HOUR)
    rows = (coalesced(1, at(3)), a_tick(at(2), *TOO_OLD), ran(4))

    assert Fault.LEADS_NOWHERE not in faults(a_ledger(*rows, spec=spec, planned=(PlannedTick(at(3), at(3), 1),)))


def test_a_range_that_ends_after_the_watermark_is_found() -> None:
    ledger = a_ledger(a_tick(at(1), TickOutcome.MISSED, TickReason.DOWN, until=at(3), count=3))
    cut = ledger._replace(schedule=replace(ledger.schedule, settled_until=at(2), next_run_at=at(3), wake_at=at(3)))

    assert faults(ledger) == []
    assert faults(cut) == [Fault.BEYOND_WATERMARK]


# -- jitter


@pytest.mark.parametrize("minute", range(1, 7))
def test_jitter_moves_no_tick_before_the_start_of_the_schedule(minute: int) -> None:
    jitter = Millis(20 * SECOND)
    spec = every(60, anchor=START, jitter=jitter, start_at=at(minute))
    offset = int(tick_key(NIGHTLY, at(minute))[:16], 16) % (2 * jitter + 1) - jitter
    ledger = a_ledger(a_tick(at(minute), *DISABLED, fire_at=later(at(minute), max(offset, 0))), spec=spec)

    assert Fault.MISTIMED not in faults(ledger)


def test_only_spread_may_delay_a_tick_beyond_its_jitter() -> None:
    late = PlannedTick(at(1), later(at(1), 7 * SECOND), 1)

    for catchup in Catchup:
        ledger = a_ledger(spec=every(60, anchor=START, catchup=catchup), planned=(late,), now=at(2))
        planned = ledger._replace(
            schedule=replace(ledger.schedule, settled_until=at(1), next_run_at=at(2), wake_at=late.fire_at)
        )
        assert faults(planned) == ([] if catchup is Catchup.SPREAD else [Fault.MISTIMED])


def test_not_even_spread_plans_a_tick_before_its_moment() -> None:
    early = PlannedTick(at(1), later(at(1), -7 * SECOND), 1)
    ledger = a_ledger(spec=every(60, anchor=START, catchup=Catchup.SPREAD), planned=(early,), now=at(2))
    planned = ledger._replace(
        schedule=replace(ledger.schedule, settled_until=at(1), next_run_at=at(2), wake_at=early.fire_at)
    )

    assert faults(planned) == [Fault.MISTIMED]


def test_a_renamed_schedule_keeps_the_jitter_of_its_first_name() -> None:
    spec = every(60, anchor=START, jitter=Millis(20 * SECOND), jitter_mode=JitterMode.AFTER)
    named = every(60, anchor=START, jitter=Millis(20 * SECOND), jitter_mode=JitterMode.AFTER, seed="before")
    offset = int(tick_key(NIGHTLY, at(1))[:16], 16) % (20 * SECOND + 1)
    tick = a_tick(at(1), *DISABLED, fire_at=later(at(1), offset))

    assert faults(a_ledger(tick, spec=spec)) == []
    assert faults(a_ledger(tick, spec=named)) == [Fault.MISTIMED]


def test_after_a_rename_the_key_of_a_tick_is_compared_with_that_of_its_run() -> None:
    renamed = every(60, anchor=START, seed="before")
    run = a_run_of(1)
    former = {at(1): tick_key(NIGHTLY, at(7))}
    same = run._replace(tick=run.tick and run.tick._replace(key=former[at(1)]))

    assert faults(a_ledger(ran(1), spec=renamed, keys=former, runs=[same])) == []
    assert faults(a_ledger(ran(1), spec=renamed, keys=former, runs=[run])) == [Fault.WRONG_KEY]


# -- missing runs


@for_each(
    ("there", "gone"),
    [
        ([a_run_of(2), a_run_of(3)], []),
        ([a_run_of(1), a_run_of(3)], [run_id(2)]),
        ([a_run_of(1), a_run_of(2)], [run_id(3)]),
        ([a_run_of(1)], [run_id(2), run_id(3)]),
        ([], []),
        # an older run that took longer than the others, or is running
        ([a_run_of(1, took=HOUR), a_run_of(3)], []),
        ([a_run_of(1, took=-1)], []),
        # runs of another job: the job of the run between them is not known
        ([a_run_of(1), a_run_of(3, "after:report")], []),
        ([a_run_of(1, "after:report"), a_run_of(3, "after:report")], [run_id(2)]),
        # older than the checked rows
        ([a_run_of(-1), a_run_of(2), a_run_of(3)], [run_id(1)]),
    ],
)
def test_a_run_is_missing_if_an_older_run_of_its_job_is_stored(there: list[LaunchedRun], gone: list[RunId]) -> None:
    findings = check(a_ledger(ran(1), ran(2), ran(3), runs=there))

    assert [finding.run_id for finding in findings] == gone
    assert {finding.fault for finding in findings} <= {Fault.RUN_MISSING}


# -- wake times


def waking(**fields: Any) -> list[Fault]:
    ledger = a_ledger(ran(1))
    return faults(ledger._replace(schedule=replace(ledger.schedule, **fields), now=at(9)))


def test_a_schedule_wakes_for_its_next_moment_or_immediately() -> None:
    late = Instant(at(2) + 1)

    assert waking(wake_at=at(2)) == waking(wake_at=at(1)) == []
    assert waking(wake_at=late) == [Fault.OVERSLEEPS]
    assert waking(wake_at=late, updated_at=late) == []


def test_a_schedule_with_a_backlog_wakes_after_one_poll_of_the_scheduler() -> None:
    assert waking(wake_at=at(10), behind_since=at(5)) == []
    assert waking(wake_at=Instant(at(10) + 1), behind_since=at(5)) == [Fault.OVERSLEEPS]
    assert waking(wake_at=at(20), behind_since=at(19)) == []


def test_a_schedule_that_may_fire_early_must_wake_early() -> None:
    ledger = a_ledger(spec=every(60, anchor=at(1), jitter=Millis(10 * SECOND)))

    assert faults(ledger) == [Fault.OVERSLEEPS]
    assert faults(ledger._replace(schedule=replace(ledger.schedule, wake_at=Instant(at(1) - 10 * SECOND)))) == []


def test_a_disabled_schedule_with_planned_moments_is_asleep() -> None:
    assert waking(enabled=False) == waking(wake_at=None) == [Fault.ASLEEP]


def test_a_ledger_that_begins_after_the_watermark_is_found() -> None:
    ledger = a_ledger(after=at(5))
    beginning = [replace(ledger.schedule, ledger_from=Instant(START + after)) for after in (1, 2)]

    assert [faults(ledger._replace(schedule=schedule)) for schedule in beginning] == [[], [Fault.WRONG_START]]


# -- revisions


def ruled_by(*revisions: Revision, **fields: Any) -> list[Fault]:
    ledger = a_ledger(**fields)
    schedule = replace(ledger.schedule, revision=revisions[-1])
    return faults(ledger._replace(schedule=schedule, timetable=Timetable(NIGHTLY, revisions)))


def test_impossible_revisions_are_found() -> None:
    spec = every(60, anchor=START)

    assert ruled_by(Revision(1, START, spec), Revision(2, at(1), spec), Revision(3, at(1), spec)) == []
    assert Fault.WRONG_RULE in ruled_by(Revision(1, at(-1), spec))
    assert Fault.WRONG_RULE in ruled_by(Revision(2, START, spec))
    assert Fault.WRONG_RULE in ruled_by(Revision(1, START, spec), Revision(3, START, spec))
    assert Fault.WRONG_RULE in ruled_by(Revision(1, START, spec), Revision(2, at(2), spec), Revision(3, at(1), spec))


def test_a_range_belongs_to_one_revision() -> None:
    spec = every(60, anchor=START)
    ledger = a_ledger(a_tick(at(1), *MISSED, until=at(4), count=4))
    revisions = (Revision(1, START, spec), Revision(2, at(2), spec))
    edited = replace(ledger.schedule, revision=revisions[-1])

    assert faults(ledger._replace(schedule=edited, timetable=Timetable(NIGHTLY, revisions))) == [Fault.OTHER_REVISION]


# -- page by page


@st.composite
def arbitrary_ledgers(draw: st.DrawFn) -> StoredLedger:
    """A ledger with arbitrary rows."""
    minutes = draw(st.lists(st.integers(1, 30), unique=True, max_size=20).map(sorted))
    rows = [draw(a_row(minute)) for minute in minutes]
    runs = draw(
        st.lists(st.builds(a_launch, st.integers(0, 31), st.integers(0, 31), st.booleans(), st.integers(-1, 9)))
    )
    spec = every(60, anchor=START, catchup=draw(st.sampled_from(Catchup)))
    known = {run.id: run for run in runs}
    planned = [PlannedTick(at(minute), at(minute), 1) for minute in draw(st.sets(st.integers(1, 33), max_size=3))]
    return a_ledger(*rows, spec=spec, runs=[*known.values()], planned=planned)


@st.composite
def a_row(draw: st.DrawFn, minute: int) -> TickRecord:
    outcome, reason = draw(st.sampled_from([MISSED, TOO_OLD, OVERLAP, COALESCED, RAN, RAN, RAN]))
    until = at(minute + draw(st.sampled_from([0, 0, 0, 1, 3])))
    return a_tick(
        at(minute),
        outcome,
        reason,
        until=until,
        count=draw(st.integers(1, 3)),
        run_id=run_id(draw(st.integers(0, 31))) if outcome is TickOutcome.RAN else None,
        into=at(draw(st.integers(1, 32))) if outcome is TickOutcome.COALESCED else None,
    )


def a_launch(number: int, minute: int, is_led: bool, took: int) -> LaunchedRun:
    run = a_run_of(minute, "after:report" if is_led else REPORT, took=took * MINUTE)
    return run._replace(id=run_id(number))


@given(arbitrary_ledgers(), st.integers(1, 7))
def test_how_many_rows_a_page_has_changes_nothing(case: StoredLedger, size: int) -> None:
    assert check(case, size) == check(case)


@given(arbitrary_ledgers())
def test_who_looks_at_all_runs_at_once_finds_the_same_ones_missing(case: StoredLedger) -> None:
    found = [finding.run_id for finding in check(case) if finding.fault is Fault.RUN_MISSING]

    assert sorted(map(str, found)) == sorted(simple_missing_runs(case))


def simple_missing_runs(case: StoredLedger) -> list[str]:
    """Return the missing runs for which an older run of the same job had ended before the tick fired."""
    kept = sorted(run for run in case.runs.values() if run.tick)
    first = {tick.run_id: tick for tick in reversed(case.ticks) if tick.outcome is TickOutcome.RAN}
    missing: list[str] = []
    for name, tick in first.items():
        older = [run for run in kept if run.id < str(name)]
        younger = [run for run in kept if run.id > str(name)]
        if name in case.runs or not older or (younger and younger[0].job_id != older[-1].job_id):
            continue
        ends = [run.finished_at for run in older if run.job_id == older[-1].job_id and run.finished_at is not None]
        if any(end <= tick.fire_at for end in ends):
            missing.append(str(name))
    return missing
