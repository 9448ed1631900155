"""Logs: what runs print."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from starlette.responses import Response, StreamingResponse

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.paging import MOST
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.interfaces.api.streams import EVENT_STREAM, event_stream, log_frames
from foliot.service.answers import LogPage, LogPiece
from foliot.service.queries.logs import LogView

_LARGEST: Final = (1 << 63) - 1
_MOST_OF_RANGE: Final = 16 << 20
"""A range is read into memory, and may be answered by a shorter one."""
_TEXT: Final = "text/plain; charset=utf-8"
Offset = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
Length = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]


class LogQuery(Parameters, frozen=True, kw_only=True):
    offset: Offset = 0
    """Leave out so many bytes."""
    length: Length | None = None
    """Return at most so many bytes."""


class PiecesQuery(Parameters, frozen=True, kw_only=True):
    after: str | None = None
    """The id of the last piece that is known."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST)] = 100


@ROUTES.get(
    "/api/runs/{run_id}/log",
    permission=Permission.READ,
    summary="Return the output of a run as text, or stream it with Accept: text/event-stream until the run ends.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE),
    media_type="text/plain",
)
async def get_log(call: Call, run_id: str, query: LogQuery) -> Response:
    await call.services.queries.runs.get(run_id)
    if EVENT_STREAM in call.accepts:
        return event_stream(call, log_frames(call, run_id))
    begin, end, is_range = _range(call, query)
    headers = {"Accept-Ranges": "bytes", "Content-Disposition": f'attachment; filename="{run_id}.log"'}
    parts = _bytes(call, run_id, begin, end)
    if not is_range:
        return StreamingResponse(parts, headers=headers, media_type=_TEXT)
    content = b"".join([part async for part in parts])
    if not content:
        message = f"the log has no byte {begin} yet"
        raise ApiError(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "invalid_range", message)
    # The length of a log that is being written is not known.
    headers["Content-Range"] = f"bytes {begin}-{begin + len(content) - 1}/*"
    return Response(content, HTTPStatus.PARTIAL_CONTENT, headers, media_type=_TEXT)


@ROUTES.get(
    "/api/runs/{run_id}/log/pieces",
    permission=Permission.READ,
    summary="List the output of a run in pieces, with the time and the stream of each.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def list_log_pieces(call: Call, run_id: str, query: PiecesQuery) -> LogPage:
    items: list[LogPiece] = []
    async for piece in call.services.logs.read(run_id, _cursor(query.after)):
        if not isinstance(piece, LogView):
            return LogPage(items=items, next=None, state=piece.state)
        if len(items) == query.limit:
            break
        items.append(_piece(piece))
    return LogPage(items=items, next=items[-1].id, state=None)


def _piece(piece: LogView) -> LogPiece:
    token, seq = piece.cursor
    return LogPiece(id=f"{token}-{seq}", at=piece.at, attempt=piece.attempt, stream=piece.stream, text=piece.text)


def _cursor(given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    token, dash, seq = given.partition("-")
    if not (dash and token.isdecimal() and seq.isdecimal() and len(given) < 40):
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "invalid_cursor",
            "the id is not that of a piece of a log",
            hint="Use the id of a piece, or leave it out to begin at the first.",
            field="after",
        )
    return int(token), int(seq)


def _range(call: Call, query: LogQuery) -> tuple[int, int | None, bool]:
    """Return the first byte, the byte after the last one, and whether a header asks for a part. The header has
    precedence; a form of it that is not supported is ignored, as HTTP allows."""
    given = call.request.headers.get("range", "")
    unit, _, span = given.partition("=")
    first, dash, last = span.partition("-")
    if unit.strip() == "bytes" and dash and first.isdecimal() and (last.isdecimal() or not last) and len(span) < 40:
        if last and int(last) < int(first):
            message = "the range ends before it begins"
            raise ApiError(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "invalid_range", message)
        upto = int(last) + 1 if last else int(first) + _MOST_OF_RANGE
        return int(first), min(upto, int(first) + _MOST_OF_RANGE), True
    return query.offset, None if query.length is None else query.offset + query.length, False


async def _bytes(call: Call, run_id: str, begin: int, end: int | None) -> AsyncIterator[bytes]:
    """Yield the bytes of the log from `begin` to `end`."""
    position = 0
    async for piece in call.services.logs.read(run_id):
        if not isinstance(piece, LogView) or (end is not None and position >= end):
            return
        upto = None if end is None else end - position
        if part := piece.data[max(0, begin - position) : upto]:
            yield part
        position += len(piece.data)
