"""Server-sent events. Every value is JSON on one line, so that no text of a job can form a frame of its own."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.responses import StreamingResponse

from foliot.interfaces.api.call import Call
from foliot.interfaces.api.errors import ApiError
from foliot.service.queries.events import Reset
from foliot.service.queries.logs import LogView

EVENT_STREAM: Final = "text/event-stream"
HEARTBEAT: Final = 15.0
"""Seconds without an event after which a comment is sent, so that a broken connection is noticed."""
MOST_STREAMS: Final = 1_000
"""How many streams a process serves at the same time."""
_COMMENT: Final = b": heartbeat\n\n"
_RETRY: Final = b"retry: 1000\n\n"
_END: Final = object()
_PART: Final = 65_536


def frame(data: bytes, *, number: str = "", event: str = "") -> bytes:
    """Return one frame. `data` is JSON, which has no line breaks."""
    head = f"id: {number}\n" if number else ""
    kind = f"event: {event}\n" if event else ""
    return f"{head}{kind}data: ".encode() + data + b"\n\n"


def last_number(call: Call, after: int | None) -> int | None:
    """Return the number of the last event that the client has; one that is no number is that of another stream."""
    given = call.request.headers.get("last-event-id", "")
    return int(given) if given.isdecimal() and len(given) < 19 else after


def event_stream(call: Call, frames: AsyncIterator[bytes]) -> StreamingResponse:
    """Return an answer that sends frames until they end, the client leaves or the server stops."""
    if call.context.streams >= MOST_STREAMS:
        raise ApiError(
            HTTPStatus.TOO_MANY_REQUESTS,
            "too_many_streams",
            f"{MOST_STREAMS} streams are open",
            hint="Close some of them. One stream of /api/events has the events of all runs.",
            headers={"Retry-After": "10"},
        )
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_alive(call, frames), media_type=EVENT_STREAM, headers=headers)


async def event_frames(call: Call, after: int | None, run_id: str | None = None) -> AsyncIterator[bytes]:
    """Yield the events from a position on; with `run_id`, those of a run and the runs below it."""
    # All listeners share the reader of the process.
    events = call.context.services.queries.events
    known: dict[str, bool] = {}
    async with aclosing(events.follow(after)) as batches:
        async for batch in batches:
            if isinstance(batch, Reset):
                yield frame(msgspec.json.encode(batch), number=str(batch.id), event="reset")
            elif run_id is None:
                for part in _joined(frame(one.data, number=str(one.id), event=one.view.kind) for one in batch):
                    yield part
            elif batch:
                views = await events.of_tree(run_id, batch, known)
                parts = [frame(msgspec.json.encode(one), number=str(one.id), event=one.kind) for one in views]
                yield b"".join(parts) or _COMMENT


def _joined(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Join frames to parts of a moderate size: a client that does not read on keeps one of them in memory."""
    parts: list[bytes] = []
    size = 0
    for one in frames:
        parts.append(one)
        size += len(one)
        if size >= _PART:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


async def log_frames(call: Call, run_id: str) -> AsyncIterator[bytes]:
    """Yield the output of a run line by line; the last frame says how the run and its log ended.

    The id of a frame is the position of its piece and the number of its lines so far.
    """
    cursor, seen = _log_position(call)
    async with aclosing(call.services.logs.follow(run_id, cursor)) as pieces:
        async for piece in pieces:
            if isinstance(piece, LogView):
                token, seq = piece.cursor
                is_resumed = cursor is not None and piece.cursor == (cursor[0], cursor[1] + 1)
                if parts := _lines(piece, seen if is_resumed else 0, f"{token}-{seq}"):
                    yield b"".join(parts)
            else:
                run = await call.services.queries.runs.get(run_id)
                end: dict[str, Any] = {"run_id": run_id, "status": run.status, "log": piece.state}
                yield frame(msgspec.json.encode(end), event="end")


def _lines(piece: LogView, seen: int, number: str) -> list[bytes]:
    """Return a frame for each line after the first `seen` ones. A line that does not end with a line break continues in
    the next frame of the same stream."""
    facts = {"at": piece.at, "attempt": piece.attempt, "stream": piece.stream}
    lines = piece.text.splitlines(keepends=True) or [""]
    return [
        frame(msgspec.json.encode({**facts, "text": line}), number=f"{number}-{count}")
        for count, line in enumerate(lines, 1)
        if count > seen
    ]


def _log_position(call: Call) -> tuple[tuple[int, int] | None, int]:
    """Return the position before the piece that the client has last, and how many lines of it the client has."""
    parts = call.request.headers.get("last-event-id", "").split("-")
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 20 for part in parts):
        return None, 0
    token, seq, count = map(int, parts)
    return (token, seq - 1), count


async def _alive(call: Call, frames: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield frames, comments while there are none, and end when the server stops."""
    closing = asyncio.ensure_future(call.context.closing.wait())
    following: asyncio.Future[Any] | None = None
    call.context.streams += 1
    loop = asyncio.get_running_loop()
    checked_at = loop.time()
    try:
        yield _RETRY
        while not closing.done():
            following = following or asyncio.ensure_future(anext(frames, _END))
            await asyncio.wait({following, closing}, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            if loop.time() >= checked_at + HEARTBEAT:
                if not await call.is_still_allowed():
                    return
                checked_at = loop.time()
            if not following.done():
                if not closing.done():
                    yield _COMMENT
                continue
            part, following = following.result(), None
            if part is _END:
                return
            yield part
    finally:
        call.context.streams -= 1
        closing.cancel()
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        close = getattr(frames, "aclose", None)
        if close is not None:
            await close()
