"""The verbs of `ports.queries.Queries`, the same for every database but for how a read is driven."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from foliot.adapters.storage.shared.definition_reads import DefinitionReads
from foliot.adapters.storage.shared.reads import Read
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.run.reference import RunReference
from foliot.domain.run.run import Run
from foliot.domain.schedule.schedule import Schedule
from foliot.ports.queries import (
    ExecutionsPage,
    FoundRun,
    JobDetails,
    JobSummary,
    Matches,
    OverviewDetails,
    OverviewLimits,
    RunDetails,
    RunFilter,
    ScheduleDetails,
    WorkflowDetails,
    WorkflowSummary,
)

P = ParamSpec("P")
T = TypeVar("T")


class StoredQueries(ABC):
    """Fills `ports.queries.Queries`, given `_read`."""

    def __init__(self, project: str) -> None:
        self._runs = RunReads(project)
        self._definitions = DefinitionReads(project, self._runs)

    @abstractmethod
    async def _read(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        """Begin the read and answer all its queries from one snapshot. It may be begun again after a failure."""

    async def named(self, name: str) -> JobDetails | ScheduleDetails | RunDetails | Matches:
        return await self._read(self._definitions.named, name)

    async def run(self, reference: RunReference) -> RunDetails | Matches:
        return await self._read(self._runs.details, reference)

    async def find_run(self, reference: RunReference) -> FoundRun | Matches:
        return await self._read(self._runs.find, reference)

    async def runs(self, only: RunFilter, *, root: RunReference | None = None) -> list[Run] | Matches:
        return await self._read(self._runs.listed, only, root)

    async def job(self, job_id: JobId) -> JobDetails | None:
        return await self._read(self._definitions.job, job_id)

    async def jobs(self, *, after: JobId | None = None, limit: int = 100) -> list[JobSummary]:
        return await self._read(self._definitions.jobs, after, limit)

    async def schedule(self, schedule_id: ScheduleId, *, ticks: int = 10) -> ScheduleDetails | None:
        return await self._read(self._definitions.schedule, schedule_id, ticks)

    async def schedules(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        return await self._read(self._definitions.schedules, job_id, after, limit)

    async def workflow(
        self, workflow_id: str, *, version: int | None = None, execution: RunReference | None = None
    ) -> WorkflowDetails | None:
        return await self._read(self._definitions.workflow, workflow_id, version, execution)

    async def workflows(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowSummary]:
        return await self._read(self._definitions.workflows, after, limit)

    async def execution(self, run_id: RunId) -> ExecutionsPage:
        return await self._read(self._runs.execution_page, [run_id])

    async def executions(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> ExecutionsPage:
        return await self._read(self._runs.active_page, workflow_id, after, limit)

    async def overview(self, limits: OverviewLimits) -> OverviewDetails:
        return await self._read(self._definitions.overview, limits)
