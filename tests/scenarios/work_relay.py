"""The work port over a wire: every request and every response is JSON.

    worker -- WorkRelay --bytes--> WorkEndpoint -- storage.work
                        <--bytes--

A worker has only the relay. The endpoint has the storage and the authoritative clock.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.json import Decoder, encode

from foliot.domain.chain.message import ChainRequest
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.ids import DefinitionId, RunId, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.lease import Finish, Renewal, Worker
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.progress import ProgressReport
from foliot.ports.topic import Topic
from foliot.ports.work import Claimed, Exchanged, Work

T = TypeVar("T")
Send = Callable[[bytes], Awaitable[bytes]]


class RegisterWorker(Struct, tag=True):
    worker: Worker
    ttl: Millis


class RenewWorker(Struct, tag=True):
    worker_id: WorkerId
    held: list[Token] | None
    ttl: Millis
    is_draining: bool = False


class RetireWorker(Struct, tag=True):
    worker_id: WorkerId


class ClaimRuns(Struct, tag=True):
    worker_id: WorkerId
    queues: list[str]
    limit: int
    known: list[DefinitionId]
    only: list[RunId] | None


class FinishRuns(Struct, tag=True):
    finishes: list[Finish]


class ExchangeRuns(Struct, tag=True):
    finishes: list[Finish]
    claim: ClaimRuns


class AppendLog(Struct, tag=True):
    chunks: list[LogChunk]


class SaveProgress(Struct, tag=True):
    reports: list[ProgressReport]


class ReadResults(Struct, tag=True):
    run_id: RunId
    worker_id: WorkerId
    token: Token
    query: ResultQuery


class AskChain(Struct, tag=True):
    run_id: RunId
    worker_id: WorkerId
    token: Token
    request: ChainRequest


class WaitFor(Struct, tag=True):
    """Returns when the topic has news."""

    topic: Topic


Request = (
    RegisterWorker
    | RenewWorker
    | RetireWorker
    | ClaimRuns
    | FinishRuns
    | ExchangeRuns
    | AppendLog
    | SaveProgress
    | ReadResults
    | AskChain
    | WaitFor
)
_REQUEST: Final[Decoder[Request]] = Decoder(Request)
_NOTHING: Final[Decoder[None]] = Decoder(type(None))
_RENEWAL: Final[Decoder[Renewal | None]] = Decoder(Renewal | None)
_CLAIMED: Final[Decoder[Claimed]] = Decoder(Claimed)
_EXCHANGED: Final[Decoder[Exchanged]] = Decoder(Exchanged)
_RESULTS: Final[Decoder[list[ChildResult] | None]] = Decoder(list[ChildResult] | None)
_ANSWER: Final[Decoder[Mapping[str, Any] | None]] = Decoder(dict[str, Any] | None)
_TOKENS: Final[Decoder[list[Token]]] = Decoder(list[Token])


class WorkEndpoint:
    """Executes requests on the storage."""

    def __init__(self, work: Work) -> None:
        self._work = work

    async def answer(self, body: bytes) -> bytes:
        request = _REQUEST.decode(body)
        match request:
            case WaitFor():
                await self._wait(request)
                return encode(None)
            case AskChain(run_id, worker_id, token, asked):
                return encode(await self._work.ask_chain(run_id, worker_id, token, asked))
            case _:
                return encode(await self._answer(request))

    async def _wait(self, request: WaitFor) -> None:
        await self._work.signal(request.topic).wait()
        self._work.signal(request.topic).clear()

    async def _answer(self, request: Request) -> object:
        match request:
            case RegisterWorker(worker, ttl):
                await self._work.register(worker, ttl)
            case RenewWorker(worker_id, held, ttl, is_draining):
                return await self._work.renew(worker_id, held, ttl, is_draining=is_draining)
            case RetireWorker(worker_id):
                await self._work.retire(worker_id)
            case ClaimRuns(worker_id, queues, limit, known, only):
                return await self._work.claim(worker_id, queues, limit, known=known, only=only)
            case FinishRuns(finishes):
                return await self._work.finish(finishes)
            case ExchangeRuns(finishes, ClaimRuns(worker_id, queues, limit, known, only)):
                return await self._work.exchange(finishes, worker_id, queues, limit, known=known, only=only)
            case AppendLog(chunks):
                return await self._work.append_log(chunks)
            case SaveProgress(reports):
                return await self._work.save_progress(reports)
            case ReadResults(run_id, worker_id, token, query):
                return await self._work.results(run_id, worker_id, token, query)
        return None


class WorkRelay:
    """Implements `ports.work.Work` with a function that sends bytes and returns the response."""

    is_remote = True

    def __init__(self, send: Send) -> None:
        self._send = send
        self._signals: dict[Topic, asyncio.Event] = {}
        self._waits: list[asyncio.Task[None]] = []
        self.sent: list[tuple[bytes, bytes]] = []
        """All requests with their responses."""

    def signal(self, topic: Topic) -> asyncio.Event:
        if topic not in self._signals:
            self._signals[topic] = asyncio.Event()
            self._waits.append(asyncio.create_task(self._wait(topic)))
        return self._signals[topic]

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        await self._ask(RegisterWorker(worker, ttl), _NOTHING, at)

    async def renew(
        self,
        worker_id: WorkerId,
        held: Collection[Token] | None,
        ttl: Millis,
        *,
        is_draining: bool = False,
        at: Instant | None = None,
    ) -> Renewal | None:
        listed = None if held is None else list(held)
        return await self._ask(RenewWorker(worker_id, listed, ttl, is_draining), _RENEWAL, at)

    async def retire(self, worker_id: WorkerId) -> None:
        await self._ask(RetireWorker(worker_id), _NOTHING)

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
        return await self._ask(_claim_runs(worker_id, queues, limit, known, only), _CLAIMED, at)

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        return await self._ask(FinishRuns(list(finishes)), _TOKENS, at)

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
        request = ExchangeRuns(list(finishes), _claim_runs(worker_id, queues, limit, known, only))
        return await self._ask(request, _EXCHANGED, at)

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        return await self._ask(AppendLog(list(chunks)), _TOKENS)

    async def save_progress(self, reports: Sequence[ProgressReport], *, at: Instant | None = None) -> list[Token]:
        return await self._ask(SaveProgress(list(reports)), _TOKENS, at)

    async def results(
        self, run_id: RunId, worker_id: WorkerId, token: Token, query: ResultQuery
    ) -> list[ChildResult] | None:
        return await self._ask(ReadResults(run_id, worker_id, token, query), _RESULTS)

    async def ask_chain(
        self, run_id: RunId, worker_id: WorkerId, token: Token, request: ChainRequest, *, at: Instant | None = None
    ) -> Mapping[str, Any] | None:
        return await self._ask(AskChain(run_id, worker_id, token, request), _ANSWER, at)

    async def close(self) -> None:
        for wait in self._waits:
            wait.cancel()
        await asyncio.gather(*self._waits, return_exceptions=True)

    async def _ask(self, request: Request, answer: Decoder[T], at: Instant | None = None) -> T:
        assert at is None, "the clock of a worker does not count"
        body = encode(request)
        answered = await self._send(body)
        self.sent.append((body, answered))
        return answer.decode(answered)

    async def _wait(self, topic: Topic) -> None:
        while True:
            await self._send(encode(WaitFor(topic)))
            self._signals[topic].set()


def _claim_runs(
    worker_id: WorkerId,
    queues: Sequence[str],
    limit: int,
    known: Collection[DefinitionId],
    only: Collection[RunId] | None,
) -> ClaimRuns:
    return ClaimRuns(worker_id, list(queues), limit, list(known), None if only is None else list(only))
