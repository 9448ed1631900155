"""The storage port: the single source of truth.

Each method is one domain verb over a batch and one transaction: all of it happened, or none. Promises are in the
docstrings and, as tests, in `foliot.testing.conformance`: an adapter is whatever passes them.

`at` is the moment the verb takes as now. None means the storage's own clock (PostgreSQL's server; the process's on
SQLite); the simulator gives it. A bad item never fails its batch: it comes back refused, the others are saved.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from foliot.domain.events import Event
from foliot.domain.firing import DueSchedule, Firing
from foliot.domain.gate.decision import End, Gated, Passed, Postponed, Sight
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job import Job, JobSpec
from foliot.domain.lease import CancelAnswer, Claim, Finish, Renewal, Worker, WorkerState
from foliot.domain.logs import LogChunk
from foliot.domain.mark import Marked
from foliot.domain.outcome import Reason
from foliot.domain.run import AttemptRecord, Ended, NewRun, Run, Status
from foliot.domain.schedule import Pause, Revision, Schedule
from foliot.domain.tick import PlannedTick, TickRecord
from foliot.ports.definitions import NewSchedule as NewSchedule
from foliot.ports.executions import ExecutionStore, WorkflowStore


class Topic(StrEnum):
    """What a waiting loop wants to be woken for."""

    RUNS = "runs"
    """Something may have become ready to start."""
    SCHEDULES = "schedules"
    """A schedule may now be due earlier than before."""
    LATER = "later"
    """A run may now be due earlier than before."""
    GATES = "gates"
    """A run may now wait for its gate."""
    CANCELS = "cancels"
    """Somebody asked to cancel a running run."""
    NOTES = "notes"
    """A part of an execution has ended, or somebody wants one to be looked at."""


class DueBatch(NamedTuple):
    """Schedules that ask for a decision at `now`, and the jobs they start."""

    now: Instant
    schedules: Sequence[DueSchedule]
    jobs: Mapping[JobId, Job]


class Ledger(NamedTuple):
    """A schedule with all that `verify` needs to recompute its ticks."""

    schedule: Schedule
    deleted_at: Instant | None
    revisions: Sequence[Revision]
    pauses: Sequence[Pause]
    planned: Sequence[PlannedTick]


class Created(NamedTuple):
    """The run that answers a request: the new one, or the one that had taken the dedupe key."""

    run_id: RunId
    is_new: bool


class Released(NamedTuple):
    """How many due runs became ready or wait for a limit, and when the next one is due."""

    count: int  # type: ignore[assignment]  # nobody counts the fields of a row
    next_due_at: Instant | None


class RunFilter(NamedTuple):
    """None means: any. Newest first; `before` continues a listing after its last id."""

    job_id: JobId | None = None
    schedule_id: ScheduleId | None = None
    status: Status | None = None
    before: RunId | None = None
    limit: int = 100
    root: RunId | None = None
    """The parts of this run."""


class Depth(NamedTuple):
    """How many runs are not over, by where they stand, each counted up to a limit."""

    running: int
    """Cancelling ones included."""
    queued: int
    scheduled: int


class Retention(NamedTuple):
    """How long finished things are kept. None: for ever."""

    runs_age: Millis | None
    runs_per_job: int | None
    logs_age: Millis | None
    ticks_age: Millis | None
    events_age: Millis | None
    executions_per_workflow: int | None = None
    executions_age: Millis | None = None


class Pruned(NamedTuple):
    runs: int
    logs: int
    ticks: int
    events: int
    schedules: int
    dedupe: int

    @property
    def total(self) -> int:
        return sum(self)


class JobStore(Protocol):
    async def put(self, jobs: Sequence[tuple[JobId, JobSpec]], *, at: Instant | None = None) -> list[Job]:
        """Create or replace definitions. Saving what is already there changes nothing, not even `updated_at`."""
        ...

    async def get(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        """Those of the named jobs that exist."""
        ...

    async def page(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        """Jobs by id, those after `after`."""
        ...

    async def delete(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        """Delete jobs with their schedules and cancel their runs that have not started; history is kept.

        Returns the ids that existed.
        """
        ...

    async def rename(self, renames: Mapping[JobId, JobId], *, at: Instant | None = None) -> dict[JobId, JobId]:
        """Give jobs other ids (old -> new): definition, runs, dedupe keys, limits and schedules; history comes along.

        Schedules named after the job (`<old id>:<name>`) are named after it again, unless that name is taken; uids and
        ledgers stay. Only a job that exists gets a new id, and only one that is free, so that doing it again, with
        all new ids there, does nothing; what was done comes back. Work under way goes on. A run that is created for an
        old id at this very moment keeps it, and ends as one of a deleted job.
        """
        ...


class ScheduleStore(Protocol):
    async def put(self, schedules: Sequence[NewSchedule], *, at: Instant | None = None) -> list[Schedule]:
        """Create schedules, or edit those that exist by opening a revision (see `domain.edit`).

        Saving an equal specification changes nothing. An edit never un-pauses.
        """
        ...

    async def pause(
        self, schedule_ids: Collection[ScheduleId], *, paused: bool, at: Instant | None = None
    ) -> list[Schedule]:
        """Pause or resume. Pausing twice keeps the first moment. Returns the schedules that exist."""
        ...

    async def delete(self, schedule_ids: Collection[ScheduleId], *, at: Instant | None = None) -> list[ScheduleId]:
        """Delete schedules; their planned ticks become cancelled (deleted), their ledger and runs stay."""
        ...

    async def get(self, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]: ...

    async def page(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        """Schedules by id, those after `after`."""
        ...

    async def due(self, limit: int, *, at: Instant | None = None) -> DueBatch:
        """Up to `limit` schedules whose `wake_at` has come, earliest first. Takes no lock and changes nothing."""
        ...

    async def settle(self, firings: Sequence[Firing], *, at: Instant | None = None) -> list[ScheduleUid]:
        """Save ticks, runs and the advanced watermark of each firing in one transaction.

        A firing whose schedule has another version by now changes nothing; the uids of those saved come back.
        Runs are created as `RunStore.create` does; each holds its schedule's overlap key until it is terminal. With
        `cancels_running` every earlier run of the schedule that is not terminal is cancelled, started or not.
        """
        ...

    async def upcoming(self, limit: int) -> list[Schedule]:
        """The schedules that ask for a decision next, in that order. Paused ones ask for none."""
        ...

    async def next_wake(self) -> Instant | None:
        """When the next schedule asks for a decision. One look into an index, however many schedules there are."""
        ...

    async def ticks(self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
        """Ledger rows that touch (after, until], in order: a range that began before `after` and goes on is the first.

        The row that begins at `after` is not among them: to read on, give the first moment of the last row.
        """
        ...

    async def latest_ticks(self, uid: ScheduleUid, *, limit: int) -> list[TickRecord]:
        """The newest ledger rows, newest first."""
        ...

    async def ledgers(
        self, *, after: ScheduleUid | None = None, limit: int = 100, ids: Collection[ScheduleId] | None = None
    ) -> list[Ledger]:
        """Schedules by uid with revisions, pauses and planned ticks, deleted ones included."""
        ...


class RunStore(Protocol):
    async def create(self, runs: Sequence[NewRun], *, at: Instant | None = None) -> list[Created]:
        """Create runs, in order. Due ones are ready at once (or wait for their limits), later ones are scheduled.

        One that is gated is scheduled, due or not, until its gate has been asked (`gated`, `pass_gates`).
        A run whose dedupe key is taken is not created: the first one comes back. Scope `forever` keeps the key as
        long as the run is kept, `active` until that run is terminal, `window` for `dedupe_for` milliseconds.
        """
        ...

    async def release_due(self, limit: int, *, at: Instant | None = None) -> Released:
        """Make scheduled runs ready whose moment has come; those with limits begin to wait for them.

        Runs that wait for their gate are left alone.
        """
        ...

    async def admit(self, limit: int, *, at: Instant | None = None) -> int:
        """Give free places to waiting runs, in rank order, all places of a run or none. Safe to repeat.

        `create`, `settle`, `release_due`, `finish` and `cancel` do this for the keys they touch; repeating it for all
        keys heals whatever a crash left behind.
        """
        ...

    async def ready(self, queue: str, limit: int) -> list[RunId]:
        """The next runs that may start, in rank order, without taking them: what a broker is to announce."""
        ...

    async def claim(
        self,
        worker_id: WorkerId,
        queues: Sequence[str],
        limit: int,
        *,
        only: Collection[RunId] | None = None,
        at: Instant | None = None,
    ) -> list[Claim]:
        """Lease up to `limit` ready runs to a live worker: rank order, never one run to two workers.

        With `only`, just those of them that are ready. A worker that is not registered or has expired gets nothing.
        """
        ...

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        """Save ended attempts with what follows from them. Stale tokens change nothing and come back.

        A pending cancel turns "try again" into cancelled (`domain.run.heed_cancel`). A finish that was saved before
        (same run, token, status and reason) is accepted again and changes nothing. Superseded attempts are kept as
        records. An outcome that cannot be stored ends its run as failed, reason `output`, and does not come back.
        """
        ...

    async def cancel(self, run_ids: Collection[RunId], *, at: Instant | None = None) -> dict[RunId, CancelAnswer]:
        """End runs that have not started, ask the workers of those that run to end them.

        An execution under way is noted to be looked at: settling it ends it.
        """
        ...

    async def answer(self, answers: Mapping[RunId, Ended], *, at: Instant | None = None) -> list[RunId]:
        """End runs that have not started as somebody says; these come back, the others stay as they are."""
        ...

    async def mark(self, marks: Mapping[RunId, RunId], *, at: Instant | None = None) -> dict[RunId, Marked]:
        """Let runs count as successes, reason `marked` (see `domain.mark`).

        Each run is given with the id of the run that is to stand for it, used only where one must. It has the job,
        payload and options of the one it stands for and the trigger `mark:<run id>`. Marking twice is marking once.
        """
        ...

    # -- gates

    async def gated(self, limit: int, *, at: Instant | None = None) -> tuple[Instant, list[Gated]]:
        """Now, and up to `limit` due runs that wait for their gate, oldest first. Changes nothing."""
        ...

    async def pass_gates(
        self, passed: Sequence[Passed], postponed: Sequence[Postponed], *, at: Instant | None = None
    ) -> list[RunId]:
        """Save what gates have decided about runs that still wait for it; these come back.

        `run` lets it be ready, or wait for its limits, like any due run; `skip` and `fail` end it, with the decision's
        reason. The decision is kept with the run. A postponed one waits on. No gate is asked again about a retry.
        """
        ...

    async def watch(self, job_ids: Collection[JobId]) -> None:
        """Keep the ends of these jobs' runs, those of the past included, for `sights` and `latest_end`."""
        ...

    async def sights(self, job_ids: Collection[JobId], *, after: Instant, until: Instant) -> dict[JobId, Sight]:
        """For each job: its latest end in (after, until] if it is watched, and whether a run is under way at `until`.

        One look into an index for each, whatever the history; runs under way are looked for among the newest 50.
        """
        ...

    async def latest_end(
        self,
        job_id: JobId,
        statuses: Collection[Status],
        *,
        reasons: Collection[Reason] | None = None,
        until: Instant,
    ) -> End | None:
        """The latest end of a watched job, up to `until`, that has one of the statuses, for one of the reasons."""
        ...

    async def decisions(self, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
        """What gates have decided about these runs, as JSON (`domain.gate.decision.Decision`)."""
        ...

    # -- being looked at

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Run]: ...

    async def page(self, only: RunFilter) -> list[Run]: ...

    async def latest(self, job_ids: Collection[JobId]) -> dict[JobId, Run]:
        """The newest run of each of these jobs that has one. One look into an index for each."""
        ...

    async def overrides(self, run_id: RunId) -> bytes | None:
        """The options that were given for this run alone, as JSON."""
        ...

    async def depth(self, limit: int) -> Depth:
        """How many runs are not over. Nobody counts further than `limit`, nor looks at what is over."""
        ...

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]:
        """Every finished attempt, in order, the last one included."""
        ...


class WorkerStore(Protocol):
    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        """Make a worker known and alive for `ttl`."""
        ...

    async def renew(
        self, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, *, at: Instant | None = None
    ) -> Renewal | None:
        """Prolong the life of a worker and of all its leases. None: it had expired, or is not known, and stays so.

        Leases in its name that it does not list are given back, as if never granted; None lists nothing and gives
        nothing back.
        """
        ...

    async def expired(self, limit: int, *, at: Instant | None = None) -> list[Claim]:
        """Leases of workers that have expired. An expired worker can renew and claim no more."""
        ...

    async def retire(self, worker_id: WorkerId) -> None:
        """Forget a worker that stops in good order. Its leases, if it left any, are as those of an expired one."""
        ...

    async def remove_expired(self, *, at: Instant | None = None) -> int:
        """Forget expired workers that hold no lease any more."""
        ...

    async def all(self, *, at: Instant | None = None) -> list[WorkerState]: ...


class LogStore(Protocol):
    async def append(self, chunks: Sequence[LogChunk]) -> list[Token]:
        """Save chunks; saving one twice is saving it once.

        Tokens that are not current come back, their chunks unsaved.
        """
        ...

    async def read(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        """Chunks of all attempts in order, those after (token, seq)."""
        ...

    async def tail(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        """The last chunks, in order."""
        ...

    async def kept_from(self) -> Instant | None:
        """Retention has removed chunks of ended runs from before this moment. None: never any, by their age."""
        ...


class Upkeep(Protocol):
    """Maintenance: one leader at a time, every write fenced by its epoch."""

    async def lead(self, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        """Become or stay leader for `ttl`. The epoch, or None while another one leads. Epochs rise with each change."""
        ...

    async def resign(self, holder: str) -> None: ...

    async def prune(self, retention: Retention, *, epoch: int, limit: int, at: Instant | None = None) -> Pruned | None:
        """Remove up to `limit` of each kind of what is older than it must be kept. None: the epoch is not current.

        Never removes a run that is not terminal, nor a tick of a schedule that is younger than its catch-up horizon.
        An execution goes with all its parts, and none of them goes before it is over.
        """
        ...

    async def events(self, *, after: int, limit: int) -> list[Event]:
        """Events in order of their numbers; one that commits late is never skipped."""
        ...


class Storage(Protocol):
    """A database, open. The verbs are grouped by what they are about."""

    @property
    def jobs(self) -> JobStore: ...

    @property
    def schedules(self) -> ScheduleStore: ...

    @property
    def runs(self) -> RunStore: ...

    @property
    def workflows(self) -> WorkflowStore: ...

    @property
    def executions(self) -> ExecutionStore: ...

    @property
    def workers(self) -> WorkerStore: ...

    @property
    def logs(self) -> LogStore: ...

    @property
    def upkeep(self) -> Upkeep: ...

    @property
    def is_remote(self) -> bool:
        """Whether it works in another process: what it was asked for gets on while this process is busy."""
        ...

    def signal(self, topic: Topic) -> asyncio.Event:
        """An event that is set whenever that topic may concern a waiting loop, by this process or another one."""
        ...

    async def close(self) -> None: ...
