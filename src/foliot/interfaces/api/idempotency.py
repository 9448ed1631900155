"""Requests with an Idempotency-Key: a repetition gets the first answer."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from starlette.responses import Response

from foliot.domain.access.request import KeyReused, NewRequest, RequestInProgress, StoredAnswer
from foliot.errors import InvalidInput
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.reading import JSON

HEADER: Final = "idempotency-key"


async def once(call: Call, content: bytes, handle: Callable[[], Awaitable[Response]]) -> Response:
    """Handle a request once. A request without a key is handled each time."""
    key = call.request.headers.get(HEADER)
    if key is None:
        return await handle()
    requests, path = call.services.requests, call.request.scope["path"]
    try:
        begun = await requests.begin(key, call.request.method, path, content)
    except InvalidInput as error:
        raise ApiError(
            HTTPStatus.BAD_REQUEST, "invalid_idempotency_key", error.message, hint=error.hint, field=error.field
        ) from None
    match begun:
        case StoredAnswer(status, body):
            call.headers["Idempotency-Replayed"] = "true"
            return Response(body, status, media_type=JSON)
        case RequestInProgress():
            message = "the first request with this key has no answer yet"
            raise ApiError(
                HTTPStatus.CONFLICT, "idempotency_in_progress", message, hint="Repeat it.", headers={"Retry-After": "1"}
            )
        case KeyReused():
            message = "this key belongs to another request"
            hint = "Use a new key for each request, and the same key only to repeat it."
            raise ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "idempotency_key_reused", message, hint=hint)
        case NewRequest(resource_id):
            return await _first(call, key, resource_id, handle)


async def _first(call: Call, key: str, resource_id: str, handle: Callable[[], Awaitable[Response]]) -> Response:
    call.resource_id = resource_id
    try:
        answer = await handle()
    except Exception:
        # Nothing was changed, or the change can be repeated: the client may correct the request and use the key again.
        await call.services.requests.abandon(key)
        raise
    await call.services.requests.complete(key, StoredAnswer(answer.status_code, bytes(answer.body)))
    return answer
