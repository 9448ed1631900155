"""Values as text: moments, lengths of time, states and rules."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import convert

from foliot.domain.instant import LATEST, to_datetime
from foliot.domain.run.progress import percent_of
from foliot.domain.run.retry import Retry
from foliot.domain.schedule.schedule import ScheduleType
from foliot.interfaces.cli.render.table import Column
from foliot.service.queries.job_view import JobView
from foliot.service.queries.run_view import ProgressView, RunView
from foliot.service.queries.schedule_view import ScheduleView, TickView

RUN_COLUMNS: Final = (
    Column("RUN", is_whole=True),
    Column("JOB", is_whole=True),
    Column("STATUS", stays=True),
    Column("STARTED"),
    Column("TOOK"),
    Column("TRY"),
    Column("BY"),
)

_BAR: Final = 10
"""The width of a progress bar."""

TICK_COLUMNS: Final = (
    Column("PLANNED", is_whole=True),
    Column("SCHEDULE", is_whole=True),
    Column("OUTCOME", stays=True),
    Column("COUNT"),
    Column("RUN", is_whole=True),
    Column("STATUS"),
)


def moment(at: datetime | None) -> str:
    """Return a moment in the time zone of this machine, with its offset."""
    if at is None:
        return "-"
    text = at.astimezone().isoformat(" ", "seconds")
    return f"{text.removesuffix('+00:00')}Z" if text.endswith("+00:00") else text


def progress_bar(progress: ProgressView) -> str:
    """Return progress as a bar, whole percents and the text: [####------] 40% page 12."""
    return f"{bar(progress.fraction)} {progress.text or ''}".rstrip()


def bar(fraction: float) -> str:
    """Return a fraction from 0 to 1 as a bar with whole percents: [####------] 40%."""
    percent = percent_of(fraction)
    return f"[{('#' * (percent * _BAR // 100)).ljust(_BAR, '-')}] {percent}%"


def span(length: float | None) -> str:
    """Return seconds in their two largest units: 350ms, 12.3s, 4m05s, 3h20m, 2d04h."""
    if length is None:
        return "-"
    if length < 1:
        return f"{round(length * 1_000)}ms"
    if length < 60:
        return f"{length:.1f}s"
    minutes, seconds = divmod(int(length), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d{hours:02}h"
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{seconds:02}s"


def run_row(run: RunView) -> Sequence[object]:
    started = moment(run.started_at) if run.started_at else f"due {due(run)}"
    return run.id, run.job_id, status(run), started, span(run.duration), run.attempt, triggered_by(run)


def triggered_by(run: RunView) -> str:
    """Return the schedule or the execution that created the run, else its trigger."""
    if run.parent_id is None:
        return run.job_schedule_id or run.trigger
    index = "" if run.item_index is None else f" {run.item_index}"
    return f"{run.kind}{index} of {run.parent_id}"


def due(run: RunView) -> str:
    """Return when the run may start. An approval without a timeout has no such moment."""
    return "when answered" if run.due_at == to_datetime(LATEST) else moment(run.due_at)


def status(run: RunView) -> str:
    if run.unreadable:
        return "unreadable"
    # A run that waits for its next attempt has the reason of the last one, which is not the reason of its status.
    has_reason = run.reason and run.reason != run.status and run.status.is_terminal
    return f"{run.status} ({run.reason})" if has_reason else str(run.status)


def tick_row(tick: TickView) -> Sequence[object]:
    planned = moment(tick.scheduled_for)
    more = f" to {moment(tick.until)} ({tick.count})" if tick.count > 1 else ""
    outcome = "unreadable" if tick.unreadable else f"{tick.outcome} ({tick.reason})"
    return f"{planned}{more}", outcome, tick.run_id or "-", tick.status or "-"


def listed_tick_row(tick: TickView) -> Sequence[object]:
    """Return the row of a tick in a list of several schedules. A range shows its first moment and its count."""
    planned, outcome, run_id, run_status = tick_row(tick)
    first = str(planned).partition(" (")[0]
    return first, tick.schedule_id, outcome, tick.count, run_id, run_status


def rule(schedule: ScheduleView) -> str:
    """Return the rule of a schedule, as it was written."""
    match schedule.schedule_type:
        case ScheduleType.INTERVAL:
            return f"every {exact_span(int(schedule.schedule_expr))}"
        case ScheduleType.ONCE:
            return f"once at {moment(datetime.fromtimestamp(int(schedule.schedule_expr) / 1_000, UTC))}"
        case ScheduleType.MANUAL:
            return "manual"
        case ScheduleType.REBOOT:
            return "once after each boot of the host"
        case _:
            zone = "" if schedule.timezone == "UTC" else f" {schedule.timezone}"
            return f"{schedule.schedule_expr}{zone}"


def exact_span(seconds: int) -> str:
    """Return seconds in the largest unit that is exact: 3600 is 1h, 90 is 90s."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def schedule_state(schedule: ScheduleView) -> str:
    if schedule.unreadable:
        return "unreadable"
    if schedule.is_paused:
        return "paused"
    return "on" if schedule.enabled else "disabled"


def stopped_text(job: JobView) -> str | None:
    """Return why the schedules of a job are paused, if failures are the reason."""
    if job.stopped_at is None:
        return None
    return f"schedules paused at {moment(job.stopped_at)} after failed runs in a row; resume: foliot resume {job.id}"


def job_state(job: JobView, schedules: Sequence[ScheduleView]) -> str:
    """Return the state of a job. It is also paused if it has schedules and all of them are paused."""
    if not job.enabled:
        return "disabled"
    if job.paused:
        return "paused"
    return "paused" if schedules and all(schedule.is_paused for schedule in schedules) else "on"


def json_line(value: Any) -> str:
    """Return a JSON value on one line, shortened to 2,000 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 2_000 else f"{text[:2_000]} ... ({len(text)} characters)"


def plain(value: Any) -> str:
    """Return text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json_line(value)


def option_text(name: str, value: Any) -> str:
    """Return the value of a job option, with its times in readable units."""
    match name:
        case "timeout":
            return span(value / 1_000)
        case "retry":
            retry = convert(value, Retry)
            pauses = retry.delays or [retry.delay(number, key="") for number in range(1, min(retry.retries, 3) + 1)]
            more = " ..." if retry.retries > len(pauses) else ""
            return f"{retry.retries}, after {', '.join(span(pause / 1_000) for pause in pauses)}{more}"
        case _:
            return plain(value)


def last_line(text: str | None) -> str:
    """Return the line that names an error: the last one that is not empty and not indented as a hint."""
    lines = [line for line in (text or "").splitlines() if line.strip()]
    facts = [line for line in lines if not line.startswith(" ")]
    return (facts or lines or ["-"])[-1].strip()
