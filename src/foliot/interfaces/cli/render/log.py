"""Printing the log of a run: the original bytes into a pipe, safe text on a terminal.

Messages of Foliot in a log (the stream `meta`) go to standard error, so that standard output has only the job's output.
"""

import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, Protocol

from msgspec.structs import replace

from foliot.domain.run.logs import LogEnd, LogState
from foliot.interfaces.cli.outage import OUTAGES, wait_out
from foliot.interfaces.cli.output import print_json, print_note
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.table import is_terminal
from foliot.interfaces.cli.render.text import Cleaner
from foliot.service.operations import Operations
from foliot.service.queries.logs import Cursor, LogView
from foliot.service.queries.runs import LogEndView

_END: Final = {
    LogState.COMPLETE: "complete",
    LogState.TRUNCATED: "truncated, the job printed more than is kept",
    LogState.WORKER_LOST: "incomplete, the worker was lost before it had stored all output",
    LogState.PRUNED: "removed by retention, in part or completely",
    LogState.OPEN: "open, more may follow",
}
_RESET: Final = "\x1b[0m"
_MOST_PIECES: Final = 100_000


def end_text(end: LogEnd | LogEndView) -> str:
    if end.state is LogState.TRUNCATED and end.seen is not None:
        return f"truncated, {end.stored} of {end.seen} bytes are kept"
    return _END[end.state]


def piece_object(piece: LogView) -> dict[str, Any]:
    return {
        "attempt": piece.attempt,
        "token": piece.token,
        "at": piece.at,
        "stream": piece.stream,
        "text": piece.text,
    }


def end_object(end: LogEnd) -> dict[str, Any]:
    return {"end": end.state, "seen": end.seen, "stored": end.stored}


class Printer(Protocol):
    def piece(self, piece: LogView) -> None: ...

    def end(self, end: LogEnd) -> None: ...


class JsonPrinter:
    """Prints one object per piece, and a last one with the state of the log."""

    def piece(self, piece: LogView) -> None:
        if not piece.is_closing:
            print_json(piece_object(piece))

    def end(self, end: LogEnd) -> None:
        print_json(end_object(end))


class TextPrinter:
    """Prints text. With `timestamps` each line begins with its time and stream."""

    def __init__(self, *, timestamps: bool = False) -> None:
        self._timestamps = timestamps
        self._is_terminal = is_terminal()
        self._out = sys.stdout.buffer
        self._cleaners: dict[tuple[int, str], Cleaner] = {}
        self._attempt = 0
        self._open_line: tuple[int, str] | None = None
        """The source of a line that has begun and not ended."""

    def piece(self, piece: LogView) -> None:
        if piece.attempt != self._attempt:
            self._begin(piece.attempt)
        if piece.stream == "meta":
            self._note(piece)
            return
        source = (piece.token, piece.stream)
        data = self._cleaned(source, piece.data) if self._is_terminal else piece.data
        self._write(self._stamped(source, piece, data) if self._timestamps else data)
        if data:
            self._open_line = None if data.endswith(b"\n") else source

    def end(self, end: LogEnd) -> None:
        self._end_line()
        if any(cleaner.has_colour for cleaner in self._cleaners.values()):
            self._write(_RESET.encode())
        if end.state is not LogState.COMPLETE:
            print_note(f"foliot: the log is {end_text(end)}")

    def _begin(self, attempt: int) -> None:
        self._end_line()
        if self._attempt:
            print_note(f"foliot: attempt {attempt}")
        self._attempt = attempt

    def _note(self, piece: LogView) -> None:
        """Print a message of Foliot. The closing line is skipped: `end` prints the state of the log."""
        if not piece.is_closing:
            self._end_line()
            print_note(Cleaner().feed(piece.data, final=True).rstrip())

    def _cleaned(self, source: tuple[int, str], data: bytes) -> bytes:
        text = self._cleaners.setdefault(source, Cleaner()).feed(data)
        return text.encode(sys.stdout.encoding, "backslashreplace")

    def _stamped(self, source: tuple[int, str], piece: LogView, data: bytes) -> bytes:
        if not data:
            return b""
        stamp = f"{moment(piece.at)} {piece.stream} ".encode()
        lines = data.splitlines(keepends=True)
        continues = self._open_line == source
        before = b"" if continues or self._open_line is None else b"\n"
        return before + b"".join(
            line if continues and not number else stamp + line for number, line in enumerate(lines)
        )

    def _end_line(self) -> None:
        if self._open_line is not None and (self._timestamps or self._is_terminal):
            self._write(b"\n")
            self._open_line = None

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._out.flush()


async def print_log(
    services: Operations,
    run_id: str,
    printer: Printer,
    *,
    is_following: bool,
    attempt: int | None = None,
    tail: int | None = None,
) -> LogEnd:
    """Print the log of a run from its beginning, or from its last `tail` lines; if followed, until the run is over."""
    after: Cursor | None = None
    if tail is not None:
        pieces, after = await last_lines(services, run_id, tail, attempt)
        for piece in pieces:
            printer.piece(piece)
    async for item in _items(services, run_id, after, is_following):
        if isinstance(item, LogEnd):
            printer.end(item)
            return item
        if attempt is None or item.attempt == attempt:
            printer.piece(item)
    raise AssertionError("a log ends with its end")


async def _items(
    services: Operations, run_id: str, after: Cursor | None, is_following: bool
) -> AsyncIterator[LogView | LogEnd]:
    """Yield the pieces of the log and its end. A followed log continues after an outage of the database."""
    read = services.logs.follow if is_following else services.logs.read
    while True:
        try:
            async for item in read(run_id, after):
                yield item
                after = after if isinstance(item, LogEnd) else item.cursor
            return
        except OUTAGES as error:
            if not is_following:
                raise
            await wait_out(error)


async def last_lines(
    services: Operations, run_id: str, lines: int, attempt: int | None
) -> tuple[list[LogView], Cursor | None]:
    """Return the pieces with the last lines, the first of them cut, and the cursor behind them."""
    count = 64
    while True:
        found = (await services.logs.tail(run_id, count)).pieces
        printed = [piece for piece in found if attempt is None or piece.attempt == attempt]
        if len(found) < count or count >= _MOST_PIECES or _count_lines(printed) > lines:
            return cut(printed, lines), found[-1].cursor if found else None
        count *= 4


def cut(pieces: Sequence[LogView], lines: int) -> list[LogView]:
    """Keep the last lines of the output; an unfinished last line counts as one."""
    printed = [piece for piece in pieces if piece.stream != "meta"]
    breaks = lines + bool(printed and printed[-1].data.endswith(b"\n"))
    kept: list[LogView] = []
    for piece in reversed(pieces):
        if piece.stream == "meta":
            kept.append(piece)
            continue
        parts = piece.data.rsplit(b"\n", breaks)
        if len(parts) > breaks:
            kept.append(replace(piece, data=piece.data[len(parts[0]) + 1 :]))
            break
        breaks -= len(parts) - 1
        kept.append(piece)
    return kept[::-1]


def _count_lines(pieces: Sequence[LogView]) -> int:
    return sum(piece.data.count(b"\n") for piece in pieces if piece.stream != "meta")
