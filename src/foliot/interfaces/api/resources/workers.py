"""The protocol of remote workers: docs/reference/worker-protocol.md."""

from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.responses import Response

from foliot.domain.access.principal import PrincipalKind
from foliot.domain.access.role import Permission
from foliot.domain.work.message import (
    PROTOCOL,
    PROTOCOL_HEADER,
    Beat,
    Exchange,
    ExchangeAnswer,
    Finish,
    Heartbeat,
    Lease,
    Leased,
    Log,
    LogSaved,
    Progress,
    Register,
    Registered,
    ResultPage,
    Results,
    Retire,
    SpawnAnswer,
    Spawning,
    Wait,
    Woken,
)
from foliot.errors import ProtocolTooOld
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import JSON, Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.interfaces.api.route import PUBLIC
from foliot.service.workers.work import WorkService

MOST_LOG: Final = 8 << 20
"""Bytes of one request with output."""
_LARGE: Final = 4 << 20
_FACTS: Final[dict[str, Any]] = {
    "permission": Permission.WORK,
    "is_repeatable": False,
    "errors": (HTTPStatus.CONFLICT, HTTPStatus.UPGRADE_REQUIRED),
}
_WORKER: Final = "01JQZ8W3F07M4T5V6W8X9YABCD.5d41402abc4b2a76b9719d911017c592"
_HELD: Final = {"run_id": "01JQZ8W3F07M4T5V6W8X9YABCE", "token": "7.7d793037a0760186574b0282f2f435e7"}


class JoinBody(Parameters, frozen=True, kw_only=True):
    token: str


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    worker_id: str
    secret: str
    """It cannot be shown again."""
    name: str
    labels: tuple[str, ...]
    kinds: tuple[str, ...]


@ROUTES.post(
    "/api/workers/join",
    permission=PUBLIC,
    summary="Get the secret of an invited worker, with a join token, which is used up.",
    is_repeatable=False,
    errors=(HTTPStatus.UNAUTHORIZED,),
    examples=({"token": "join_fol_01JQZ8W3F07M4T5V6W8X9YABCD_"},),
)
async def join_worker(call: Call, body: JoinBody) -> Joined:
    view, secret = await call.services.enrolments.join(body.token)
    return Joined(worker_id=view.id, secret=secret, name=view.name, labels=view.labels, kinds=view.kinds)


@ROUTES.post(
    "/api/workers/register",
    summary="Register a worker.",
    status=HTTPStatus.CREATED,
    answer=Registered,
    examples=({"name": "gpu-1", "slots": 4},),
    **_FACTS,
)
async def register_worker(call: Call, body: Register) -> Response:
    is_open = call.principal is not None and call.principal.kind is PrincipalKind.DEVELOPMENT
    return _answer(call, await _work(call).register(body, may_use_any_label=is_open))


@ROUTES.post(
    "/api/workers/lease",
    summary="Lease ready runs. Without one, the answer is 204.",
    answer=Leased,
    examples=({"worker": _WORKER, "limit": 1, "wait": 0},),
    **_FACTS,
)
async def lease_runs(call: Call, body: Lease) -> Response:
    return _answer(call, await _work(call).lease(body, call.context.closing))


@ROUTES.post(
    "/api/workers/heartbeat",
    summary="Renew a worker with its leases, and learn which runs are to be cancelled.",
    answer=Beat,
    examples=({"worker": _WORKER, "held": [_HELD]},),
    **{**_FACTS, "errors": (*_FACTS["errors"], HTTPStatus.GONE)},
)
async def renew_worker(call: Call, body: Heartbeat) -> Response:
    return _answer(call, await _work(call).heartbeat(body))


@ROUTES.post(
    "/api/workers/log",
    summary="Save output of a run.",
    answer=LogSaved,
    max_body=MOST_LOG,
    examples=({"worker": _WORKER, **_HELD, "pieces": [{"seq": 0, "text": "hello\n"}]},),
    **_FACTS,
)
async def append_log(call: Call, body: Log) -> Response:
    return _answer(call, await _work(call).log(body))


@ROUTES.post(
    "/api/workers/progress",
    summary="Save the progress of a run.",
    status=HTTPStatus.NO_CONTENT,
    examples=({"worker": _WORKER, **_HELD, "fraction": 0.5, "text": "half"},),
    **_FACTS,
)
async def save_progress(call: Call, body: Progress) -> None:
    await _work(call).progress(body)


@ROUTES.post(
    "/api/workers/finish",
    summary="Report how an attempt ended. Repeating the same report changes nothing.",
    status=HTTPStatus.NO_CONTENT,
    max_body=_LARGE,
    examples=({"worker": _WORKER, **_HELD, "status": "success", "exit_code": 0},),
    **_FACTS,
)
async def finish_run(call: Call, body: Finish) -> None:
    await _work(call).finish(body)


@ROUTES.post(
    "/api/workers/results",
    summary="Read results of the fanout that a run belongs to.",
    answer=ResultPage,
    examples=({"worker": _WORKER, **_HELD},),
    **_FACTS,
)
async def read_results(call: Call, body: Results) -> Response:
    return _answer(call, await _work(call).results(body))


@ROUTES.post(
    "/api/workers/spawn",
    summary="Ask the chain of a run for something: start a follow-up, decide, report what was spent.",
    answer=SpawnAnswer,
    examples=({"worker": _WORKER, **_HELD, "request": {"type": "spawn", "name": "clean"}},),
    **_FACTS,
)
async def spawn_run(call: Call, body: Spawning) -> Response:
    return _answer(call, await _work(call).spawn(body))


@ROUTES.post(
    "/api/workers/wait",
    summary="Wait until runs may be ready or a cancellation was requested. After `wait` seconds the answer is 204.",
    answer=Woken,
    examples=({"worker": _WORKER, "wait": 0},),
    **_FACTS,
)
async def wait_for_work(call: Call, body: Wait) -> Response:
    return _answer(call, await _work(call).wait(body, call.context.closing))


@ROUTES.post(
    "/api/workers/exchange",
    summary="Save output, progress and finished runs, renew the worker and lease runs, in one request.",
    answer=ExchangeAnswer,
    max_body=MOST_LOG,
    examples=({"worker": _WORKER, "finishes": [{**_HELD, "status": "success"}], "claim": {"limit": 10}},),
    **_FACTS,
)
async def exchange_work(call: Call, body: Exchange) -> Response:
    return _answer(call, await _work(call).exchange(body, call.context.closing))


@ROUTES.post(
    "/api/workers/retire",
    summary="Remove a worker that stops.",
    status=HTTPStatus.NO_CONTENT,
    examples=({"worker": _WORKER},),
    **_FACTS,
)
async def retire_worker(call: Call, body: Retire) -> None:
    await _work(call).retire(body)


def _work(call: Call) -> WorkService:
    """Return the service of this principal. A worker that names another version of the protocol is refused."""
    given = call.request.headers.get(PROTOCOL_HEADER, str(PROTOCOL))
    if given != str(PROTOCOL):
        raise ProtocolTooOld(given, PROTOCOL)
    return call.services.work


def _answer(call: Call, value: msgspec.Struct | None) -> Response:
    """Return an answer. Unlike those for people, it is not masked: a worker needs the payload and the environment."""
    if value is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return Response(msgspec.json.encode(value), call.status, media_type=JSON)
