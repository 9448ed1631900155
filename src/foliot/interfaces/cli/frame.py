"""One picture of what is going on: gathered by bounded looks, as a document, and in sections."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from foliot.domain.instant import to_datetime, to_iso
from foliot.domain.run import Status
from foliot.domain.workflow.execution import Execution
from foliot.interfaces.cli.table import Column, moment, span
from foliot.interfaces.cli.text import counted
from foliot.interfaces.cli.words import last_line, rule, status
from foliot.ports.runs import Depth
from foliot.service.services import Services
from foliot.service.views import RunView, ScheduleView, WorkerView, as_json

MOST_ROWS: Final = 10
_FAILURES: Final = 5
_RUN: Final = Column("RUN", is_whole=True)
_JOB: Final = Column("JOB", is_whole=True)
_RUNNING: Final = (_RUN, _JOB, Column("FOR"), Column("TRY"))
_EXECUTIONS: Final = (_RUN, Column("WORKFLOW", is_whole=True), Column("FOR"), Column("LEFT"))
_QUEUED: Final = (_RUN, _JOB, Column("WAITS"), Column("QUEUE"))
_NEXT: Final = (Column("IN"), _JOB._replace(stays=True), Column("WHEN"), Column("RULE"))
_WORKERS: Final = (Column("WORKER"), Column("STATE", stays=True), Column("SLOTS"), Column("QUEUES"), Column("SINCE"))
_FAILED: Final = (_RUN, _JOB, Column("STATUS", stays=True), Column("ENDED"), Column("ERROR"))


class Section(NamedTuple):
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[object]]


class Frame(NamedTuple):
    at: datetime
    depth: Depth
    executions: list[Execution]
    running: list[RunView]
    queued: list[RunView]
    upcoming: list[ScheduleView]
    workers: list[WorkerView]
    failures: list[RunView]

    @classmethod
    async def gather(cls, services: Services) -> "Frame":
        overview = services.overview
        return cls(
            at=to_datetime(services.clock.now()),
            depth=await overview.depth(),
            executions=await services.storage.executions.active(limit=MOST_ROWS),
            running=await overview.running(MOST_ROWS),
            queued=await overview.newest(Status.QUEUED, limit=MOST_ROWS),
            upcoming=await overview.upcoming(MOST_ROWS),
            workers=await overview.workers(),
            failures=await overview.newest(Status.FAILED, Status.TIMEOUT, limit=_FAILURES),
        )

    def document(self) -> dict[str, Any]:
        return {
            "at": self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "depth": self.depth._asdict(),
            "executions": [_execution(one) for one in self.executions],
            "running": [as_json(run) for run in self.running],
            "queued": [as_json(run) for run in self.queued],
            "upcoming": [as_json(schedule) for schedule in self.upcoming],
            "workers": [as_json(worker) for worker in self.workers],
            "failures": [as_json(run) for run in self.failures],
        }

    @property
    def headline(self) -> str:
        alive = [worker for worker in self.workers if worker.is_alive]
        slots = sum(worker.slots for worker in alive)
        return (
            f"Foliot {moment(self.at)}  {self.depth.running} running, {self.depth.queued} queued, "
            f"{self.depth.scheduled} scheduled  {counted(len(alive), 'worker')}, {counted(slots, 'slot')}"
        )

    def sections(self) -> Iterator[Section]:
        """What there is to show; what is empty is left out."""
        for section in (
            Section("Workflows", _EXECUTIONS, list(map(self._passes, self.executions))),
            Section("Running", _RUNNING, list(map(self._runs, self.running))),
            Section("Queued", _QUEUED, list(map(self._waits, self.queued))),
            Section("Next", _NEXT, list(map(self._next, self.upcoming))),
            Section("Workers", _WORKERS, list(map(_worker, self.workers))),
            Section("Failed", _FAILED, list(map(_failed, self.failures))),
        ):
            if section.rows:
                yield section

    def _passes(self, execution: Execution) -> Sequence[object]:
        name = f"{execution.workflow_id} version {execution.version}"
        left = counted(execution.unresolved, "step")
        return execution.run_id, name, self._since(to_datetime(execution.opened_at)), left

    def _runs(self, run: RunView) -> Sequence[object]:
        return run.id, run.job_id, "unreadable" if run.unreadable else self._since(run.started_at), run.attempt

    def _waits(self, run: RunView) -> Sequence[object]:
        return run.id, run.job_id, "unreadable" if run.unreadable else self._since(run.due_at), run.queue

    def _next(self, schedule: ScheduleView) -> Sequence[object]:
        at = schedule.next_run_at
        ahead = "-" if at is None else span(max(0.0, (at - self.at).total_seconds()))
        return ahead, schedule.job_id or schedule.workflow_id, moment(at), rule(schedule)

    def _since(self, at: datetime | None) -> str:
        return "-" if at is None else span(max(0.0, (self.at - at).total_seconds()))


def _execution(execution: Execution) -> dict[str, Any]:
    return {
        "id": execution.run_id,
        "workflow_id": execution.workflow_id,
        "version": execution.version,
        "started_at": to_iso(execution.opened_at),
        "unresolved": execution.unresolved,
    }


def _worker(worker: WorkerView) -> Sequence[object]:
    state = "on" if worker.is_alive else "lost"
    used = f"{worker.running} of {worker.slots}"
    return worker.name, state, used, ", ".join(worker.queues), moment(worker.registered_at)


def _failed(run: RunView) -> Sequence[object]:
    return run.id, run.job_id, status(run), moment(run.finished_at), last_line(run.error_message)
