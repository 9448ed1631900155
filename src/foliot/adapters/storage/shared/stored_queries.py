"""Implements `ports.queries.Queries` for every database, except how a read is executed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import ParamSpec, TypeVar

from foliot.adapters.storage.shared.account_reads import AccountReads
from foliot.adapters.storage.shared.chain_reads import ChainReads
from foliot.adapters.storage.shared.definition_reads import DefinitionReads
from foliot.adapters.storage.shared.doubtful_reads import doubtful_runs
from foliot.adapters.storage.shared.explained_reads import ExplainedReads
from foliot.adapters.storage.shared.health_reads import HealthReads
from foliot.adapters.storage.shared.home_reads import HomeReads
from foliot.adapters.storage.shared.job_row_reads import JobRowReads
from foliot.adapters.storage.shared.reads import Read
from foliot.adapters.storage.shared.recent_reads import RecentReads
from foliot.adapters.storage.shared.record_reads import RecordReads
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.adapters.storage.shared.tick_reads import TickReads
from foliot.domain.audit import RecentRows
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.reference import RunById, RunReference
from foliot.domain.run.run import AttemptRecord, Run
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.tick import TickRecord
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.progress import StepState
from foliot.errors import RowUnreadable
from foliot.ports.chains import ChainClass, ChainDetails, ChainFilter, ChainPage
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.fanouts import FanoutDetails, ItemFilter, ItemsPage
from foliot.ports.health import ClockEffects, HealthDetails, HealthLimits, OverviewDetails, OverviewLimits, Totals
from foliot.ports.home import HomeDetails, HomeFilter
from foliot.ports.job_rows import JobFacets, JobRowFilter, JobRows
from foliot.ports.pages import (
    EVERY_RUN,
    DoubtfulRuns,
    ExecutionsPage,
    Explained,
    FoundRun,
    JobDetails,
    JobSummary,
    Matches,
    RunDetails,
    RunFilter,
    RunListFilter,
    RunTimes,
    ScheduleDetails,
    ScheduleList,
    WorkflowDetails,
    WorkflowSummary,
)
from foliot.ports.ticks import LedgerDetails, LedgerFilter, ScheduleLedger, TickFilter, TickPage

P = ParamSpec("P")
T = TypeVar("T")


class StoredQueries(ABC):
    """Fills `ports.queries.Queries`, except outputs, logs and events. A database implements `_read`."""

    def __init__(self, project: str) -> None:
        self._runs = RunReads(project)
        self._fanouts = self._runs.fanouts
        self._chains = ChainReads(project, self._runs.by_id)
        self._definitions = DefinitionReads(project, self._runs)
        self._records = RecordReads(project, self._runs)
        self._recent = RecentReads(project)
        self._ticks = TickReads(project, self._runs)
        self._explained = ExplainedReads(project, self._runs)
        self._health = HealthReads(project, self._runs, self._definitions)
        self._job_rows = JobRowReads(project, self._runs, self._definitions)
        self._accounts = AccountReads(project, self._runs, self._definitions)
        self._home = HomeReads(project, self._runs, self._definitions, self._job_rows, self._accounts)

    @abstractmethod
    async def _read(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        """Execute a read with all its queries in one snapshot. It may be executed again after a failure."""

    async def _read_without_snapshot(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        """Execute a read whose queries may each use their own snapshot, if that is faster."""
        return await self._read(read, *arguments, **options)

    async def named(self, name: str) -> JobDetails | ScheduleDetails | RunDetails | Matches:
        return await self._read(self._definitions.named, name)

    async def run(self, reference: RunReference) -> RunDetails | Matches:
        return await self._read(self._runs.details, reference)

    async def explained_run(self, reference: RunReference) -> Explained | Matches:
        return await self._read(self._explained.run, reference)

    async def explained_tick(self, schedule_id: ScheduleId, since: Instant, until: Instant) -> Explained | None:
        return await self._read(self._explained.tick, schedule_id, since, until)

    async def find_run(self, reference: RunReference) -> FoundRun | Matches:
        # The row of a run is one query; what else is read does not change.
        read = self._read_without_snapshot if isinstance(reference, RunById) else self._read
        return await read(self._runs.find, reference)

    async def runs(
        self,
        only: RunFilter,
        *,
        root: RunReference | None = None,
        parent: RunReference | None = None,
        among: RunListFilter = EVERY_RUN,
    ) -> list[Run] | Matches:
        return await self._read(self._runs.listed, only, root, parent, among)

    async def brief_runs(self, only: RunFilter) -> list[Run]:
        return await self._read(self._runs.brief_page, only)

    async def job(self, job_id: JobId) -> JobDetails | None:
        return await self._read(self._definitions.job, job_id)

    async def jobs(self, *, after: JobId | None = None, limit: int = 100) -> list[JobSummary]:
        return await self._read(self._definitions.jobs, after, limit)

    async def job_rows(self, only: JobRowFilter) -> JobRows:
        return await self._read(self._job_rows.page, only)

    async def job_facets(self) -> JobFacets:
        return await self._read(self._job_rows.facets)

    async def named_job_rows(self, job_ids: Collection[JobId]) -> JobRows:
        return await self._read(self._job_rows.named, job_ids)

    async def schedule(self, schedule_id: ScheduleId, *, ticks: int = 10) -> ScheduleDetails | None:
        return await self._read(self._definitions.schedule, schedule_id, ticks)

    async def schedules(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> ScheduleList:
        return await self._read(self._definitions.schedule_page, job_id, after, limit)

    async def tick_page(self, only: TickFilter) -> TickPage | None:
        return await self._read(self._ticks.page, only)

    async def ledger(self, only: LedgerFilter) -> LedgerDetails | None:
        return await self._read(self._accounts.ledger, only)

    async def workflow(
        self, workflow_id: str, *, version: int | None = None, execution: RunReference | None = None
    ) -> WorkflowDetails | None:
        return await self._read(self._definitions.workflow, workflow_id, version, execution)

    async def workflows(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowSummary]:
        return await self._read(self._definitions.workflows, after, limit)

    async def workflow_versions(
        self, workflow_id: str, *, before: int | None = None, limit: int = 100
    ) -> dict[int, WorkflowVersion | RowUnreadable]:
        return await self._read(self._definitions.versions, workflow_id, before, limit)

    async def execution(self, run_id: RunId) -> ExecutionsPage:
        return await self._read(self._runs.execution_page, [run_id])

    async def executions(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> ExecutionsPage:
        return await self._read(self._runs.active_page, workflow_id, after, limit)

    async def fanout(self, run_id: RunId) -> FanoutDetails | None:
        return await self._read(self._fanouts.details, run_id)

    async def fanout_items(self, run_id: RunId, only: ItemFilter) -> ItemsPage | None:
        return await self._read(self._fanouts.items, run_id, only)

    async def chain_classes(self) -> list[ChainClass]:
        return await self._read(self._chains.classes)

    async def chains_page(self, only: ChainFilter) -> ChainPage:
        return await self._read(self._chains.page, only)

    async def chain(self, name: str) -> ChainDetails | None:
        return await self._read(self._chains.details, name)

    async def overview(self, limits: OverviewLimits) -> OverviewDetails:
        return await self._read(self._definitions.overview, limits)

    async def home(self, only: HomeFilter) -> HomeDetails:
        return await self._read(self._home.home, only)

    async def health(self, limits: HealthLimits) -> HealthDetails:
        return await self._read(self._health.health, limits)

    async def totals(self, *, counted: int) -> Totals:
        return await self._read(self._health.totals, counted)

    async def run_times(self, run_ids: Collection[RunId]) -> dict[RunId, RunTimes]:
        return await self._read_without_snapshot(self._health.run_times, run_ids)

    async def clock_effects(self, now: Instant, *, limit: int) -> ClockEffects:
        return await self._read(self._health.clock_effects, now, limit)

    async def long_runs(self, started_before: Instant, *, limit: int) -> list[Run]:
        return await self._read(self._health.long_runs, started_before, limit)

    # -- by id, and in pages

    async def project_pause(self) -> ProjectPause | None:
        return await self._read_without_snapshot(self._records.project_pause)

    async def get_runs(self, run_ids: Collection[RunId]) -> dict[RunId, Run]:
        return await self._read_without_snapshot(self._records.runs, run_ids)

    async def page_runs(self, only: RunFilter) -> list[Run]:
        return await self._read_without_snapshot(self._runs.page, only)

    async def doubtful_runs(self, oldest: RunId, *, before: RunId | None = None, limit: int = 100_000) -> DoubtfulRuns:
        return await self._read_without_snapshot(doubtful_runs, oldest, before, limit)

    async def children(self, run_id: RunId, *, after: RunId | None = None, limit: int = 100) -> list[Run]:
        return await self._read_without_snapshot(self._runs.children, run_id, after, limit)

    async def overrides(self, run_id: RunId) -> bytes | None:
        return await self._read_without_snapshot(self._records.overrides, run_id)

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]:
        return await self._read_without_snapshot(self._records.attempts, run_id)

    async def get_executions(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        return await self._read_without_snapshot(self._records.executions, run_ids)

    async def active_executions(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> list[Execution]:
        return await self._read_without_snapshot(self._records.active_executions, workflow_id, after, limit)

    async def step_states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        return await self._read_without_snapshot(self._records.step_states, run_id, steps)

    async def ticks(self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
        return await self._read_without_snapshot(self._records.ticks, uid, after, until, limit)

    async def tick_keys(
        self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int
    ) -> list[tuple[Instant, str]]:
        return await self._read_without_snapshot(self._records.tick_keys, uid, after, until, limit)

    async def shared_runs(self, uid: ScheduleUid, *, after: Instant) -> list[RunId]:
        return await self._read_without_snapshot(self._records.shared_runs, uid, after)

    async def recent_rows(
        self, schedules: Mapping[ScheduleUid, ScheduleId], *, since: Instant, created_since: Instant, limit: int
    ) -> dict[ScheduleUid, RecentRows]:
        return await self._read(self._recent.rows, schedules, since, created_since, limit)

    async def ledgers(
        self, *, after: ScheduleUid | None = None, limit: int = 100, ids: Collection[ScheduleId] | None = None
    ) -> list[ScheduleLedger]:
        return await self._read_without_snapshot(self._records.ledgers, after, limit, ids)

    async def logs_kept_from(self) -> Instant | None:
        return await self._read_without_snapshot(self._records.logs_kept_from)
