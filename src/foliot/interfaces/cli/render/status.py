"""The page of `foliot status`: what is up, and what needs a person."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from foliot.domain.run.lane import TREES_QUEUE
from foliot.interfaces.cli.render.clock import clock_hint, clock_text
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.text import counted
from foliot.service.queries import clock_notices as clocks
from foliot.service.queries import status as answer
from foliot.service.queries.documents import as_json
from foliot.service.queries.notice import State
from foliot.service.queries.status import StatusPage

_MOST_NAMED: Final = 5
_STATES: Final[Mapping[State, str]] = {
    State.WELL: "all is well",
    State.ATTENTION: "needs attention",
    State.DOWN: "down",
}


class _Words(NamedTuple):
    text: str
    hint: str


_DOWN: Final[Mapping[type[object], _Words]] = {
    answer.NoScheduler: _Words("no scheduler is alive: schedules do not fire", "Start one with: foliot serve"),
    answer.NoWorker: _Words(
        "no worker is alive: nothing is executed", "Start one with: foliot serve, or foliot worker"
    ),
}
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP: Final = 1_024


def status_document(page: StatusPage) -> dict[str, Any]:
    notices = [
        {**msgspec.to_builtins(notice), "message": notice_text(notice), "hint": notice_hint(notice)}
        for notice in page.notices
    ]
    return {**as_json(page), "notices": notices}


def headline(page: StatusPage) -> str:
    return f"Foliot {moment(page.at)}  {_STATES[page.state]}"


def fields(page: StatusPage) -> list[tuple[str, object]]:
    """Return the lines below the headline; none if the database could not be read."""
    if page.depth is None or page.storage is None:
        return []
    depth, size = page.depth, page.storage
    free = "" if size.free is None else f", {size_text(size.free)} free"
    return [
        ("scheduler", "up" if page.has_scheduler else "down"),
        ("workers", _workers(page)),
        ("runs", f"{depth.running} running, {depth.queued} queued, {depth.scheduled} scheduled"),
        ("late schedules", _named([late.schedule_id for late in page.late]) or "none"),
        ("failing jobs", _named([job.job_id for job in page.failing]) or "none"),
        ("storage", f"{size_text(size.database)}, logs {size_text(size.logs)}{free}"),
    ]


def _workers(page: StatusPage) -> str:
    executing = [worker for worker in page.workers if worker.is_alive and worker.queues != (TREES_QUEUE,)]
    slots, running = sum(worker.slots for worker in executing), sum(worker.running for worker in executing)
    draining = sum(worker.is_draining for worker in executing)
    also = f", {draining} draining" if draining else ""
    return f"{len(executing)} alive{also}, {running} of {counted(slots, 'slot')} in use" if executing else "none alive"


def notice_text(notice: answer.Notice) -> str:  # noqa: C901, one case per notice
    """Return what a notice says, as one line."""
    match notice:
        case answer.StorageUnreachable():
            return notice.message
        case answer.NoScheduler() | answer.NoWorker():
            return _DOWN[type(notice)].text
        case answer.QueuesUnserved():
            return f"no worker serves {_quoted(notice.queues)}, and runs wait there"
        case answer.LabelsUnserved():
            wanted = "; ".join(", ".join(needed) for needed in notice.needs)
            return f"no living worker has the labels or executor that queued runs require: {wanted}"
        case answer.SchedulesLate():
            since = f", since {moment(notice.since)}" if notice.since else ""
            return f"{counted(notice.count, 'schedule')} late{since}: {_named(notice.schedules, notice.count)}"
        case answer.JobsStopped():
            return f"schedules paused after failures in a row: {_named(notice.jobs)}"
        case answer.JobsFailing():
            return f"{counted(notice.count, 'job')} failing: {_named(notice.jobs, notice.count)}"
        case answer.DiskLow():
            return f"only {size_text(notice.free)} are free on the disk of the database"
        case answer.DeliveriesFailed() | answer.BreakersOpen():
            return _stopped_words(notice).text
        case clocks.ClockSetBack() | clocks.ClockSetForward() | clocks.ClocksDiffer():
            return clock_text(notice)


def notice_hint(notice: answer.Notice) -> str:  # noqa: C901, one case per notice
    """Return what to do about a notice."""
    match notice:
        case answer.StorageUnreachable():
            return notice.hint
        case answer.NoScheduler() | answer.NoWorker():
            return _DOWN[type(notice)].hint
        case answer.QueuesUnserved(queues=queues):
            return _unserved_hint(queues[0])
        case answer.LabelsUnserved():
            return "Start one with: foliot worker --label LABEL; for executor=worker with: foliot worker --server URL"
        case answer.SchedulesLate(schedules=schedules):
            return f"See: foliot show {schedules[0] if schedules else 'SCHEDULE'}, and the log of foliot serve"
        case answer.JobsStopped(jobs=jobs):
            return f"See: foliot explain {jobs[0]}@last. After a repair: foliot resume {jobs[0]}"
        case answer.JobsFailing(jobs=jobs):
            repeat = "After a repair: foliot retry RUN, or foliot mark RUN"
            return f"See: foliot explain {jobs[0] if jobs else 'JOB'}@last. {repeat}"
        case answer.DiskLow():
            return "Free some space, or keep less: see [retention] in the configuration"
        case answer.DeliveriesFailed() | answer.BreakersOpen():
            return _stopped_words(notice).hint
        case clocks.ClockSetBack() | clocks.ClockSetForward() | clocks.ClocksDiffer():
            return clock_hint(notice)


def _stopped_words(notice: answer.DeliveriesFailed | answer.BreakersOpen) -> _Words:
    match notice:
        case answer.DeliveriesFailed(jobs=jobs):
            what = f"{counted(notice.count, 'notification')} to {', '.join(notice.targets)} could not be delivered"
            text = f"{what}: {notice.answer}" if notice.answer else what
            return _Words(
                text, f"Repair the target, and try it: foliot alert test{f' --job {jobs[0]}' if jobs else ''}"
            )
        case answer.BreakersOpen(breakers=breakers):
            first, names = breakers[0], [one.class_id for one in breakers]
            why = f" until {moment(first.until)}: {first.cause}" if len(breakers) == 1 else ""
            hint = f"See: foliot chains. After a repair: foliot chains reset {first.class_id} --reason TEXT"
            return _Words(f"{counted(len(breakers), 'breaker')} of chains open: {_named(names)}{why}", hint)


def _unserved_hint(queue: str) -> str:
    if queue == TREES_QUEUE:
        return "Workflows are not started. Start a coordinator with: foliot serve"
    return f"Start a worker with: foliot worker --queue {queue}"


def size_text(size: int) -> str:
    """Return bytes in the largest unit that they fill: 512 B, 1.5 GiB."""
    number, unit = float(size), 0
    while number >= _STEP and unit < len(_UNITS) - 1:
        number, unit = number / _STEP, unit + 1
    return f"{number:.0f} {_UNITS[unit]}" if unit == 0 else f"{number:.1f} {_UNITS[unit]}"


def _quoted(names: Sequence[str]) -> str:
    queues = ", ".join(f'"{name}"' for name in names[:_MOST_NAMED])
    return f"queue {queues}" if len(names) == 1 else f"queues {queues}"


def _named(names: Sequence[str], count: int | None = None) -> str:
    more = (len(names) if count is None else count) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
