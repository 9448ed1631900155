"""The output of runs and of steps, by HTTP."""

from collections.abc import AsyncIterator
from typing import Final, cast

import msgspec

from foliot.client.resources.runs import AsyncRuns
from foliot.domain.run.logs import LogEnd, LogState, Stream
from foliot.service.answers import LogPage, LogPiece, StepLogPiece
from foliot.service.queries.logs import Cursor, LogTail, LogView
from foliot.service.queries.runs import LogEndView
from foliot.service.queries.step_logs import StepPiece

_PAGE: Final = 1_000


class HttpLogs:
    def __init__(self, runs: AsyncRuns) -> None:
        self._runs = runs

    async def follow(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        async for item in self._runs.pieces(run_id, _id(after)):
            yield _view(run_id, item) if isinstance(item, LogPiece) else _end(item)

    async def read(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        last = _id(after)
        while True:
            page = await self._runs.log_page(run_id, after=last, limit=_PAGE)
            for piece in page.items:
                yield _view(run_id, piece)
            last = page.next
            if last is None:
                yield _end(page)
                return

    async def tail(self, run_id: str, pieces: int = 100) -> LogTail:
        page = await self._runs.log_page(run_id, tail=pieces)
        return LogTail([_view(run_id, piece) for piece in page.items], _end(page))

    async def raw_stdout(self, run_id: str, attempt: int | None = None) -> bytes:
        return await self._runs.output(run_id, attempt)


class HttpStepLogs:
    """Reads the logs of all steps. After an error, the same object continues where it was."""

    def __init__(self, runs: AsyncRuns, execution_id: str) -> None:
        self._runs = runs
        self._execution_id = execution_id
        self._seen: dict[str, Cursor] = {}
        """Run -> the last piece that was yielded: a new connection sends all pieces again."""
        self.is_over = False

    async def follow(self) -> AsyncIterator[StepPiece]:
        async for piece in self._pieces(is_following=True):
            yield piece

    async def new(self) -> AsyncIterator[StepPiece]:
        async for piece in self._pieces(is_following=False):
            yield piece

    async def _pieces(self, *, is_following: bool) -> AsyncIterator[StepPiece]:
        async for item in self._runs.step_pieces(self._execution_id, follow=is_following):
            if not isinstance(item, StepLogPiece):
                self.is_over = item.state is LogState.COMPLETE
                return
            piece = _view(item.run_id, item)
            seen = self._seen.get(item.run_id)
            if seen is None or piece.cursor > seen:
                self._seen[item.run_id] = piece.cursor
                yield StepPiece(item.step, piece)


def _view(run_id: str, piece: LogPiece) -> LogView:
    token, _, seq = piece.id.partition("-")
    return LogView(
        run_id=run_id,
        attempt=piece.attempt,
        at=piece.at,
        stream=cast(Stream, piece.stream),
        data=piece.text.encode() if piece.data is msgspec.UNSET else piece.data,
        cursor=(int(token), int(seq)),
        is_closing=piece.is_closing,
    )


def _end(end: LogEndView | LogPage) -> LogEnd:
    return LogEnd(end.state or LogState.OPEN, end.seen, end.stored)


def _id(cursor: Cursor | None) -> str | None:
    return None if cursor is None else f"{cursor[0]}-{cursor[1]}"
