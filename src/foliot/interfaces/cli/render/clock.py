"""The texts of notices about clocks."""

from typing import Final

from foliot.interfaces.cli.render.format import moment, span
from foliot.interfaces.cli.render.text import counted
from foliot.service.queries.clock_notices import ClockNotice, ClocksDiffer, ClockSetBack, ClockSetForward

_MOST_NAMED: Final = 5


def clock_text(notice: ClockNotice) -> str:
    match notice:
        case ClockSetBack():
            return _set_back(notice)
        case ClockSetForward():
            return (
                f"the clock was set forward by {span(notice.by)} at {moment(notice.at)}: "
                "the ticks in between were decided together, as after a downtime"
            )
        case ClocksDiffer(nodes=nodes):
            named = [f"{one.node} by {span(abs(one.ahead))} ({_side(one.ahead)})" for one in nodes]
            return f"clocks differ from that of the database: {_listed(named)}"


def clock_hint(notice: ClockNotice) -> str:
    match notice:
        case ClockSetBack(leases=leases):
            also = " If a worker that is named has ended, its runs are freed only then." if leases else ""
            return (
                "Ticks that were decided are not decided again; the schedules continue by themselves. "
                f"Start a job before that with: foliot trigger JOB.{also}"
            )
        case ClockSetForward():
            return "See what was missed with: foliot ticks --missed --since 1d; catchup decides about such ticks"
        case ClocksDiffer():
            return (
                "Synchronise these machines, for example with chrony. Schedules and leases use the clock of the "
                "database; logs, and times that jobs read, do not"
            )


def _set_back(notice: ClockSetBack) -> str:
    step = (
        f"ticks are decided up to {span(notice.by)} in the future: the clock was set back"
        if notice.at is None
        else f"the clock was set back by {span(notice.by)} at {moment(notice.at)}"
    )
    schedules = [f"{one.schedule_id} until {moment(one.until)}" for one in notice.schedules]
    leases = [f"{one.worker} until {moment(one.until)}" for one in notice.leases]
    waiting = f"; {counted(len(schedules), 'schedule')} silent: {_listed(schedules)}" if schedules else ""
    return f"{step}{waiting}" + (f"; leases of workers live longer: {_listed(leases)}" if leases else "")


def _side(ahead: float) -> str:
    return "ahead" if ahead > 0 else "behind"


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
