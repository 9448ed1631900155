"""The http runner: sends one request; the status of the response decides the outcome."""

from contextlib import aclosing
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec

from foliot.adapters.outbound.dns import LookUp
from foliot.adapters.outbound.guard import CONNECT
from foliot.adapters.outbound.lazy import LazyOutbound
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
    from foliot.adapters.outbound.client import Outbound, Response

READ_LIMIT: Final = 16 << 20
"""Bytes of a response that are read at most, counted both before and after decompression."""
NOT_CALLABLE: Final = 2
"""The exit code of a job with an invalid request."""

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"


class HttpRunner:
    """Runs http jobs. The policy decides which addresses they may reach."""

    abandoned = 0

    def __init__(
        self, policy: OutboundPolicy = OPEN, *, look_up: LookUp | None = None, connect: float = CONNECT
    ) -> None:
        self._outbound = LazyOutbound(policy, look_up=look_up, connect=connect)

    async def run(self, attempt: Attempt) -> Success | Failure:
        try:
            spec = read_spec(HttpSpec, attempt.spec)
        except InvalidJob as error:
            return refusal(error, NOT_CALLABLE)
        outbound = await self._outbound.open()
        try:
            return await _exchange(outbound, spec, attempt)
        except OutboundBlocked as error:
            return Failure(error.message, Reason.SSRF_BLOCKED, retryable=False)
        except OutboundFailed as error:
            return Failure(error.message, Reason.CONNECTION, error.status)


async def _exchange(outbound: "Outbound", spec: HttpSpec, attempt: Attempt) -> Success | Failure:
    def log_request(request: Request, status: int | None) -> None:
        led = "" if status is None else f"{_named(status)}: "
        trust = "" if spec.verify else " (certificate not verified)"
        url = show_url(request.url, attempt.written, is_first=status is None)
        attempt.log.write("meta", f"{led}{request.method} {url}{trust}\n".encode())

    async with outbound.exchange(
        request_of(spec, attempt),
        redirects=spec.max_redirects if spec.follow else 0,
        verify=spec.verify,
        is_final=spec.expects,
        on_send=log_request,
    ) as response:
        attempt.log.write("meta", f"{_named(response.status)}\n".encode())
        capture = None if spec.output == "none" else Capture(spec.output)
        await _keep_body(response, attempt.log, spec.output_cap, capture)
        outcome = _outcome(spec, response.status)
    return outcome if capture is None else await with_output(outcome, capture.read)


def request_of(spec: HttpSpec, attempt: Attempt) -> Request:
    """Return the job's request, with headers that let the server recognize a repeated one."""
    body, kind = _body(spec, attempt.payload)
    key = attempt.run_id if attempt.tick is None else attempt.tick.key
    ours = {"Idempotency-Key": key}
    if kind is not None:
        ours["Content-Type"] = kind
    who = {"Foliot-Run-Id": attempt.run_id, "Foliot-Attempt": str(attempt.number)}
    return Request(spec.verb, spec.target, defaulted(spec.headers, ours) | who, body)


def _body(spec: HttpSpec, payload: object) -> tuple[bytes | None, str | None]:
    """Return body and content type: those of the job, or the payload of the run if the method has a body."""
    if spec.body is not None:
        return spec.body.encode(), _TEXT
    given = payload if spec.json is None and spec.verb in _WITH_BODY else spec.json
    return (None, None) if given is None else (msgspec.json.encode(given), _JSON)


async def _keep_body(response: "Response", log: LogSink, cap: int, capture: Capture | None) -> None:
    """Log the start of the body, count the rest, and stop reading at the limit. `capture` receives all of it."""
    seen = stored = 0
    if not response.is_decoded:
        log.write("meta", b"the content encoding of the body is not supported: the body is stored as received\n")
    async with aclosing(response.pieces(READ_LIMIT)) as pieces:
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
    if response.is_cut or seen > READ_LIMIT:
        log.write("meta", f"the body is longer than {READ_LIMIT} bytes: the rest was not read\n".encode())
    if seen > stored:
        log.truncated(seen, stored)


def _outcome(spec: HttpSpec, status: int) -> Success | Failure:
    if spec.expects(status):
        return Success(exit_code=status)
    error = f"status {_named(status)}, expected {show_statuses(spec.expect_status)}"
    return Failure(error, Reason.HTTP_STATUS, status)


def _named(status: int) -> str:
    """Return a status with its standard phrase. The server's phrase could contain anything."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
