"""The queries port: pages and lists for the CLI, the API and applications.

Each verb reads everything that its result needs in one snapshot, so a result never mixes two states of the database.
No verb changes anything, and the cost of a verb does not grow with the history.

An unreadable row is reported in its place: `Run.unreadable`, `Schedule.is_unreadable`, or a `RowUnreadable` instead of
the value. `job` and `workflow` raise `RowUnreadable` if the definition itself cannot be read.
"""

from collections.abc import Collection, Mapping
from typing import Final, Protocol

from foliot.domain.audit import RecentRows
from foliot.domain.events import Event
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, Token
from foliot.domain.instant import Instant
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.reference import RunReference
from foliot.domain.run.run import AttemptRecord, Run
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.tick import TickRecord
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.output import StepOutput
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
    LogSummary,
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

MOST_BYTES: Final = (1 << 63) - 1


class Queries(Protocol):
    async def named(self, name: str) -> JobDetails | ScheduleDetails | RunDetails | Matches:
        """Return the job with that name, else the schedule, else the run that `name` refers to."""
        ...

    async def run(self, reference: RunReference) -> RunDetails | Matches:
        """Return a run with what is needed to explain its state; `find_run` and `get_runs` return less."""
        ...

    async def explained_run(self, reference: RunReference) -> Explained | Matches:
        """Return a run with the tick that it was created for."""
        ...

    async def explained_tick(self, schedule_id: ScheduleId, since: Instant, until: Instant) -> Explained | None:
        """Return the newest tick in [since, until], with its run. None: there is no such schedule.

        If the ledger has no row there, the tick has none, and its time is `since`.
        """
        ...

    async def find_run(self, reference: RunReference) -> FoundRun | Matches:
        """Return only the run."""
        ...

    async def runs(
        self,
        only: RunFilter,
        *,
        root: RunReference | None = None,
        parent: RunReference | None = None,
        among: RunListFilter = EVERY_RUN,
    ) -> list[Run] | Matches:
        """Return runs, newest first. `root` limits them to the tree of the run that it refers to, `parent` to the
        children of the run that it refers to.

        With a kind or a tag, only the newest 10,000 runs of the filter are searched.
        """
        ...

    async def brief_runs(self, only: RunFilter) -> list[Run]:
        """Return runs, newest first, without payloads, outputs and options, and with the beginnings of their errors."""
        ...

    async def job(self, job_id: JobId) -> JobDetails | None: ...

    async def jobs(self, *, after: JobId | None = None, limit: int = 100) -> list[JobSummary]:
        """Return jobs by id, those after `after`."""
        ...

    async def job_rows(self, only: JobRowFilter) -> JobRows:
        """Return jobs by id, each with its newest ticks and results."""
        ...

    async def job_facets(self) -> JobFacets:
        """Count jobs by state, kind and tag."""
        ...

    async def named_job_rows(self, job_ids: Collection[JobId]) -> JobRows:
        """Return what `job_rows` does for the jobs with these ids that exist, in the order of the ids."""
        ...

    async def schedule(self, schedule_id: ScheduleId, *, ticks: int = 10) -> ScheduleDetails | None:
        """Return a schedule with up to `ticks` of its newest ticks."""
        ...

    async def schedules(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> ScheduleList:
        """Return schedules by id, those after `after`; with `job_id` those that start this job or workflow."""
        ...

    async def tick_page(self, only: TickFilter) -> TickPage | None:
        """Return rows of the ledgers of existing schedules. None: there is no such job and no such schedule."""
        ...

    async def ledger(self, only: LedgerFilter) -> LedgerDetails | None:
        """Return the ledger of a schedule in an interval. None: it does not exist."""
        ...

    async def workflow(
        self, workflow_id: str, *, version: int | None = None, execution: RunReference | None = None
    ) -> WorkflowDetails | None: ...

    async def workflows(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowSummary]:
        """Return workflows by id, those after `after`."""
        ...

    async def workflow_versions(
        self, workflow_id: str, *, before: int | None = None, limit: int = 100
    ) -> dict[int, WorkflowVersion | RowUnreadable]:
        """Return the versions of a workflow by number, newest first, those before `before`. A workflow that does not
        exist has none."""
        ...

    async def execution(self, run_id: RunId) -> ExecutionsPage:
        """Return the execution with that id, or the one that this run is a step of; else an empty page."""
        ...

    async def executions(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> ExecutionsPage:
        """Return open executions, oldest first."""
        ...

    async def fanout(self, run_id: RunId) -> FanoutDetails | None:
        """Return the fanout with that id. None: it does not exist, or was not opened yet."""
        ...

    async def fanout_items(self, run_id: RunId, only: ItemFilter) -> ItemsPage | None:
        """Return items of a fanout. None: it does not exist, or was not opened yet."""
        ...

    async def chain_classes(self) -> list[ChainClass]:
        """Return all classes of chains by id: jobs of kind `chain`, and classes that have a document."""
        ...

    async def chains_page(self, only: ChainFilter) -> ChainPage:
        """Return chains that were armed, newest first."""
        ...

    async def chain(self, name: str) -> ChainDetails | None:
        """Return a chain by the id of its run, also if it was not armed, or the newest one with this chain id."""
        ...

    async def overview(self, limits: OverviewLimits) -> OverviewDetails: ...

    async def home(self, only: HomeFilter) -> HomeDetails: ...

    async def health(self, limits: HealthLimits) -> HealthDetails: ...

    async def totals(self, *, counted: int) -> Totals:
        """Return counts for metrics. Deliveries are counted up to `counted`."""
        ...

    async def run_times(self, run_ids: Collection[RunId]) -> dict[RunId, RunTimes]:
        """Return the times of the runs that exist. Unlike `get_runs`, no document is read."""
        ...

    async def clock_effects(self, now: Instant, *, limit: int) -> ClockEffects:
        """Return what waits because the clock was set back. Reads every schedule."""
        ...

    async def long_runs(self, started_before: Instant, *, limit: int) -> list[Run]:
        """Return runs whose current attempt started before that moment, the oldest first."""
        ...

    async def project_pause(self) -> ProjectPause | None:
        """Return the pause of all schedules that was changed last, whether it is in force or has ended."""
        ...

    # -- runs by id, and lists that commands and `verify` read in pages
    # A run that cannot be read is returned with its error (`Run.unreadable`) and does not affect the others.

    async def get_runs(self, run_ids: Collection[RunId]) -> dict[RunId, Run]: ...

    async def page_runs(self, only: RunFilter) -> list[Run]:
        """Return complete runs, newest first, as `runs` does without further conditions."""
        ...

    async def doubtful_runs(self, oldest: RunId, *, before: RunId | None = None, limit: int = 100_000) -> DoubtfulRuns:
        """Return the runs that may be unreadable, newest first, of the newest `limit` runs from `oldest` on."""
        ...

    async def children(self, run_id: RunId, *, after: RunId | None = None, limit: int = 100) -> list[Run]:
        """Return the children of a run in the order of their creation, those after `after`."""
        ...

    async def overrides(self, run_id: RunId) -> bytes | None:
        """Return the options given for this run only, as JSON. Raises `RowUnreadable` if they cannot be read."""
        ...

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]:
        """Return all finished attempts, in order. An unreadable one has the status `unreadable`."""
        ...

    async def get_executions(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        """Return the executions that exist. An unreadable one has its error and the readable fields of its row."""
        ...

    async def active_executions(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> list[Execution]:
        """Return open executions, oldest first, those after `after`, as `get_executions` does."""
        ...

    async def step_states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        """Return the states of the given steps, or of all."""
        ...

    async def step_outputs(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepOutput]:
        """Return the outputs of the runs of the given steps."""
        ...

    # -- the ledger

    async def ticks(self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
        """Return ledger rows that overlap (after, until], in order. A range that began before `after` comes first.

        The row that begins at `after` is left out: to read the next page, pass `scheduled_for` of the last row.
        """
        ...

    async def tick_keys(
        self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int
    ) -> list[tuple[Instant, str]]:
        """Return the idempotency keys of single ticks in (after, until], in order."""
        ...

    async def shared_runs(self, uid: ScheduleUid, *, after: Instant) -> list[RunId]:
        """Return the runs that more than one ledger row refers to, among the rows that begin after `after`."""
        ...

    async def recent_rows(
        self, schedules: Mapping[ScheduleUid, ScheduleId], *, since: Instant, created_since: Instant, limit: int
    ) -> dict[ScheduleUid, RecentRows]:
        """Return the rows of each schedule since `since`, and its runs since `created_since`.

        A schedule with more than `limit` rows or runs, or with one that cannot be read, is left out.
        """
        ...

    async def ledgers(
        self, *, after: ScheduleUid | None = None, limit: int = 100, ids: Collection[ScheduleId] | None = None
    ) -> list[ScheduleLedger]:
        """Return schedules by uid, deleted ones included, with revisions, pauses, planned ticks and boots."""
        ...

    # -- logs and events

    async def read_log(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        """Return chunks of all attempts in order, those after (token, seq)."""
        ...

    async def tail_log(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        """Return the last chunks, in order."""
        ...

    async def log_summary(self, run_id: RunId, token: Token | None) -> LogSummary:
        """Return the starts of a run, the first chunk of the start `token`, and the last chunk, in one read."""
        ...

    async def logs_kept_from(self) -> Instant | None:
        """Return the time before which retention has removed chunks of ended runs. None: it has removed none by age."""
        ...

    async def events(self, *, after: int, limit: int, size: int = MOST_BYTES) -> list[Event]:
        """Return events in order of their numbers: at most `limit`, and not more than are needed for `size` bytes of
        items. An event that commits late is never skipped."""
        ...
