"""The http runner: one request, judged by the status of its answer."""

import asyncio
from contextlib import aclosing
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

import msgspec

from foliot.adapters.outbound.dns import LookUp
from foliot.adapters.outbound.guard import CONNECT
from foliot.adapters.runners.capture import Capture, with_output
from foliot.adapters.runners.refusal import refusal
from foliot.domain.job.kinds import read_spec
from foliot.domain.job.kinds.http import HttpSpec, show_statuses, show_url
from foliot.domain.outbound.policy import OPEN, OutboundPolicy
from foliot.domain.outbound.request import Request, defaulted
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.errors import InvalidJob, OutboundBlocked, OutboundFailed
from foliot.ports.runner import Attempt, LogSink

if TYPE_CHECKING:
    from foliot.adapters.outbound.client import Answer, Outbound

READ_LIMIT: Final = 16 << 20
"""Bytes of an answer after which nobody reads on: as they are sent, and as they are meant."""
NOT_CALLABLE: Final = 2
"""The exit code of a job that says nothing that could be called."""

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"


class HttpRunner:
    """Runs http jobs. What they may call is the policy's affair."""

    abandoned = 0

    def __init__(
        self, policy: OutboundPolicy = OPEN, *, look_up: LookUp | None = None, connect: float = CONNECT
    ) -> None:
        self._policy = policy
        self._look_up = look_up
        self._connect = connect
        self._outbound: Outbound | None = None
        self._opening = asyncio.Lock()

    async def run(self, attempt: Attempt) -> Success | Failure:
        try:
            spec = read_spec(HttpSpec, attempt.spec)
        except InvalidJob as error:
            return refusal(error, NOT_CALLABLE)
        outbound = await self._open()
        try:
            return await _exchange(outbound, spec, attempt)
        except OutboundBlocked as error:
            return Failure(error.message, Reason.SSRF_BLOCKED, retryable=False)
        except OutboundFailed as error:
            return Failure(error.message, Reason.CONNECTION, error.status)

    async def _open(self) -> "Outbound":
        """What speaks HTTP, made when the first job needs it, and beside the loop: it takes a while."""
        async with self._opening:
            if self._outbound is None:
                self._outbound = await asyncio.to_thread(self._load)
            return self._outbound

    def _load(self) -> "Outbound":
        client = import_module("foliot.adapters.outbound.client")
        return cast("Outbound", client.Outbound(self._policy, look_up=self._look_up, connect=self._connect))


async def _exchange(outbound: "Outbound", spec: HttpSpec, attempt: Attempt) -> Success | Failure:
    def tell(request: Request, status: int | None) -> None:
        led = "" if status is None else f"{_named(status)}: "
        trust = "" if spec.verify else " (certificate not verified)"
        url = show_url(request.url, attempt.written, is_first=status is None)
        attempt.log.write("meta", f"{led}{request.method} {url}{trust}\n".encode())

    async with outbound.exchange(
        request_of(spec, attempt),
        redirects=spec.max_redirects if spec.follow else 0,
        verify=spec.verify,
        is_answer=spec.expects,
        on_send=tell,
    ) as answer:
        attempt.log.write("meta", f"{_named(answer.status)}\n".encode())
        capture = None if spec.output == "none" else Capture(spec.output)
        await _keep_body(answer, attempt.log, spec.output_cap, capture)
        outcome = _outcome(spec, answer.status)
    return outcome if capture is None else await with_output(outcome, capture.read)


def request_of(spec: HttpSpec, attempt: Attempt) -> Request:
    """The job's request, with the headers by which the other side can tell a repeated one."""
    body, kind = _body(spec, attempt.payload)
    key = attempt.run_id if attempt.tick is None else attempt.tick.key
    ours = {"Idempotency-Key": key}
    if kind is not None:
        ours["Content-Type"] = kind
    who = {"Foliot-Run-Id": attempt.run_id, "Foliot-Attempt": str(attempt.number)}
    return Request(spec.verb, spec.target, defaulted(spec.headers, ours) | who, body)


def _body(spec: HttpSpec, payload: object) -> tuple[bytes | None, str | None]:
    """What is sent, and its type: the job's own body, or the payload of the run where the method has a body."""
    if spec.body is not None:
        return spec.body.encode(), _TEXT
    given = payload if spec.json is None and spec.verb in _WITH_BODY else spec.json
    return (None, None) if given is None else (msgspec.json.encode(given), _JSON)


async def _keep_body(answer: "Answer", log: LogSink, cap: int, capture: Capture | None) -> None:
    """Log the beginning of the body, count the rest, and stop reading where it is too much. `capture` gets all."""
    seen = stored = 0
    if not answer.is_decoded:
        log.write("meta", b"the body is compressed in a way that is not known here, and kept as it came\n")
    async with aclosing(answer.pieces(READ_LIMIT)) as pieces:
        async for piece in pieces:
            if capture is not None:
                capture.add(piece)
            kept = piece[: max(cap - seen, 0)]
            seen += len(piece)
            stored += len(kept)
            if kept:
                log.write("stdout", kept)
                await log.drain()
            if seen > READ_LIMIT:
                break
    if answer.is_cut or seen > READ_LIMIT:
        log.write("meta", f"the body is longer than {READ_LIMIT} bytes: the rest was not read\n".encode())
    if seen > stored:
        log.truncated(seen, stored)


def _outcome(spec: HttpSpec, status: int) -> Success | Failure:
    if spec.expects(status):
        return Success(exit_code=status)
    error = f"status {_named(status)}, expected {show_statuses(spec.expect_status)}"
    return Failure(error, Reason.HTTP_STATUS, status)


def _named(status: int) -> str:
    """With the usual words for it, not the server's: those could contain anything."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
