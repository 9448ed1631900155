"""Logs: what runs print."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from starlette.responses import Response, StreamingResponse

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.log_pieces import last_piece, piece_frames, step_frames, view_piece
from foliot.interfaces.api.paging import LARGEST, MOST
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.interfaces.api.streams import EVENT_STREAM, event_stream, log_frames
from foliot.service.answers import LogPage, LogPiece, StepNames
from foliot.service.queries.log_lines import LogLines, LogMatches
from foliot.service.queries.logs import LogView

_MOST_OF_RANGE: Final = 16 << 20
"""A range is read into memory, and may be answered by a shorter one."""
_TEXT: Final = "text/plain; charset=utf-8"
_MOST_OF_TAIL: Final = 100_000
Offset = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
Line = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
Length = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]


class LogQuery(Parameters, frozen=True, kw_only=True):
    offset: Offset = 0
    """Leave out so many bytes."""
    length: Length | None = None
    """Return at most so many bytes."""


class StepLogsQuery(Parameters, frozen=True, kw_only=True):
    follow: bool = True
    """false: end after the output so far."""


class PiecesQuery(Parameters, frozen=True, kw_only=True):
    after: str | None = None
    """The id of the last piece that is known."""
    tail: Annotated[int, msgspec.Meta(ge=1, le=_MOST_OF_TAIL)] | None = None
    """Instead of a page: so many of the last pieces. More may have been printed before them."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST)] = 100


class LinesQuery(Parameters, frozen=True, kw_only=True):
    first: Line | None = None
    """The number of the first line, from 1. By default the page has the last lines."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST)] = 100


class SearchQuery(Parameters, frozen=True, kw_only=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """Lines that contain this text, in upper or lower case. By default, lines that look like errors."""
    first: Line = 1
    """Begin with this line."""
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
    if query.tail is not None:
        tail = await call.services.logs.tail(run_id, query.tail)
        return LogPage(items=[view_piece(piece) for piece in tail.pieces], next=None, **tail.end._asdict())
    items: list[LogPiece] = []
    async for piece in call.services.logs.read(run_id, _cursor(query.after)):
        if not isinstance(piece, LogView):
            return LogPage(items=items, next=None, **piece._asdict())
        if len(items) == query.limit:
            break
        items.append(view_piece(piece))
    return LogPage(items=items, next=items[-1].id, state=None)


@ROUTES.get(
    "/api/runs/{run_id}/log/lines",
    permission=Permission.READ,
    summary="List lines of the output of a run by number, or the last ones.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def list_log_lines(call: Call, run_id: str, query: LinesQuery) -> LogLines:
    return await call.services.queries.log_lines.page(run_id, first=query.first, limit=query.limit)


@ROUTES.get(
    "/api/runs/{run_id}/log/search",
    permission=Permission.READ,
    summary="Search the output of a run for a text or for errors. One call searches some megabytes.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def search_log(call: Call, run_id: str, query: SearchQuery) -> LogMatches:
    return await call.services.queries.log_lines.search(run_id, text=query.text, first=query.first, limit=query.limit)


@ROUTES.get(
    "/api/runs/{run_id}/log/pieces/stream",
    permission=Permission.READ,
    summary="Stream the output of a run in pieces until it ends, after the piece of the header Last-Event-ID.",
    errors=(HTTPStatus.NOT_FOUND,),
    media_type=EVENT_STREAM,
    streams=True,
)
async def stream_log_pieces(call: Call, run_id: str) -> Response:
    await call.services.queries.runs.get(run_id)
    return event_stream(call, piece_frames(call, run_id, _cursor(last_piece(call))))


@ROUTES.get(
    "/api/runs/{run_id}/log/steps",
    permission=Permission.READ,
    summary="Stream the output of all steps of an execution or a chain in pieces, each with its step, until it ends.",
    errors=(HTTPStatus.NOT_FOUND,),
    media_type=EVENT_STREAM,
    streams=True,
)
async def stream_step_logs(call: Call, run_id: str, query: StepLogsQuery) -> Response:
    await call.services.queries.runs.get(run_id)
    return event_stream(call, step_frames(call, run_id, is_following=query.follow))


@ROUTES.get(
    "/api/runs/{run_id}/step-names",
    permission=Permission.READ,
    summary="Return the names of the steps of the execution or the chain that a run is.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def list_step_names(call: Call, run_id: str) -> StepNames:
    return StepNames(steps=await call.services.queries.workflows.step_names(run_id))


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
