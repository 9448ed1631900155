"""The page of a schedule, as text and as a JSON document."""

from typing import Any, Final

from foliot.domain.schedule.schedule import UNPLANNED
from foliot.interfaces.cli.render.format import moment, rule, schedule_state, tick_row
from foliot.interfaces.cli.render.table import Column, print_fields, print_section
from foliot.service.queries.documents import as_json
from foliot.service.queries.schedule_view import ScheduleView
from foliot.service.queries.schedules import SchedulePage

_TICKS: Final = (Column("PLANNED"), Column("OUTCOME", stays=True), Column("RUN", is_whole=True), Column("STATUS"))


def schedule_document(page: SchedulePage) -> dict[str, Any]:
    ticks = [as_json(tick) for tick in page.ticks]
    return {"type": "schedule", **as_json(page.schedule), "state": schedule_state(page.schedule), "ticks": ticks}


def print_schedule(page: SchedulePage) -> None:
    print_fields(schedule_fields(page.schedule))
    print_section("Last ticks", _TICKS, [tick_row(tick) for tick in page.ticks])


def _unplanned(schedule: ScheduleView) -> str:
    """Return what starts a schedule without planned times, or a dash."""
    return rule(schedule) if schedule.schedule_type in UNPLANNED else "-"


def _next(schedule: ScheduleView) -> str:
    times = ", ".join(map(moment, schedule.preview))
    if not schedule.paused:
        return times or _unplanned(schedule)
    return f"none while paused; without the pause: {times}" if times else "none while paused"


def schedule_fields(schedule: ScheduleView) -> list[tuple[str, object]]:
    window = f"{moment(schedule.start_at)} to {moment(schedule.end_at)}"
    return [
        ("schedule", schedule.schedule_id),
        ("job", schedule.job_id or schedule.workflow_id),
        ("rule", rule(schedule)),
        ("in words", schedule.description),
        ("state", schedule_state(schedule)),
        ("paused by", schedule.paused_by),
        ("policy", f"overlap {schedule.overlap_policy}, catch-up {schedule.catchup_policy}"),
        ("jitter", f"{schedule.jitter_ms}ms" if schedule.jitter_ms else None),
        ("window", window if schedule.start_at or schedule.end_at else None),
        ("last run", moment(schedule.last_scheduled_at)),
        ("next", _next(schedule)),
    ]
