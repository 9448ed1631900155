"""The overview: running and queued runs, open executions, upcoming schedules, workers and recent failures."""

from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.instant import to_datetime
from foliot.domain.workflow.execution import Execution
from foliot.ports.clock import Clock
from foliot.ports.health import OverviewLimits
from foliot.ports.storage import Storage
from foliot.service.queries.pause_view import PauseView, current_pause
from foliot.service.queries.run_view import RunView, view_run
from foliot.service.queries.schedule_view import ScheduleView, view_listed_schedule
from foliot.service.queries.worker_view import WorkerView, view_worker

LIMITS: Final = OverviewLimits(rows=10, failures=5, counted=10_000)


class DepthView(msgspec.Struct, frozen=True, kw_only=True):
    """The number of open runs by status. Counting stops at 10,000."""

    running: int
    queued: int
    scheduled: int


class ActiveExecution(msgspec.Struct, frozen=True, kw_only=True):
    """An open execution."""

    id: str
    workflow_id: str
    version: int
    started_at: datetime
    unresolved: int
    """How many of its steps have no result yet."""


class OverviewPage(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    paused: PauseView | None
    """The pause of all schedules, if one is in force."""
    depth: DepthView
    executions: list[ActiveExecution]
    running: list[RunView]
    queued: list[RunView]
    upcoming: list[ScheduleView]
    """The schedules that fire next, in that order."""
    workers: list[WorkerView]
    failures: list[RunView]


class OverviewQuery:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._clock = clock

    async def page(self, limits: OverviewLimits = LIMITS) -> OverviewPage:
        now = self._clock.now()
        found = await self._queries.overview(limits)
        upcoming = [view_listed_schedule(schedule, now, found.project_pause) for schedule in found.upcoming]
        return OverviewPage(
            at=to_datetime(now),
            paused=current_pause(found.project_pause, now),
            depth=DepthView(**found.depth._asdict()),
            executions=[_active(execution) for execution in found.executions],
            running=[view_run(run) for run in found.running],
            queued=[view_run(run) for run in found.queued],
            # A schedule that cannot be read does not fire.
            upcoming=[schedule for schedule in upcoming if not schedule.unreadable],
            workers=[view_worker(state) for state in found.workers],
            failures=[view_run(run) for run in found.failures],
        )


def _active(execution: Execution) -> ActiveExecution:
    return ActiveExecution(
        id=execution.run_id,
        workflow_id=execution.workflow_id,
        version=execution.version,
        started_at=to_datetime(execution.opened_at),
        unresolved=execution.unresolved,
    )
