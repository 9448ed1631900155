"""All queries, grouped by subject."""

from dataclasses import dataclass

from foliot.domain.ids import RunId
from foliot.domain.run.reference import read_reference
from foliot.errors import NotFound
from foliot.ports.clock import Clock
from foliot.ports.pages import JobDetails, Matches, ScheduleDetails
from foliot.ports.storage import Storage
from foliot.service.commands.documents import DocumentFormat
from foliot.service.event_reader import EventReader
from foliot.service.queries.chains import ChainQueries
from foliot.service.queries.cron import CronQuery
from foliot.service.queries.doctor.report import Doctor, Report
from foliot.service.queries.events import EventQueries
from foliot.service.queries.explained import ExplainQuery
from foliot.service.queries.fanouts import FanoutQueries
from foliot.service.queries.history import HistoryQueries
from foliot.service.queries.home import HomeQuery
from foliot.service.queries.job_rows import JobRowQueries
from foliot.service.queries.job_timelines import TimelineQuery
from foliot.service.queries.jobs import JobPage, JobQueries
from foliot.service.queries.ledger_page import LedgerPageQuery
from foliot.service.queries.log_lines import LineQueries
from foliot.service.queries.logs import Logs
from foliot.service.queries.metrics import MetricsQuery
from foliot.service.queries.overview import OverviewQuery
from foliot.service.queries.runs import RunPage, RunQueries
from foliot.service.queries.schedules import SchedulePage, ScheduleQueries
from foliot.service.queries.status import StatusQuery
from foliot.service.queries.step_logs import StepLogs
from foliot.service.queries.ticks import TickQueries
from foliot.service.queries.verify import LedgerQueries
from foliot.service.queries.workflows import WorkflowQueries
from foliot.service.references import References


@dataclass(frozen=True, slots=True)
class Queries:
    storage: Storage
    clock: Clock
    reader: EventReader
    runs: RunQueries
    log_lines: LineQueries
    fanouts: FanoutQueries
    chains: ChainQueries
    jobs: JobQueries
    job_rows: JobRowQueries
    history: HistoryQueries
    ledger_page: LedgerPageQuery
    schedules: ScheduleQueries
    workflows: WorkflowQueries
    ticks: TickQueries
    overview: OverviewQuery
    timeline: TimelineQuery
    status: StatusQuery
    home: HomeQuery
    explained: ExplainQuery
    ledgers: LedgerQueries
    events: EventQueries
    metrics: MetricsQuery
    cron: CronQuery

    @classmethod
    def on(
        cls, storage: Storage, clock: Clock, reader: EventReader, logs: Logs, documents: DocumentFormat
    ) -> "Queries":
        events = EventQueries(storage, reader)
        status = StatusQuery(storage, clock)
        return cls(
            storage=storage,
            clock=clock,
            reader=reader,
            runs=RunQueries(storage, logs, clock),
            log_lines=LineQueries(storage, logs),
            fanouts=FanoutQueries(storage, clock),
            chains=ChainQueries(storage, clock),
            jobs=JobQueries(storage, clock),
            job_rows=JobRowQueries(storage, clock),
            history=HistoryQueries(storage),
            ledger_page=LedgerPageQuery(storage, clock),
            schedules=ScheduleQueries(storage, clock),
            workflows=WorkflowQueries(storage, clock, documents),
            ticks=TickQueries(storage),
            overview=OverviewQuery(storage, clock),
            timeline=TimelineQuery(storage, clock),
            status=status,
            home=HomeQuery(storage, clock, status),
            explained=ExplainQuery(storage, clock),
            ledgers=LedgerQueries(storage),
            events=events,
            metrics=MetricsQuery(storage, clock, events),
            cron=CronQuery(storage, clock),
        )

    async def named(self, name: str) -> JobPage | SchedulePage | RunPage:
        """Return the page of the job with that name, else of the schedule, else of the run that `name` refers to."""
        found = await self.storage.queries.named(name)
        match found:
            case JobDetails():
                return await self.jobs.page_of(found)
            case ScheduleDetails():
                return await self.schedules.page_of(found)
            case Matches():
                references = References(self.storage)
                error = await references.no_single_run(name, read_reference(name), found)
                raise await references.nothing(name, "job, schedule or run") if isinstance(error, NotFound) else error
        return await self.runs.page_of(found)

    async def examined_by(self, doctor: Doctor) -> Report:
        """Return the report about this storage and the machine."""
        return await doctor.with_storage(self.storage, self.clock)

    def step_logs(self, execution_id: str) -> StepLogs:
        """Return a reader of the logs of all steps of an execution."""
        return StepLogs(self.storage, self.reader, RunId(execution_id))
