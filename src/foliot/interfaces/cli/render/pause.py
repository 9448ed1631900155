"""The line that says that all schedules are paused."""

from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.text import escaped
from foliot.service.queries.pause_view import PauseView


def pause_banner(pause: PauseView) -> str:
    return f"PAUSED  {pause_text(pause)}"


def pause_text(pause: PauseView) -> str:
    """Return who paused all schedules, since when, until when and why."""
    by = f" by {escaped(pause.by)}" if pause.by else ""
    end = f"until {moment(pause.until)}" if pause.until else "resume them with: foliot resume --all"
    note = f", note: {escaped(pause.note)}" if pause.note else ""
    return f"all schedules paused since {moment(pause.since)}{by}{note}; {end}"
