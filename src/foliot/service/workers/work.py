"""What remote workers may do: the work port, for messages of one principal.

Each message names a worker and leases by texts that only this principal can have (`names`), so it can change nothing
but the runs that the worker holds.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.access.actor import ActorKind
from foliot.domain.fanout.result import ResultQuery
from foliot.domain.ids import IdSource, RunId, Token, WorkerId
from foliot.domain.instant import DAY, SECOND, Millis
from foliot.domain.run import lease as leases
from foliot.domain.run.lease import Order, Renewal
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.payload import check_document
from foliot.domain.run.progress import ProgressReport, read_progress
from foliot.domain.work.message import (
    Beat,
    Claiming,
    Exchange,
    ExchangeAnswer,
    Finish,
    FinishedRun,
    Heartbeat,
    Lease,
    Leased,
    Log,
    LogRefusal,
    LogSaved,
    Progress,
    Register,
    Registered,
    Renew,
    ResultItem,
    ResultPage,
    Results,
    Retire,
    RunLog,
    RunProgressReport,
    SpawnAnswer,
    Spawning,
    Wait,
    Woken,
)
from foliot.domain.work.outcome import outcome_of
from foliot.errors import InvalidInput, LogRefused, RunCancelled, StaleLease, WorkerDisabled, WorkerExpired
from foliot.ports.clock import Clock
from foliot.ports.enrolments import StoredEnrolment
from foliot.ports.secrets import Secrets
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.ports.work import Claimed, Exchanged
from foliot.service.workers.claims import known_ids, leased_runs, limit_of, queues_of
from foliot.service.workers.late import LateReports
from foliot.service.workers.log_check import LogCheck
from foliot.service.workers.names import WireNames
from foliot.service.workers.registration import allowed_worker, pool_of
from foliot.service.workers.signals import WorkerSignals
from foliot.service.workers.waiting import Deadline, first_of

LONGEST_WAIT: Final = 60.0
_LONGEST_LEASE: Final = Millis(DAY)
_SHORTEST_LEASE: Final = Millis(100)
_BEATS: Final = 3
"""Heartbeats per lease."""
_POLL: Final = Millis(2 * SECOND)
"""How often a waiting request looks for runs without a signal: signals may be lost."""


class SharedWork(NamedTuple):
    """What the services of all principals share."""

    logs: LogCheck
    signals: WorkerSignals
    late: LateReports


class WorkService:
    """Fills the routes below /api/workers for one principal."""

    def __init__(self, storage: Storage, clock: Clock, ids: IdSource, keys: Secrets, shared: "SharedWork") -> None:
        self._storage = storage
        self._work = storage.work
        self._clock = clock
        self._ids = ids
        self._names = WireNames(keys, str(storage.actor))
        self._logs = shared.logs
        self._signals = shared.signals
        self._late = shared.late

    async def register(self, sent: Register, *, may_use_any_label: bool = False) -> Registered:
        await self._names.load()
        pool, enrolment = pool_of(self._storage.actor), await self._enrolment()
        worker_id = WorkerId(self._ids.make(self._clock.now()))
        worker = allowed_worker(worker_id, sent, enrolment, pool, may_use_any_label=may_use_any_label)
        ttl = _ttl(sent.lease)
        await self._work.register(worker, ttl)
        self._signals.of(worker_id)
        return Registered(
            worker=self._names.of_worker(worker_id),
            worker_id=worker_id,
            labels=worker.facts.labels,
            kinds=worker.facts.kinds,
            lease=ttl / SECOND,
            heartbeat_every=ttl / SECOND / _BEATS,
        )

    async def retire(self, sent: Retire) -> None:
        worker_id = await self._worker(sent.worker)
        self._signals.drop(worker_id)
        await self._work.retire(worker_id)

    async def heartbeat(self, sent: Heartbeat) -> Beat:
        worker_id = await self._worker(sent.worker)
        if sent.run_id is None or sent.token is None:
            beat = await self._renew(worker_id, Renew(held=sent.held, lease=sent.lease, draining=sent.draining))
            if beat is None:
                raise WorkerExpired
            return beat
        token = self._names.lease(worker_id, sent.run_id, sent.token)
        renewal = await self._work.renew(worker_id, [token], _ttl(sent.lease), is_draining=sent.draining)
        if renewal is None:
            raise WorkerExpired
        if token in renewal.gone:
            raise StaleLease
        if token in renewal.cancelled:
            raise RunCancelled
        return _beat(renewal, {})

    async def lease(self, sent: Lease, closing: asyncio.Event) -> Leased | None:
        """Return leased runs. None: none was ready, also after the wait."""
        worker_id = await self._worker(sent.worker)
        wanted = Claiming(limit=sent.limit, queues=sent.queues, known=sent.known, only=sent.only)
        claimed = await self._claim_within(worker_id, wanted, sent.wait, closing)
        if not claimed.claims:
            return None
        return leased_runs(claimed.claims, claimed.definitions, self._names)

    async def finish(self, sent: Finish) -> None:
        worker_id = await self._worker(sent.worker)
        _check_outputs([sent])
        finish = self._finish(worker_id, sent)
        if await self._work.finish([finish]):
            await self._late.record(self._storage, [finish])
            raise StaleLease
        self._logs.forget(finish.token)

    async def log(self, sent: Log) -> LogSaved:
        worker_id = await self._worker(sent.worker)
        token = self._names.lease(worker_id, sent.run_id, sent.token)
        chunks = await self._logs.fresh(RunId(sent.run_id), token, sent.pieces, self._clock.now())
        if await self._append(chunks, [token]):
            raise StaleLease
        return LogSaved(next_seq=self._logs.next_seq(token))

    async def progress(self, sent: Progress) -> None:
        worker_id = await self._worker(sent.worker)
        report = self._report(
            worker_id,
            RunProgressReport(run_id=sent.run_id, token=sent.token, fraction=sent.fraction, text=sent.text),
        )
        if await self._work.save_progress([report]):
            raise StaleLease

    async def results(self, sent: Results) -> ResultPage:
        worker_id = await self._worker(sent.worker)
        token = self._names.lease(worker_id, sent.run_id, sent.token)
        query = ResultQuery(
            after=sent.after,
            limit=sent.limit,
            failed=sent.failed,
            has_outputs=sent.has_outputs,
            only=sent.only,
        )
        page = await self._work.results(RunId(sent.run_id), worker_id, token, query)
        if page is None:
            return ResultPage(results=None)
        return ResultPage(
            results=tuple(
                ResultItem(
                    index=one.index,
                    run_id=one.run_id,
                    status=one.status,
                    exit_code=one.exit_code,
                    error=one.error,
                    item=one.document,
                    has_output=one.has_output,
                    output=one.output,
                )
                for one in page
            )
        )

    async def spawn(self, sent: Spawning) -> SpawnAnswer:
        worker_id = await self._worker(sent.worker)
        token = self._names.lease(worker_id, sent.run_id, sent.token)
        answer: Mapping[str, Any] | None = await self._work.ask_chain(
            RunId(sent.run_id), worker_id, token, sent.request
        )
        if answer is None:
            raise StaleLease
        return SpawnAnswer(answer=answer)

    async def wait(self, sent: Wait, closing: asyncio.Event) -> Woken | None:
        """Return when runs may be ready or cancellation may have been requested. None: neither happened in time."""
        events = self._signals.of(await self._worker(sent.worker))
        await first_of((events.runs, events.cancels, closing), _wait(sent.wait))
        woken = Woken(runs=events.runs.is_set(), cancels=events.cancels.is_set())
        events.runs.clear()
        events.cancels.clear()
        return woken if woken.runs or woken.cancels else None

    async def exchange(self, sent: Exchange, closing: asyncio.Event) -> ExchangeAnswer:
        worker_id = await self._worker(sent.worker)
        _check_outputs(sent.finishes)
        stale: list[str] = []
        refused = await self._save_logs(worker_id, sent.logs, stale)
        await self._save_progress(worker_id, sent.progress, stale)
        finishes = self._finishes(worker_id, sent.finishes, stale)
        renewal, is_expired = None, False
        if sent.renew is not None:
            renewal = await self._renew(worker_id, sent.renew, [*finishes])
            is_expired = renewal is None
        done = await self._finish_and_claim(worker_id, [finish for _, finish in finishes.values()], sent.claim)
        stale += [finishes[token][0] for token in done.stale]
        await self._late.record(self._storage, [finishes[token][1] for token in done.stale])
        claimed = Claimed(done.claims, done.definitions)
        if sent.claim is not None and not done.claims and sent.wait > 0:
            claimed = await self._claim_within(worker_id, sent.claim, sent.wait, closing)
        leased = leased_runs(claimed.claims, claimed.definitions, self._names)
        return ExchangeAnswer(
            stale=tuple(stale),
            refused_logs=tuple(refused),
            is_expired=is_expired,
            renewal=renewal,
            runs=leased.runs,
            definitions=leased.definitions,
        )

    # -- parts of messages

    async def _worker(self, text: str) -> WorkerId:
        await self._names.load()
        worker_id = self._names.worker(text)
        if self._storage.actor.kind is not ActorKind.WORKER:  # that of a signed request is checked with its signature
            await self._enrolment()
        return worker_id

    async def _enrolment(self) -> StoredEnrolment | None:
        """Return the enrolment with the name of the principal, if there is one. Refuse one that is disabled."""
        found = await self._storage.enrolments.find(pool_of(self._storage.actor))
        if found is not None and found.disabled_at is not None:
            raise WorkerDisabled(found.name)
        return found

    async def _renew(self, worker_id: WorkerId, renew: Renew, finishing: Sequence[Token] = ()) -> Beat | None:
        held = None if renew.held is None else self._names.held(worker_id, renew.held)
        listed = None if held is None else [*held, *finishing]
        renewal = await self._work.renew(worker_id, listed, _ttl(renew.lease), is_draining=renew.draining)
        if renewal is None:
            return None
        return _beat(renewal, held or {})

    async def _claim_within(
        self, worker_id: WorkerId, wanted: Claiming, wait: float, closing: asyncio.Event
    ) -> Claimed:
        left = Deadline(self._clock, _wait(wait))
        with self._storage.subscribe(Topic.RUNS) as ready:
            while True:
                ready.clear()
                claimed = await self._claim(worker_id, wanted)
                if claimed.claims or left.is_over or closing.is_set():
                    return claimed
                await first_of((ready, closing), Millis(min(left.left, _POLL)))

    async def _claim(self, worker_id: WorkerId, wanted: Claiming) -> Claimed:
        known, only = known_ids(wanted)
        return await self._work.claim(worker_id, queues_of(wanted), limit_of(wanted), known=known, only=only)

    async def _finish_and_claim(
        self, worker_id: WorkerId, finishes: Sequence[leases.Finish], wanted: Claiming | None
    ) -> Exchanged:
        if wanted is None:
            stale = await self._work.finish(finishes) if finishes else []
            return Exchanged(stale, [], {})
        known, only = known_ids(wanted)
        return await self._work.exchange(
            finishes, worker_id, queues_of(wanted), limit_of(wanted), known=known, only=only
        )

    def _finish(self, worker_id: WorkerId, sent: FinishedRun) -> leases.Finish:
        token = self._names.lease(worker_id, sent.run_id, sent.token)
        return leases.Finish(RunId(sent.run_id), worker_id, token, outcome_of(sent))

    def _finishes(
        self, worker_id: WorkerId, sent: Sequence[FinishedRun], stale: list[str]
    ) -> dict[Token, tuple[str, leases.Finish]]:
        """Return the finishes with the texts of their tokens. The first one of a token counts."""
        finishes: dict[Token, tuple[str, leases.Finish]] = {}
        for one in sent:
            try:
                finish = self._finish(worker_id, one)
            except StaleLease:
                stale.append(one.token)
            else:
                finishes.setdefault(finish.token, (one.token, finish))
                self._logs.forget(finish.token)
        return finishes

    def _report(self, worker_id: WorkerId, sent: RunProgressReport) -> ProgressReport:
        fraction, text = read_progress(sent.fraction, sent.text)
        token = self._names.lease(worker_id, sent.run_id, sent.token)
        return ProgressReport(RunId(sent.run_id), worker_id, token, fraction, text)

    async def _save_progress(self, worker_id: WorkerId, sent: Sequence[RunProgressReport], stale: list[str]) -> None:
        reports: dict[Token, tuple[str, ProgressReport]] = {}
        for one in sent:
            try:
                report = self._report(worker_id, one)
            except StaleLease:
                stale.append(one.token)
            else:
                reports[report.token] = one.token, report
        if reports:
            lost = await self._work.save_progress([report for _, report in reports.values()])
            stale += [reports[token][0] for token in lost]

    async def _save_logs(self, worker_id: WorkerId, sent: Sequence[RunLog], stale: list[str]) -> list[LogRefusal]:
        """Save output, and return which of it was refused. Nothing of a refused log is saved."""
        refused: list[LogRefusal] = []
        chunks: list[LogChunk] = []
        texts: dict[Token, str] = {}
        for one in sent:
            try:
                token = self._names.lease(worker_id, one.run_id, one.token)
                chunks += await self._logs.fresh(RunId(one.run_id), token, one.pieces, self._clock.now())
                texts[token] = one.token
            except StaleLease:
                stale.append(one.token)
            except LogRefused as error:
                refused.append(LogRefusal(token=one.token, code=error.code, next_seq=error.next_seq))
        stale += [texts[token] for token in await self._append(chunks, texts)]
        return refused

    async def _append(self, chunks: Sequence[LogChunk], tokens: Iterable[Token]) -> list[Token]:
        """Save output. If that fails, the stored output decides where it continues."""
        if not chunks:
            return []
        try:
            lost = await self._work.append_log(chunks)
        except BaseException:
            for token in tokens:
                self._logs.forget(token)
            raise
        for token in lost:
            self._logs.forget(token)
        return lost


def _check_outputs(finishes: Iterable[FinishedRun]) -> None:
    """Raise InvalidRun if an output cannot be read later. Nothing of the message is done then."""
    for one in finishes:
        if one.output is not None:
            check_document(one.output, "output")


def _beat(renewal: Renewal, texts: Mapping[Token, str]) -> Beat:
    return Beat(
        cancelled=tuple(texts[token] for token in renewal.cancelled if token in texts),
        gone=tuple(texts[token] for token in renewal.gone if token in texts),
        paused=renewal.order is Order.PAUSE,
        drain=renewal.order is Order.DRAIN,
    )


def _ttl(seconds: float) -> Millis:
    if not _SHORTEST_LEASE <= seconds * SECOND <= _LONGEST_LEASE:
        raise InvalidInput("lease must be from 0.1 to 86400 seconds", hint="60 is usual.", field="lease")
    return Millis(round(seconds * SECOND))


def _wait(seconds: float) -> Millis:
    if not 0 <= seconds <= LONGEST_WAIT:
        raise InvalidInput(f"wait must be from 0 to {LONGEST_WAIT:g} seconds", hint="30 is usual.", field="wait")
    return Millis(round(seconds * SECOND))
