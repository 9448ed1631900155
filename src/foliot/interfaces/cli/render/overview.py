"""The page of `foliot top`: running, queued and upcoming runs, workers and failures."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from foliot.domain.instant import from_datetime, to_iso
from foliot.domain.run.lane import TREES_QUEUE
from foliot.interfaces.cli.render.explanation import worker_name
from foliot.interfaces.cli.render.format import last_line, moment, progress_bar, rule, span, status
from foliot.interfaces.cli.render.table import Column
from foliot.interfaces.cli.render.text import counted
from foliot.service.queries.documents import as_json
from foliot.service.queries.overview import ActiveExecution, OverviewPage
from foliot.service.queries.run_view import RunView
from foliot.service.queries.schedule_view import ScheduleView
from foliot.service.queries.worker_view import WorkerView

_RUN: Final = Column("RUN", is_whole=True)
_JOB: Final = Column("JOB", is_whole=True)
_RUNNING: Final = (_RUN, _JOB, Column("FOR"), Column("TRY"))
_PROGRESS: Final = Column("PROGRESS")
_EXECUTIONS: Final = (_RUN, Column("WORKFLOW", is_whole=True), Column("FOR"), Column("LEFT"))
_QUEUED: Final = (_RUN, _JOB, Column("WAITING"), Column("QUEUE"))
_NEXT: Final = (Column("IN"), _JOB._replace(stays=True), Column("WHEN"), Column("RULE"))
_WORKERS: Final = (Column("WORKER"), Column("STATE", stays=True), Column("SLOTS"), Column("QUEUES"), Column("SINCE"))
_DETAILS: Final = (Column("LABELS"), Column("VERSION"), Column("ENVIRONMENT"))
_ORDERS: Final = {"pause": "paused", "drain": "draining"}
_FAILED: Final = (_RUN, _JOB, Column("STATUS", stays=True), Column("ENDED"), Column("ERROR"))


class Section(NamedTuple):
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[object]]


def overview_document(page: OverviewPage) -> dict[str, Any]:
    return {
        "at": page.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "paused": None if page.paused is None else as_json(page.paused),
        "depth": msgspec.to_builtins(page.depth),
        "executions": [_execution(one) for one in page.executions],
        "running": [as_json(run) for run in page.running],
        "queued": [as_json(run) for run in page.queued],
        "upcoming": [as_json(schedule) for schedule in page.upcoming],
        "workers": [as_json(worker) for worker in page.workers],
        "failures": [as_json(run) for run in page.failures],
    }


def headline(page: OverviewPage) -> str:
    # Coordinators execute no jobs.
    alive = [worker for worker in page.workers if worker.is_alive and worker.queues != (TREES_QUEUE,)]
    slots = sum(worker.slots for worker in alive)
    return (
        f"Foliot {moment(page.at)}  {page.depth.running} running, {page.depth.queued} queued, "
        f"{page.depth.scheduled} scheduled  {counted(len(alive), 'worker')}, {counted(slots, 'slot')}"
    )


def sections(page: OverviewPage) -> Iterator[Section]:
    """Yield the sections that have rows."""
    now = page.at
    for section in (
        Section("Workflows", _EXECUTIONS, [_execution_row(one, now) for one in page.executions]),
        _running_section(page.running, now),
        Section("Queued", _QUEUED, [_queued_row(run, now) for run in page.queued]),
        Section("Next", _NEXT, [_schedule_row(schedule, now) for schedule in page.upcoming]),
        Section("Workers", (*_WORKERS, *_DETAILS), [_worker(worker) for worker in page.workers]),
        Section("Failed", _FAILED, [_failed(run) for run in page.failures]),
    ):
        if section.rows:
            yield section


def _execution_row(execution: ActiveExecution, now: datetime) -> Sequence[object]:
    name = f"{execution.workflow_id} version {execution.version}"
    return execution.id, name, _since(execution.started_at, now), counted(execution.unresolved, "step")


def _running_section(runs: Sequence[RunView], now: datetime) -> Section:
    """The column of progress is shown if any run has reported."""
    rows = [_running_row(run, now) for run in runs]
    if any(run.progress is not None for run in runs):
        bars = ["-" if run.progress is None else progress_bar(run.progress) for run in runs]
        return Section("Running", (*_RUNNING, _PROGRESS), [(*row, bar) for row, bar in zip(rows, bars, strict=True)])
    return Section("Running", _RUNNING, rows)


def _running_row(run: RunView, now: datetime) -> Sequence[object]:
    return run.id, run.job_id, "unreadable" if run.unreadable else _since(run.started_at, now), run.attempt


def _queued_row(run: RunView, now: datetime) -> Sequence[object]:
    return run.id, run.job_id, "unreadable" if run.unreadable else _since(run.due_at, now), run.queue


def _schedule_row(schedule: ScheduleView, now: datetime) -> Sequence[object]:
    at = schedule.next_run_at
    ahead = "-" if at is None else span(max(0.0, (at - now).total_seconds()))
    return ahead, schedule.job_id or schedule.workflow_id, moment(at), rule(schedule)


def _since(at: datetime | None, now: datetime) -> str:
    return "-" if at is None else span(max(0.0, (now - at).total_seconds()))


def _execution(execution: ActiveExecution) -> dict[str, Any]:
    return {**msgspec.to_builtins(execution), "started_at": to_iso(from_datetime(execution.started_at))}


def _worker(worker: WorkerView) -> Sequence[object]:
    ordered = _ORDERS.get(worker.order, "on")
    state = ("draining" if worker.is_draining else ordered) if worker.is_alive else "lost"
    used = f"{worker.running} of {worker.slots}"
    known = worker_name(worker.name, worker.pool), state, used, ", ".join(worker.queues), moment(worker.registered_at)
    return *known, ", ".join(worker.labels), worker.version, worker.environment


def _failed(run: RunView) -> Sequence[object]:
    return run.id, run.job_id, status(run), moment(run.finished_at), last_line(run.error_message)
