"""Builders of domain values for tests, with defaults for everything that a test does not set.

Ids are consecutive and not random.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from msgspec.json import encode

from foliot.domain.ids import IdSource, JobId, RunId, ScheduleId, ScheduleUid, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.definition import job_definition_id
from foliot.domain.job.job import DEFAULT_PROJECT, Job, JobSpec, Options
from foliot.domain.run.lease import LOCAL, Claim, Finish, Worker, WorkerFacts
from foliot.domain.run.logs import LogChunk, Stream
from foliot.domain.run.outcome import Cancelled, Failure, Interrupted, Lost, Outcome, Reason, Success
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import NewRun, Tick
from foliot.domain.schedule.catchup import plan_firing
from foliot.domain.schedule.firing import DueSchedule, Firing, RoundContext, SchedulerSettings
from foliot.domain.schedule.schedule import Revision, ScheduleSpec, ScheduleType
from foliot.domain.schedule.tick import TickOutcome, TickReason, TickRecord, tick_key
from foliot.domain.schedule.tick_run import make_run
from foliot.ports.definitions import NewSchedule
from foliot.ports.upkeep import Retention
from foliot.testing.clock import START

REPORT: Final = JobId("report")
"""The default job."""
NIGHTLY: Final = ScheduleId("nightly")
LEASE: Final = Millis(60_000)

_ids: Final = IdSource(count(1).__next__)


def an_id() -> str:
    return _ids.make(START)


def a_run_id() -> RunId:
    return RunId(an_id())


# -- jobs and runs


def a_job_spec(**fields: Any) -> JobSpec:
    """Build a shell job with many immediate retries; any field of `JobSpec` or `Options` may be given."""
    own = {name: fields.pop(name) for name in list(fields) if name in JobSpec.__struct_fields__}
    return JobSpec(**{"kind": "shell", "options": Options(**{"retry": retries_after(0), **fields}), **own})


def retries_after(delay: Millis | int) -> Retry:
    """Build a retry policy with `delay` and more retries than any test needs."""
    return Retry(retries=1_000, base=Millis(delay), factor=1.0, cap=Millis(max(delay, 0)))


def a_job(job_id: str = REPORT, **fields: Any) -> Job:
    """Build a stored job."""
    spec = a_job_spec(**fields)
    return Job(id=JobId(job_id), project=DEFAULT_PROJECT, spec=spec, revision=1, created_at=START, updated_at=START)


def a_run(*, due_at: Instant | int = START, retry_delay: Millis | int = 0, **fields: Any) -> NewRun:
    """Build a run that is due immediately and retried after `retry_delay`; any field of `NewRun` or `Options` may be
    given."""
    own = {name: fields.pop(name) for name in list(fields) if name in NewRun.__struct_fields__}
    known = {"id": a_run_id(), "job_id": REPORT, "due_at": due_at, "options": Options(**fields)}
    return NewRun(**{**known, "overrides": encode({"retry": retries_after(retry_delay)}), **own})


def some_runs(how_many: int, **fields: Any) -> list[NewRun]:
    return [a_run(**fields) for _ in range(how_many)]


# -- schedules


def a_schedule(spec: ScheduleSpec | None = None, *, schedule_id: str = NIGHTLY, uid: str | None = None) -> NewSchedule:
    """Build a schedule to put, with a new uid."""
    return NewSchedule(ScheduleUid(uid or an_id()), ScheduleId(schedule_id), spec or every(60))


def cron(expr: str, **fields: Any) -> ScheduleSpec:
    return ScheduleSpec(**{"type": ScheduleType.CRON, "expr": expr, "job_id": REPORT, **fields})


def every(seconds: int, **fields: Any) -> ScheduleSpec:
    return ScheduleSpec(**{"type": ScheduleType.INTERVAL, "expr": str(seconds), "job_id": REPORT, **fields})


def once(at: Instant, **fields: Any) -> ScheduleSpec:
    return ScheduleSpec(**{"type": ScheduleType.ONCE, "expr": str(at), "job_id": REPORT, **fields})


def reboot(**fields: Any) -> ScheduleSpec:
    return ScheduleSpec(**{"type": ScheduleType.REBOOT, "expr": "@reboot", "job_id": REPORT, **fields})


def manual(**fields: Any) -> ScheduleSpec:
    return ScheduleSpec(**{"type": ScheduleType.MANUAL, "job_id": REPORT, **fields})


def a_due_schedule(spec: ScheduleSpec, *, since: Instant = START, **fields: Any) -> DueSchedule:
    """Build a due schedule whose only revision was opened at `since`, with all earlier ticks decided."""
    known: dict[str, Any] = {
        "uid": ScheduleUid("uid-of-nightly"),
        "id": NIGHTLY,
        "version": 1,
        "created_at": since,
        "revisions": (Revision(1, since, spec),),
        "settled_until": since,
    }
    return DueSchedule(**{**known, **fields})


def fire(
    due: DueSchedule,
    now: Instant,
    *,
    jobs: Mapping[JobId, Job] | None = None,
    scheduler: SchedulerSettings | None = None,
) -> Firing:
    """Decide about a due schedule as the scheduler does."""
    known = {REPORT: a_job()} if jobs is None else jobs
    return plan_firing(due, RoundContext(now, known, scheduler or SchedulerSettings(), make_run, iter(an_id, None)))


def a_tick(
    scheduled_for: Instant,
    outcome: TickOutcome = TickOutcome.SKIPPED,
    reason: TickReason = TickReason.OVERLAP,
    **fields: Any,
) -> TickRecord:
    """Build a ledger row for one tick, or for a range if `until` and `count` are given."""
    known: dict[str, Any] = {"until": scheduled_for, "count": 1, "fire_at": scheduled_for, "revision": 1}
    return TickRecord(scheduled_for, outcome=outcome, reason=reason, **{**known, **fields})


def tick_of(schedule: NewSchedule, scheduled_for: Instant) -> Tick:
    """Build the reference of a run to its tick."""
    return Tick(schedule.uid, schedule.id, scheduled_for, tick_key(schedule.id, scheduled_for))


# -- workers, leases and what ends them


def a_worker(
    name: str = "worker", *, queues: Sequence[str] = ("default",), slots: int = 10, facts: WorkerFacts = LOCAL
) -> Worker:
    return Worker(WorkerId(an_id()), name, tuple(queues), slots, facts=facts)


def a_claim(**fields: Any) -> Claim:
    """Build a claim that no storage granted."""
    known: dict[str, Any] = {
        "run_id": a_run_id(),
        "token": Token(999_999_999),
        "worker_id": WorkerId(an_id()),
        "job_id": REPORT,
        "definition_id": job_definition_id(REPORT, None),
        "attempt": 1,
        "lost": 0,
        "queue": "default",
        "priority": 0,
        "due_at": START,
        "started_at": START,
        "payload": None,
        "overrides": None,
        "limit_keys": (),
        "tick": None,
    }
    return Claim(**{**known, **fields})


def a_finish(claim: Claim, outcome: Outcome) -> Finish:
    return Finish(claim.run_id, claim.worker_id, claim.token, outcome)


def succeeded(claim: Claim, output: bytes | None = None) -> Finish:
    return a_finish(claim, Success(output=output, exit_code=0))


def failed(claim: Claim, error: str = "exit code 1") -> Finish:
    """Build a failure that is not retryable."""
    return a_finish(claim, Failure(error, Reason.EXIT_CODE, 1, retryable=False))


def cancelled(claim: Claim) -> Finish:
    return a_finish(claim, Cancelled())


def to_retry(claim: Claim, error: str = "exit code 1") -> Finish:
    """Build a retryable failure; `a_run` and `a_job_spec` have retries."""
    return a_finish(claim, Failure(error, Reason.EXIT_CODE, 1))


def lost(claim: Claim) -> Finish:
    """Build the outcome of an attempt whose worker was lost."""
    return a_finish(claim, Lost())


def given_back(claim: Claim) -> Finish:
    return a_finish(claim, Interrupted())


def a_chunk(claim: Claim, seq: int = 0, data: bytes = b"hello\n", stream: Stream = "stdout") -> LogChunk:
    return LogChunk(claim.run_id, claim.token, seq, claim.started_at, stream, data)


# -- upkeep


def retention(**fields: Millis | int) -> Retention:
    """Build a retention without limits, except the given ones."""
    forever: dict[str, Any] = dict.fromkeys(Retention._fields)
    return Retention(**{**forever, **fields})
