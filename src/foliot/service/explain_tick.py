"""Builds the stages of a planned time: the tick and what the policies of its schedule decided."""

from collections.abc import Sequence
from typing import Final

from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.schedule.schedule import UNPLANNED, Revision
from foliot.domain.schedule.tick import TickReason
from foliot.domain.schedule.timetable import Timetable
from foliot.errors import InvalidInput
from foliot.ports.ticks import LedgerRow, TickDetails
from foliot.service.explain_path import binding, late_by
from foliot.service.path import Change, ChangeKind, NotPlanned, PausedStage, PolicyStage, Stage, TickStage
from foliot.service.queries.documents import moment
from foliot.service.queries.pause_view import view_pause

_FINAL: Final = Change(kind=ChangeKind.NEVER)


def decided_stages(tick: TickDetails, row: LedgerRow) -> list[Stage]:
    """Return tick and policy of a decided tick, as they were when it was decided."""
    record = row.record
    revision = _revision(tick, record.revision)
    spec = None if revision is None else revision.spec
    pause = next((one for one in tick.pauses if one.includes(tick.at)), None)
    of_all = next((one for one in tick.project_pauses if one.includes(tick.at)), None)
    into_run = None if tick.into is None else tick.into.record.run_id
    return [
        _tick_stage(tick, row),
        PolicyStage(
            outcome=record.outcome,
            reason=record.reason,
            overlap="" if spec is None else spec.overlap,
            catchup="" if spec is None else spec.catchup,
            catchup_max_age=None if spec is None or spec.catchup_max_age is None else spec.catchup_max_age / SECOND,
            late=late_by(record.fire_at, row.decided_at),
            in_flight=tuple(run.id for run in tick.in_flight),
            into=moment(record.into),
            into_run=into_run,
            paused_since=moment(pause.since) if pause and record.reason is TickReason.PAUSED else None,
            paused_until=moment(pause.until) if pause and record.reason is TickReason.PAUSED else None,
            all_paused=view_pause(of_all) if of_all and record.reason is TickReason.PAUSED else None,
        ),
    ]


def explain_decided(tick: TickDetails, row: LedgerRow) -> tuple[list[Stage], Change]:
    """Explain a tick without a run, or whose run retention has removed. A decided tick is not decided again."""
    *before, policy = decided_stages(tick, row)
    is_still_paused = row.record.reason is TickReason.PAUSED and _is_paused(tick)
    change = Change(kind=ChangeKind.RESUMED) if is_still_paused else _FINAL
    return [*before, binding(policy)], change


def explain_undecided(tick: TickDetails, now: Instant) -> tuple[list[Stage], Change]:
    """Explain a time that is not in the ledger: it is still to come, overdue, or not a planned time."""
    stage = _tick_stage(tick, None)
    if tick.planned is not None:
        return [binding(stage)], Change(kind=ChangeKind.AT_TIME, at=to_datetime(tick.planned.fire_at))
    if stage.not_planned is not None:
        return [binding(stage)], _FINAL
    schedule = tick.schedule
    if schedule is not None and schedule.paused_at is not None:
        paused = PausedStage(since=to_datetime(schedule.paused_at), after_failures=tick.stopped_at is not None)
        return [stage, binding(paused)], Change(kind=ChangeKind.RESUMED)
    pause = next((one for one in tick.project_pauses if one.is_in_force(now)), None)
    if pause is not None and (pause.until is None or tick.at <= pause.until):
        all_paused = PausedStage(since=to_datetime(pause.since), all_paused=view_pause(pause))
        return [stage, binding(all_paused)], Change(kind=ChangeKind.RESUMED, at=moment(pause.ends_at))
    if tick.at > now:
        return [binding(stage)], Change(kind=ChangeKind.AT_TIME, at=to_datetime(tick.at))
    kind = ChangeKind.DECIDED if tick.has_scheduler else ChangeKind.SCHEDULER_STARTS
    return [binding(stage)], Change(kind=kind)


def _tick_stage(tick: TickDetails, row: LedgerRow | None) -> TickStage:
    planned, schedule = tick.planned, tick.schedule
    number = row.record.revision if row is not None else None if planned is None else planned.revision
    revision = _revision(tick, number)
    spec = None if revision is None else revision.spec
    at = tick.at if planned is None else planned.scheduled_for
    fire_at = row.record.fire_at if row is not None else None if planned is None else planned.fire_at
    reason, nearest = (None, ()) if row is not None or planned is not None else _not_planned(tick)
    return TickStage(
        schedule_id=tick.schedule_id,
        scheduled_for=to_datetime(at if row is None else row.record.scheduled_for),
        until=to_datetime(at if row is None else row.record.until),
        count=1 if row is None else row.record.count,
        fire_at=moment(fire_at),
        decided_at=None if row is None else to_datetime(row.decided_at),
        revision=0 if revision is None else revision.number,
        revision_since=None if revision is None else to_datetime(revision.opened_at),
        schedule_type="" if spec is None else spec.type,
        schedule_expr="" if spec is None else spec.expr,
        timezone="" if spec is None else spec.timezone,
        next_run_at=None if schedule is None else moment(schedule.next_run_at),
        not_planned=reason,
        nearest=tuple(to_datetime(one) for one in nearest),
    )


def _revision(tick: TickDetails, number: int | None) -> Revision | None:
    """Return the revision with a number, or the one that applies to the time."""
    if number is not None:
        return next((one for one in tick.revisions if one.number == number), None)
    return Timetable(tick.schedule_id, tick.revisions).revision_at(tick.at) if tick.revisions else None


def _not_planned(tick: TickDetails) -> tuple[NotPlanned | None, Sequence[Instant]]:
    """Return why an undecided time is not a planned one, with the planned times around it; None if it is one."""
    schedule = tick.schedule
    if schedule is None or schedule.revision.spec.type in UNPLANNED:
        return NotPlanned.NO_FIRE_TIME, ()
    following = _next(tick, tick.at)
    if tick.at <= schedule.created_at:
        return NotPlanned.BEFORE_SCHEDULE, following
    if schedule.ledger_from is not None and tick.at < schedule.ledger_from:
        return NotPlanned.PRUNED, ()
    is_planned = tick.at > schedule.settled_until and _next(tick, Instant(tick.at - 1)) == [tick.at]
    if is_planned:
        return None, ()
    # After the watermark the ledger has no rows: the newest one may be long before this time.
    is_settled = tick.at <= schedule.settled_until
    before = [tick.before.record.until] if tick.before is not None and is_settled else []
    return NotPlanned.NO_FIRE_TIME, [*before, *following]


def _next(tick: TickDetails, after: Instant) -> list[Instant]:
    """Return the first planned time after a moment; none if the rule can no longer be evaluated."""
    try:
        found = Timetable(tick.schedule_id, tick.revisions, tick.pauses).next(after)
    except InvalidInput:
        return []
    return [] if found is None else [found]


def _is_paused(tick: TickDetails) -> bool:
    return tick.schedule is not None and tick.schedule.paused_at is not None
