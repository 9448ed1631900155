"""Checks invariants after every step, through its own storage object.

Only changes are checked: new events, and open runs. Checks that are too slow for every step are done at the end, by
`foliot.testing.invariants`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from foliot.domain.chain.step import STEP_TRIGGER
from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant, to_iso
from foliot.domain.job.job import JobSpec
from foliot.domain.run.run import MOVES, Run, Status
from foliot.domain.schedule.schedule import Overlap, Schedule
from foliot.ports.storage import Storage
from foliot.testing.invariants import Violation, check_ledger, read_ledgers
from foliot.testing.simulation.chain_watch import ChainWatch
from foliot.testing.simulation.execution_watch import ExecutionWatch
from foliot.testing.simulation.fanout_watch import FanoutWatch

_PAGE: Final = 10_000
_LEASED: Final = (Status.RUNNING, Status.CANCELLING)


class Watch:
    def __init__(self, storage: Storage, jobs: Mapping[JobId, JobSpec]) -> None:
        self._storage = storage
        self._jobs = jobs
        self._executions = ExecutionWatch(storage)
        self._fanouts = FanoutWatch(jobs)
        self._chains = ChainWatch(storage, jobs)
        self._seq = 0
        self._live: dict[RunId, Run | None] = {}
        self._over: dict[RunId, str] = {}
        self._last_token = 0
        self._schedules: dict[ScheduleId, Schedule] = {}
        self._ticks: dict[ScheduleUid, list[tuple[Instant, Instant]]] = {}

    @property
    def run_ids(self) -> list[RunId]:
        """All runs that were ever created, open ones first."""
        return [*self._live, *self._over]

    @property
    def unfinished(self) -> list[RunId]:
        return list(self._live)

    async def check(self) -> list[Event]:
        """Check all changes since the last call. Return the new events."""
        events = await self._storage.queries.events(after=self._seq, limit=_PAGE)
        for event in events:
            self._on_event(event)
        runs = await self._storage.queries.get_runs(self._live)
        await self._check_grants(self._check_runs(runs))
        await self._executions.check()
        await self._chains.check()
        self._fanouts.check(runs.values())
        self._check_limits(runs.values())
        schedules = {schedule.id: schedule for schedule in await self._storage.definitions.page_schedules(limit=_PAGE)}
        self._check_overlap(runs.values(), schedules.values())
        self._check_watermarks(schedules)
        return events

    async def check_ledgers(self) -> None:
        """Compare all ledgers with their planned ticks. Too slow for every step."""
        async for rows in read_ledgers(self._storage):
            for fault in check_ledger(rows):
                raise Violation(fault)

    # -- events

    def _on_event(self, event: Event) -> None:
        if event.seq <= self._seq:
            raise Violation(f"O2 event {event.seq} follows {self._seq}")
        self._seq = event.seq
        match event.kind:
            case EventKind.RUNS_CREATED:
                self._live.update(dict.fromkeys(RunId(item[0]) for item in event.items))
            case EventKind.RUNS_ENDED:
                for run_id, status, _ in event.items:
                    self._on_run_ended(RunId(run_id), Status(status))
            case EventKind.EXECUTIONS_OPENED | EventKind.EXECUTIONS_ENDED:
                self._executions.on_event(self._fanouts.on_event(self._chains.on_event(event)))
            case EventKind.TICKS_SETTLED:
                for uid, first, last, *_ in event.items:
                    self._on_ticks(uid, first, last)

    def _on_run_ended(self, run_id: RunId, status: Status) -> None:
        if run_id in self._over:
            raise Violation(f"S4 run {run_id} ended as {self._over[run_id]}, and then as {status}")
        if run_id not in self._live:
            raise Violation(f"S1 run {run_id} ended and was never created")
        if status.is_terminal:
            self._over[run_id] = status

    def _on_ticks(self, uid: ScheduleUid, first: Instant, last: Instant) -> None:
        for begin, end in self._ticks.setdefault(uid, []):
            if first <= end and begin <= last:
                raise Violation(f"T1 schedule {uid}: {to_iso(first)} has been decided before")
        self._ticks[uid].append((first, last))

    # -- runs

    def _check_runs(self, runs: Mapping[RunId, Run]) -> list[Run]:
        """Check the changes of all open runs. Return the runs with a new lease."""
        granted = []
        for run_id in list(self._live):
            if run_id not in runs:
                raise Violation(f"S1 run {run_id} is gone")
            before, now = self._live[run_id], runs[run_id]
            self._check_move(before, now)
            is_child = before is None and (self._fanouts.on_new_run(now) or self._chains.on_new_run(now))
            if before is None and not is_child:
                self._executions.on_new_run(now)
            is_granted = before is None or before.token != now.token or before.status not in _LEASED
            if now.status in _LEASED and is_granted and not _is_own_chain(now):
                granted.append(now)
            self._live[run_id] = now
            if now.status.is_terminal:
                self._check_end(now)
                if not (self._fanouts.on_run_ended(now) or self._chains.is_step(now)):
                    self._executions.on_run_ended(now)
                del self._live[run_id]
        return granted

    async def _check_grants(self, runs: Sequence[Run]) -> None:
        """Check that new leases have new tokens and belong to live workers."""
        if not runs:
            return
        tokens = [run.token or 0 for run in runs]
        if min(tokens) <= self._last_token:
            raise Violation(f"L2 tokens {tokens} were granted after {self._last_token}")
        self._last_token = max(tokens)
        living = {state.worker.id for state in await self._storage.admission.workers() if state.is_alive}
        for run in runs:
            if run.worker_id not in living:
                raise Violation(f"L1 run {run.id} was leased to {run.worker_id}, which is not alive")

    def _check_move(self, before: Run | None, now: Run) -> None:
        was = Status.SCHEDULED if before is None else before.status
        if now.status not in reachable(was) and not _is_own_chain(now):
            raise Violation(f"S1 run {now.id} went from {was} to {now.status}")
        began = 0 if before is None else before.attempt
        if now.attempt - began not in (-1, 0, 1) or (now.attempt < began and now.status in _LEASED):
            raise Violation(f"S3 run {now.id} went from attempt {began} to {now.attempt}")

    def _check_end(self, run: Run) -> None:
        if self._over.get(run.id) != run.status:
            raise Violation(f"S4 run {run.id} is {run.status}, and events say {self._over.get(run.id)}")
        options = self._jobs[run.job_id].options
        if run.attempt > 1 + options.retry.retries + options.lost_budget:
            raise Violation(f"S3 run {run.id} took {run.attempt} attempts, {run.lost} of them lost")
        if run.output is not None and run.output.get("attempt", run.attempt) != run.attempt:
            raise Violation(f"S10 run {run.id}: attempt {run.attempt} with the output of {run.output['attempt']}")

    # -- limits and schedules

    def _check_limits(self, runs: Iterable[Run]) -> None:
        leased = [run for run in runs if run.status in _LEASED]
        by_job = Counter(run.job_id for run in leased)
        by_key = Counter(self._jobs[run.job_id].options.concurrency_key for run in leased)
        for job_id, spec in self._jobs.items():
            options = spec.options
            if options.max_concurrent is not None and by_job[job_id] > options.max_concurrent:
                raise Violation(f"L10 {by_job[job_id]} runs of {job_id} at once, not {options.max_concurrent}")
            if options.concurrency_key and by_key[options.concurrency_key] > options.concurrency_limit:
                raise Violation(f"L10 {by_key[options.concurrency_key]} runs with the key {options.concurrency_key}")

    def _check_overlap(self, runs: Iterable[Run], schedules: Iterable[Schedule]) -> None:
        leased = Counter(run.tick.uid for run in runs if run.tick is not None and run.status in _LEASED)
        for schedule in schedules:
            if schedule.revision.spec.overlap is not Overlap.ALLOW and leased[schedule.uid] > 1:
                raise Violation(f"T10 {leased[schedule.uid]} runs of schedule {schedule.id} at once")

    def _check_watermarks(self, schedules: Mapping[ScheduleId, Schedule]) -> None:
        for schedule_id, now in schedules.items():
            before = self._schedules.get(schedule_id)
            if before is not None and before.uid == now.uid:
                _check_watermark(before, now)
        self._schedules = dict(schedules)


def _check_watermark(before: Schedule, now: Schedule) -> None:
    if now.version < before.version or now.settled_until < before.settled_until:
        raise Violation(f"T6 schedule {now.id} went back: {before} to {now}")
    is_edited = now.revision.number != before.revision.number
    if (
        not is_edited
        and before.next_run_at is not None
        and (now.next_run_at or before.next_run_at) < before.next_run_at
    ):
        raise Violation(f"T6 schedule {now.id}: next_run_at fell from {before.next_run_at} to {now.next_run_at}")
    if now.next_run_at is not None and now.next_run_at <= now.settled_until:
        raise Violation(f"T5 schedule {now.id}: next_run_at {now.next_run_at} is settled until {now.settled_until}")


def _is_own_chain(run: Run) -> bool:
    """Whether it is a chain that a run has started: it runs from its creation, without a lease."""
    return run.trigger == STEP_TRIGGER and run.parent_id is None


def reachable(status: Status) -> frozenset[Status]:
    """Return the statuses after one step: the same, one move further, or back to scheduled and from there to queued."""
    moves = MOVES[status] | {status}
    return moves | MOVES[Status.SCHEDULED] if Status.SCHEDULED in moves else moves
