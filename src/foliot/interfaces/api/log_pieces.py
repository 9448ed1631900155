"""Streams of log pieces: every byte that a run or its steps printed, with time, attempt and stream."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import msgspec

from foliot.domain.run.logs import LogEnd, LogState
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.streams import frame
from foliot.service.answers import LogPiece, StepLogPiece
from foliot.service.queries.logs import Cursor, LogView
from foliot.service.queries.runs import LogEndView


def view_piece(piece: LogView) -> LogPiece:
    return LogPiece(
        id=_number(piece),
        at=piece.at,
        attempt=piece.attempt,
        stream=piece.stream,
        text=piece.text,
        data=_bytes(piece),
        is_closing=piece.is_closing,
    )


def last_piece(call: Call) -> str | None:
    """Return the id of the last piece that the client of a stream has."""
    return call.request.headers.get("last-event-id") or None


async def piece_frames(call: Call, run_id: str, after: Cursor | None) -> AsyncIterator[bytes]:
    """Yield the output of a run in pieces; the last frame says how its log ends."""
    async with aclosing(call.services.logs.follow(run_id, after)) as pieces:
        async for piece in pieces:
            if isinstance(piece, LogView):
                yield frame(msgspec.json.encode(view_piece(piece)), number=_number(piece))
            else:
                yield _end(piece)


async def step_frames(call: Call, run_id: str, *, is_following: bool) -> AsyncIterator[bytes]:
    """Yield the output of the steps of a run; the last frame says whether more may follow. A client that connects again
    gets all of it again."""
    logs = call.services.queries.step_logs(run_id)
    async for step, piece in logs.follow() if is_following else logs.new():
        fields = msgspec.structs.asdict(view_piece(piece))
        yield frame(msgspec.json.encode(StepLogPiece(**fields, step=step, run_id=piece.run_id)))
    yield _end(LogEnd(LogState.COMPLETE if logs.is_over else LogState.OPEN))


def _end(end: LogEnd) -> bytes:
    return frame(msgspec.json.encode(LogEndView(**end._asdict())), event="end")


def _number(piece: LogView) -> str:
    token, seq = piece.cursor
    return f"{token}-{seq}"


def _bytes(piece: LogView) -> bytes | msgspec.UnsetType:
    try:
        piece.data.decode()
    except UnicodeDecodeError:
        return piece.data
    return msgspec.UNSET
