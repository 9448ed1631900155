"""The path of a tick and its run as text: what each stage did, which one binds, and what can change it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from foliot.domain.gate.spec import Action
from foliot.domain.instant import LATEST, to_datetime
from foliot.domain.job.job import DEFAULT_QUEUE
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.schedule.schedule import ScheduleType
from foliot.domain.schedule.tick import TickReason
from foliot.interfaces.cli.render.explanation import REASONS, explain, missing_worker, unfit_workers, worker_command
from foliot.interfaces.cli.render.format import exact_span, last_line, moment, span
from foliot.interfaces.cli.render.pause import pause_text
from foliot.interfaces.cli.render.text import counted
from foliot.service import path as answer
from foliot.service.explanation import FanoutEnded
from foliot.service.path import Change, ChangeKind, ExplainedPath, NotPlanned, Stage, StageState
from foliot.service.queries.pause_view import PauseView

_MOST_NAMED: Final = 5
_UNSUCCESSFUL: Final = frozenset({"failed", "timeout", "cancelled"})
TICK_REASONS: Final[Mapping[str, str]] = {
    TickReason.ON_TIME: "on time",
    TickReason.CAUGHT_UP: "caught up",
    TickReason.BOOT: "after a boot of the host",
    TickReason.OVERLAP: "an earlier run of the schedule had not ended",
    TickReason.PAUSED: "the schedule was paused",
    TickReason.DISABLED: "the job or the schedule was disabled",
    TickReason.SUCCESSFUL: "the job had succeeded since the planned time before (skip_if_successful)",
    TickReason.DOWN: "no scheduler was running in time, and the schedule does not catch up",
    TickReason.TOO_OLD: "it was older than catchup_max_age when a scheduler was running again",
    TickReason.LAUNCH_FAILED: "its job or workflow did not exist",
    TickReason.SUPERSEDED: "a newer tick replaced it before it fired",
    TickReason.DELETED: "the schedule was deleted before it fired",
}
_NOT_PLANNED: Final[Mapping[NotPlanned, str]] = {
    NotPlanned.NO_FIRE_TIME: "not a planned time of the schedule",
    NotPlanned.BEFORE_SCHEDULE: "before the schedule was created",
    NotPlanned.PRUNED: "retention has removed the ticks of that time",
}


def path_document(path: ExplainedPath) -> dict[str, Any]:
    stages = [{**msgspec.to_builtins(stage), "text": stage_text(stage)} for stage in path.stages]
    change = {**msgspec.to_builtins(path.change), "text": change_text(path)}
    binds = path.stages.index(path.binding)
    return {**msgspec.to_builtins(path), "stages": stages, "binds": stages[binds]["stage"], "change": change}


def path_rows(path: ExplainedPath) -> Iterator[Sequence[object]]:
    """Yield a row for each stage: a mark if it binds, its name, and what it did."""
    for stage in path.stages:
        yield (">" if stage.state is StageState.BINDS else ""), _name(stage), stage_text(stage)


def path_fields(path: ExplainedPath) -> list[tuple[str, object]]:
    return [
        ("run", path.run_id),
        ("job", path.job_id),
        ("status", path.status),
        ("decided by", _name(path.binding)),
        ("can change", change_text(path)),
    ]


def _name(stage: Stage) -> str:
    name = str(type(stage).__struct_config__.tag)
    return f"{name} {stage.number}" if isinstance(stage, answer.AttemptStage) else name.replace("_", " ")


# -- stages


def stage_text(stage: Stage) -> str:
    match stage:
        case answer.TickStage():
            return _tick(stage)
        case answer.PolicyStage():
            return _policy(stage)
        case answer.PausedStage(all_paused=PauseView() as pause):
            return pause_text(pause)
        case answer.PausedStage():
            why = ", after failed runs in a row (pause_after_failures)" if stage.after_failures else ""
            return f"the schedule has been paused since {moment(stage.since)}{why}"
        case answer.TriggerStage():
            of = f", repeats {stage.rerun_of}" if stage.rerun_of else ""
            user = f" for {stage.user_id}" if stage.user_id else ""
            return f"created at {moment(stage.created_at)} by {stage.trigger}{user}{of}"
        case answer.StepStage():
            return _step(stage)
        case answer.ChainStepStage():
            return _chain_step(stage)
        case answer.DueStage():
            is_open = stage.due_at == to_datetime(LATEST)
            return "when it is answered" if is_open else f"at {moment(stage.due_at)}"
    return _run_stage(stage)


def _run_stage(stage: Stage) -> str:
    match stage:
        case answer.GateStage():
            return _gate(stage)
        case answer.LimitStage():
            held = f", held by {_some(stage.holders)}" if stage.holders else ""
            return f"{stage.option}={stage.value}{held}" if stage.option else f"an earlier run{held}"
        case answer.WorkerStage():
            return _worker(stage)
        case answer.AttemptStage():
            return _attempt(stage)
        case answer.StepsStage():
            deadline = f"; timeout at {moment(stage.deadline)}" if stage.deadline else ""
            return f"{stage.workflow_id} version {stage.version}: {explain(stage.why)}{deadline}"
        case answer.ItemsStage():
            deadline = f"; timeout at {moment(stage.deadline)}" if stage.deadline else ""
            return f"{explain(stage.why)}{deadline}"
        case answer.ChainStage():
            return explain(stage.why)
        case answer.ExitStage():
            return _exit(stage)
    raise AssertionError(stage)


def _tick(stage: answer.TickStage) -> str:
    planned = moment(stage.scheduled_for)
    if stage.not_planned is not None:
        near = ", ".join(moment(at) for at in stage.nearest)
        around = f"; the nearest: {near}" if near else ""
        return f"{planned} is {_NOT_PLANNED[stage.not_planned]} ({stage.schedule_id}, {_rule(stage)}){around}"
    if stage.count > 1:
        planned = f"{planned} to {moment(stage.until)}, {stage.count} ticks,"
    jitter = f", fires at {moment(stage.fire_at)}" if stage.fire_at not in (None, stage.scheduled_for) else ""
    decided = f"decided at {moment(stage.decided_at)}" if stage.decided_at else "not decided yet"
    revision = f", revision {stage.revision} since {moment(stage.revision_since)}" if stage.revision > 1 else ""
    return f"planned for {planned} by {stage.schedule_id} ({_rule(stage)}{revision}){jitter}, {decided}"


def _rule(stage: answer.TickStage) -> str:
    match stage.schedule_type:
        case ScheduleType.INTERVAL:
            return f"every {exact_span(int(stage.schedule_expr))}"
        case ScheduleType.ONCE:
            return f"once at {moment(datetime.fromtimestamp(int(stage.schedule_expr) / 1_000, UTC))}"
        case ScheduleType.CRON:
            return stage.schedule_expr if stage.timezone == "UTC" else f"{stage.schedule_expr} {stage.timezone}"
    return stage.schedule_type or "its rule cannot be read"


def _policy(stage: answer.PolicyStage) -> str:
    parts = [f"{stage.outcome}: {TICK_REASONS.get(stage.reason, stage.reason)}"]
    match stage.reason:
        case TickReason.OVERLAP:
            parts.append(f"overlap={stage.overlap}")
            if stage.in_flight:
                parts.append(f"open then: {_some(stage.in_flight)}")
        case TickReason.PAUSED if stage.all_paused is not None:
            parts.append(pause_text(stage.all_paused))
        case TickReason.PAUSED if stage.paused_since is not None:
            until = f" until {moment(stage.paused_until)}" if stage.paused_until else ""
            parts.append(f"paused at {moment(stage.paused_since)}{until}")
        case TickReason.DOWN | TickReason.TOO_OLD | TickReason.CAUGHT_UP:
            age = "" if stage.catchup_max_age is None else f", catchup_max_age={exact_span(int(stage.catchup_max_age))}"
            parts += [f"decided {span(stage.late)} late", f"catchup={stage.catchup}{age}"]
    if stage.into is not None:
        run = f", run {stage.into_run}" if stage.into_run else ""
        parts.append(f"the tick of {moment(stage.into)} ran for it{run}")
    return "; ".join(parts)


def _step(stage: answer.StepStage) -> str:
    after = [f"{one.step} ({one.result or 'pending'}, required: {one.required})" for one in stage.after]
    parents = f", after {_some(after)}" if after else ""
    return f"{stage.step} of {stage.workflow_id} version {stage.version}, execution {stage.execution_id}{parents}"


def _chain_step(stage: answer.ChainStepStage) -> str:
    of = f"chain {stage.chain_id}" if stage.chain_id else f"class {stage.class_id}"
    decided = f"; it decided {stage.decision}" if stage.decision else ""
    return f"{stage.step} of {of}, depth {stage.depth}, attempt {stage.attempt}, because {stage.cause}{decided}"


_GATE_ACTIONS: Final[Mapping[str, str]] = {Action.SKIP: "skipped", Action.FAIL: "failed", Action.RUN: "passed"}


def _gate(stage: answer.GateStage) -> str:
    if stage.decision is None:
        until = f" until {moment(stage.until)} at most" if stage.until else ""
        return f"waits for {_some(stage.depends_on)}{until}"
    runs = [f"run {run} of {job}" for job, run in stage.decision.deciders.items()]
    deciders = f"; decided by {_some(runs)}" if runs else ""
    return f"{_GATE_ACTIONS.get(stage.decision.action, stage.decision.action)}: {stage.decision.explanation}{deciders}"


def _worker(stage: answer.WorkerStage) -> str:
    if stage.waited is not None:
        where = "a coordinator" if stage.queue == TREES_QUEUE else f'queue "{stage.queue}"'
        return f"{where}, started {span(stage.waited)} after it was due"
    if stage.unfit:
        return f"no living worker can execute the run: {unfit_workers(stage.unfit)}"
    if not stage.workers:
        return f"no {missing_worker(stage.queue)} is alive"
    return f'queue "{stage.queue}": {counted(stage.workers, "worker")}, {stage.running} of {stage.slots} slots in use'


def _attempt(stage: answer.AttemptStage) -> str:
    if stage.finished_at is None or stage.started_at is None:
        return f"{stage.status} on {stage.worker} since {moment(stage.started_at)}"
    took = span((stage.finished_at - stage.started_at).total_seconds())
    reason = REASONS.get(stage.reason or "", stage.reason)
    code = f" (exit code {stage.exit_code})" if stage.exit_code else ""
    again = f"; next attempt at {moment(stage.retry_at)}" if stage.retry_at else ""
    why = f": {reason}{code}" if reason else ""
    return f"started on {stage.worker} at {moment(stage.started_at)}, {stage.status} after {took}{why}{again}"


def _exit(stage: answer.ExitStage) -> str:
    if stage.unreadable:
        return f"its row was not written by Foliot: {stage.error}"
    reason = REASONS.get(stage.reason or "", stage.reason)
    lost = f", {stage.lost} lost" if stage.lost else ""
    tries = f" after {counted(stage.attempts, 'attempt')}{lost}" if stage.attempts else ""
    retries = "" if stage.retries is None or stage.status == "success" else f"; retries={stage.retries}"
    error = f"; {last_line(stage.error)}" if stage.error else ""
    why = f": {reason}" if reason else ""
    return f"{stage.status} at {moment(stage.finished_at)}{tries}{why}{retries}{error}"


# -- what can change it


def change_text(path: ExplainedPath) -> str:
    change = path.change
    at = None if change.at is None or change.at == to_datetime(LATEST) else moment(change.at)
    match change.kind:
        case ChangeKind.NEVER:
            return _never(path)
        case ChangeKind.AT_TIME:
            return f"at {at}"
        case ChangeKind.GATE_DECIDES:
            return (
                f"when {_some(change.waits_for)} end{'s' if len(change.waits_for) == 1 else ''}, at {at} at the latest"
            )
        case ChangeKind.RUN_ENDS:
            return f"when {_some(change.waits_for) or 'an earlier run'} ends"
        case ChangeKind.ATTEMPT_ENDS:
            return f"when the attempt ends{f', by its timeout at {at}' if at else ''}"
        case ChangeKind.STEPS_END:
            current = f": {_some(change.waits_for)}" if change.waits_for else ""
            return f"when its steps end{current}{f'; by its timeout at {at}' if at else ''}"
        case ChangeKind.RESUMED if at:
            return f"the ticks from {at} on, or earlier: foliot resume --all"
        case ChangeKind.ITEMS_END | ChangeKind.CHAIN_GOES_ON:
            return _when_parts_end(change, at)
        case ChangeKind.WORKER_STARTS:
            return _when_worker_starts(path)
    return _CHANGES[change.kind].format(*change.waits_for)


def _when_parts_end(change: Change, at: str | None) -> str:
    if change.kind is ChangeKind.ITEMS_END:
        return f"when its items end{f', by its timeout at {at}' if at else ''}"
    return f"when {_some(change.waits_for) or 'it'} ends{f', at its expiry {at} at the latest' if at else ''}"


def _when_worker_starts(path: ExplainedPath) -> str:
    stage = next((one for one in path.stages if isinstance(one, answer.WorkerStage)), None)
    queue, needs = (DEFAULT_QUEUE, ()) if stage is None else (stage.queue, stage.needs)
    command = worker_command(queue, needs)
    if stage is None or not stage.unfit:
        return f"when a {missing_worker(queue)} is started: {command}"
    some = "when a worker is alive that has all labels the run requires, and is neither paused nor draining"
    return f"{some}: {command}" if needs else some


_CHANGES: Final[Mapping[ChangeKind, str]] = {
    ChangeKind.DECIDED: "as soon as a scheduler decides it; if that takes long, see the log of foliot serve",
    ChangeKind.SCHEDULER_STARTS: "when a scheduler is started: foliot serve",
    ChangeKind.RESUMED: "the next ticks, when the schedule is resumed: foliot resume",
    ChangeKind.SLOT_FREES: "when a slot of a worker is free and no earlier run waits",
    ChangeKind.ANSWERED: "when it is approved or rejected: foliot workflows approve {} {}, or reject",
    ChangeKind.REPAIRED: "when the row is restored from a backup, or the run is cancelled",
}


def _never(path: ExplainedPath) -> str:
    if path.run_id is not None:
        return f"no, it has ended; {_again(path)}"
    tick = path.stages[0]
    following = tick.next_run_at if isinstance(tick, answer.TickStage) else None
    after = f"; the next planned time is {moment(following)}" if following else ""
    return f"no, a tick is decided only once{after}" if _is_decided(tick) else f"no{after}"


def _again(path: ExplainedPath) -> str:
    """Return how to repeat a run that has ended: what failed of it, or all."""
    for stage in path.stages:
        match stage:
            case answer.StepsStage(steps=steps) if any(line.result == "failure" for line in steps):
                return f"repeat its failed steps and what follows with: foliot workflows rerun {path.run_id}"
            case answer.ItemsStage(why=FanoutEnded(counts=counts)) if not _UNSUCCESSFUL.isdisjoint(counts):
                return f"repeat its failed items with: foliot retry {path.run_id} --failed"
    return f"run it again with: foliot retry {path.run_id}"


def _is_decided(stage: Stage) -> bool:
    return isinstance(stage, answer.TickStage) and stage.decided_at is not None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
