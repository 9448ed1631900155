"""Fills `ports.work.Work` with messages to a server.

The engine knows leases by numbers, messages by texts: this object keeps the text of each lease that is held. The server
gives the worker its id, so the id that the engine chose stays here.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from foliot.adapters.work_http.batches import chunk_batches, finish_batches, run_logs
from foliot.adapters.work_http.connection import Connection
from foliot.domain.chain.message import ChainRequest
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.ids import DefinitionId, JobId, RunId, Token, WorkerId
from foliot.domain.instant import SECOND, Instant, Millis
from foliot.domain.run.lease import Claim, Finish, Order, Renewal, Worker
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.progress import ProgressReport
from foliot.domain.work.message import (
    Beat,
    Claiming,
    Exchange,
    ExchangeAnswer,
    FinishedRun,
    Heartbeat,
    Held,
    LeasedRun,
    Register,
    Registered,
    ResultPage,
    Results,
    Retire,
    RunProgressReport,
    SpawnAnswer,
    Spawning,
    Wait,
    Woken,
)
from foliot.domain.work.outcome import finished_run
from foliot.errors import FoliotError, StaleLease, StorageUnavailable, WorkerExpired
from foliot.ports.topic import Topic
from foliot.ports.work import Claimed, Exchanged

log = logging.getLogger(__name__)

WAIT: Final = 30.0
"""Seconds of one long poll."""
_PAUSE: Final = 1.0
"""Seconds before the next long poll, after one that failed."""
_KNOWN: Final = 256
"""How many definitions a claim lists as known. Others are sent again, which costs less than a long list."""
_FORMER: Final = 10_000
"""How many leases of earlier registrations are remembered."""


class HttpWork:
    """The work port of one worker process."""

    is_remote = True

    def __init__(self, connection: Connection, *, labels: tuple[str, ...] | None = None) -> None:
        self._connection = connection
        self._labels = labels
        self._events = {topic: asyncio.Event() for topic in (Topic.RUNS, Topic.CANCELS)}
        self._worker = ""
        """The text that names the registered worker."""
        self._own_id = WorkerId("")
        """Its id in the engine."""
        self._texts: dict[Token, tuple[RunId, str]] = {}
        self._former: dict[Token, tuple[str, str]] = {}
        """Leases of earlier registrations whose end is not reported yet: the text of the worker, and of the token."""
        self._waiting: asyncio.Task[None] | None = None

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._events[topic]

    async def close(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.gather(self._waiting, return_exceptions=True)
        await self._connection.close()

    # -- the worker

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        sent = Register(
            name=worker.name,
            queues=worker.queues,
            slots=worker.slots,
            labels=self._labels,
            kinds=worker.facts.kinds,
            version=worker.facts.version,
            environment=worker.facts.environment,
            lease=ttl / SECOND,
        )
        answer = await self._connection.send("register", sent, Registered)
        if answer is None:
            raise StorageUnavailable(
                "the answer of the server is empty", hint="Check the address, and that foliot serve runs there."
            )
        self._former |= {token: (self._worker, text) for token, (_, text) in self._texts.items()}
        self._former = dict(islice(self._former.items(), max(0, len(self._former) - _FORMER), None))
        self._worker, self._own_id = answer.worker, worker.id
        self._texts.clear()
        facts = {"worker": answer.worker_id, "labels": list(answer.labels)}
        log.info("registered_with_server", extra=facts)
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._wait(), name="wait for runs")

    async def renew(
        self,
        worker_id: WorkerId,
        held: Collection[Token] | None,
        ttl: Millis,
        *,
        is_draining: bool = False,
        at: Instant | None = None,
    ) -> Renewal | None:
        if held is not None:
            self._texts = {token: self._texts[token] for token in held if token in self._texts}
        listed = None if held is None else tuple(Held(run_id=run, token=text) for run, text in self._texts.values())
        sent = Heartbeat(worker=self._worker, held=listed, lease=ttl / SECOND, draining=is_draining)
        try:
            beat = await self._connection.send("heartbeat", sent, Beat) or Beat()
        except (WorkerExpired, StaleLease):
            return None
        order = Order.DRAIN if beat.drain else Order.PAUSE if beat.paused else Order.NONE
        return Renewal(tuple(map(_number, beat.cancelled)), (), tuple(map(_number, beat.gone)), order)

    async def retire(self, worker_id: WorkerId) -> None:
        with suppress(WorkerExpired):
            await self._connection.send("retire", Retire(worker=self._worker), Beat)

    async def _wait(self) -> None:
        """Set the signals of the topics when the server says so, until the process ends."""
        while True:
            try:
                woken = await self._connection.send("wait", Wait(worker=self._worker, wait=WAIT), Woken, wait=WAIT)
            except FoliotError:
                # The heartbeat reports outages and registers again. Runs are found by polling meanwhile.
                await asyncio.sleep(_PAUSE)
                continue
            if woken is not None and woken.runs:
                self._events[Topic.RUNS].set()
            if woken is not None and woken.cancels:
                self._events[Topic.CANCELS].set()

    # -- runs

    async def claim(
        self,
        worker_id: WorkerId,
        queues: Sequence[str],
        limit: int,
        *,
        known: Collection[DefinitionId] = (),
        only: Collection[RunId] | None = None,
        at: Instant | None = None,
    ) -> Claimed:
        _, claims, definitions = await self.exchange([], worker_id, queues, limit, known=known, only=only)
        return Claimed(claims, definitions)

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        messages, stale = self._finishes(finishes)
        stale = await self._report_late(finishes, stale)
        for batch in finish_batches(messages):
            if batch:
                stale += (await self._exchange(Exchange(worker=self._worker, finishes=tuple(batch)))).stale_tokens
        self._drop(finishes)
        return stale

    async def exchange(
        self,
        finishes: Sequence[Finish],
        worker_id: WorkerId,
        queues: Sequence[str],
        limit: int,
        *,
        known: Collection[DefinitionId] = (),
        only: Collection[RunId] | None = None,
        at: Instant | None = None,
    ) -> Exchanged:
        messages, stale = self._finishes(finishes)
        stale = await self._report_late(finishes, stale)
        *earlier, last = finish_batches(messages)
        for batch in earlier:
            stale += (await self._exchange(Exchange(worker=self._worker, finishes=tuple(batch)))).stale_tokens
        claim = Claiming(
            limit=limit,
            queues=tuple(queues),
            known=tuple(known)[-_KNOWN:],
            only=None if only is None else tuple(only),
        )
        done = await self._exchange(Exchange(worker=self._worker, finishes=tuple(last), claim=claim))
        self._drop(finishes)
        claims = [self._claim(run) for run in done.answer.runs]
        return Exchanged(stale + done.stale_tokens, claims, done.answer.definitions)

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        stale = {chunk.token for chunk in chunks if chunk.token not in self._texts}
        for batch in chunk_batches(chunk for chunk in chunks if chunk.token not in stale):
            texts: dict[int, str] = {chunk.token: self._texts[chunk.token][1] for chunk in batch}
            done = await self._exchange(Exchange(worker=self._worker, logs=run_logs(batch, texts)))
            stale.update(done.stale_tokens)
            for refused in done.answer.refused_logs:
                # It was saved before if the answer to an earlier request was lost. Otherwise it cannot be saved later.
                if refused.code != "log_repeated":
                    log.error("log_refused", extra={"token": refused.token.partition(".")[0], "code": refused.code})
                    stale.add(_number(refused.token))
        return [*stale]

    async def save_progress(self, reports: Sequence[ProgressReport], *, at: Instant | None = None) -> list[Token]:
        stale = [report.token for report in reports if report.token not in self._texts]
        sent = tuple(
            RunProgressReport(run_id=one.run_id, token=self._texts[one.token][1], fraction=one.fraction, text=one.text)
            for one in reports
            if one.token in self._texts
        )
        if sent:
            stale += (await self._exchange(Exchange(worker=self._worker, progress=sent))).stale_tokens
        return stale

    async def results(
        self, run_id: RunId, worker_id: WorkerId, token: Token, query: ResultQuery
    ) -> list[ChildResult] | None:
        if token not in self._texts:
            return None
        sent = Results(worker=self._worker, run_id=run_id, token=self._texts[token][1], **query._asdict())
        try:
            page = await self._connection.send("results", sent, ResultPage)
        except (StaleLease, WorkerExpired):
            return None
        if page is None or page.results is None:
            return None
        return [
            ChildResult(
                one.index,
                RunId(one.run_id),
                one.status,
                one.exit_code,
                one.error,
                one.item,
                one.has_output,
                one.output,
            )
            for one in page.results
        ]

    async def ask_chain(
        self, run_id: RunId, worker_id: WorkerId, token: Token, request: ChainRequest, *, at: Instant | None = None
    ) -> Mapping[str, Any] | None:
        if token not in self._texts:
            return None
        sent = Spawning(worker=self._worker, run_id=run_id, token=self._texts[token][1], request=request)
        try:
            answer = await self._connection.send("spawn", sent, SpawnAnswer)
        except (StaleLease, WorkerExpired):
            return None
        return None if answer is None else answer.answer

    # -- messages

    async def _exchange(self, sent: Exchange) -> "_Done":
        """Send a message. A worker that the server does not know holds no leases: all that it reports is stale."""
        try:
            answer = await self._connection.send("exchange", sent, ExchangeAnswer)
        except WorkerExpired:
            texts = [one.token for part in (sent.finishes, sent.logs, sent.progress) for one in part]
            return _Done(ExchangeAnswer(stale=tuple(texts)))
        return _Done(answer or ExchangeAnswer())

    async def _report_late(self, finishes: Sequence[Finish], stale: Sequence[Token]) -> list[Token]:
        """Report the ends of attempts that began before this worker registered anew. The server believes the report of
        a lease that it has not given away. Return the tokens that are stale."""
        wanted = set(stale)
        for finish in finishes:
            if finish.token in wanted and finish.token in self._former:
                worker, text = self._former[finish.token]
                done = await self._exchange(Exchange(worker=worker, finishes=(finished_run(finish, text),)))
                del self._former[finish.token]
                if not done.answer.stale:
                    wanted.remove(finish.token)
        return [token for token in stale if token in wanted]

    def _finishes(self, finishes: Sequence[Finish]) -> tuple[list[FinishedRun], list[Token]]:
        """Return the messages about ended attempts, and the tokens of leases that are not held."""
        known = [one for one in finishes if one.token in self._texts]
        lost = [one.token for one in finishes if one.token not in self._texts]
        return [finished_run(one, self._texts[one.token][1]) for one in known], lost

    def _drop(self, finishes: Sequence[Finish]) -> None:
        for finish in finishes:
            self._texts.pop(finish.token, None)

    def _claim(self, run: LeasedRun) -> Claim:
        token = _number(run.token)
        self._texts[token] = RunId(run.run_id), run.token
        return Claim(
            run_id=RunId(run.run_id),
            token=token,
            worker_id=self._own_id,
            job_id=JobId(run.job_id),
            definition_id=DefinitionId(run.definition_id),
            attempt=run.attempt,
            lost=run.lost,
            queue=run.queue,
            priority=run.priority,
            due_at=Instant(run.due_at),
            started_at=Instant(run.started_at),
            payload=run.payload,
            overrides=run.overrides,
            limit_keys=run.limit_keys,
            tick=run.tick,
            parent_id=None if run.parent_id is None else RunId(run.parent_id),
            child_key=run.child_key,
            scheduled_for=None if run.scheduled_for is None else Instant(run.scheduled_for),
        )


class _Done:
    """The answer to an exchange."""

    def __init__(self, answer: ExchangeAnswer) -> None:
        self.answer = answer

    @property
    def stale_tokens(self) -> list[Token]:
        return [_number(text) for text in self.answer.stale]


def _number(text: str) -> Token:
    """Return the number of a lease in the text of its token."""
    return Token(int(text.partition(".")[0]))
