"""All there is to say about one schedule: gathered, as one document, and printed."""

from typing import Any, Final, NamedTuple

from foliot.interfaces.cli.table import Column, moment, print_fields, print_section
from foliot.interfaces.cli.words import rule, schedule_state, tick_row
from foliot.service.services import Services
from foliot.service.views import ScheduleView, TickView, as_json

_RECENT: Final = 10
_TICKS: Final = (Column("LAST TICKS"), Column("OUTCOME", stays=True), Column("RUN", is_whole=True), Column("STATUS"))


class SchedulePage(NamedTuple):
    schedule: ScheduleView
    ticks: list[TickView]

    @classmethod
    async def gather(cls, services: Services, schedule_id: str) -> "SchedulePage":
        stored = await services.schedules.record(schedule_id)
        ticks = await services.overview.ticks(stored, _RECENT)
        return cls(await services.schedules.get(schedule_id), ticks)

    def document(self) -> dict[str, Any]:
        ticks = [as_json(tick) for tick in self.ticks]
        return {"type": "schedule", **as_json(self.schedule), "state": schedule_state(self.schedule), "ticks": ticks}

    def print(self) -> None:
        print_fields(schedule_fields(self.schedule))
        print_section("", _TICKS, [tick_row(tick) for tick in self.ticks])


def schedule_fields(schedule: ScheduleView) -> list[tuple[str, object]]:
    window = f"{moment(schedule.start_at)} to {moment(schedule.end_at)}"
    coming = "" if not schedule.paused else "none while it is paused; else "
    return [
        ("schedule", schedule.schedule_id),
        ("job", schedule.job_id or schedule.workflow_id),
        ("rule", rule(schedule)),
        ("in words", schedule.description),
        ("state", schedule_state(schedule)),
        ("policy", f"overlap {schedule.overlap_policy}, catch-up {schedule.catchup_policy}"),
        ("jitter", f"{schedule.jitter_ms}ms" if schedule.jitter_ms else None),
        ("window", window if schedule.start_at or schedule.end_at else None),
        ("last", moment(schedule.last_scheduled_at)),
        ("next", coming + (", ".join(map(moment, schedule.preview)) or "-")),
    ]
