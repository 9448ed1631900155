"""Printing the logs of the steps of an execution: whole lines, each prefixed with the name of its step."""

import sys
from collections.abc import AsyncIterator, Iterable
from typing import Final, Protocol

from foliot.domain.run.logs import LogEnd, LogState
from foliot.interfaces.cli.outage import OUTAGES, wait_out
from foliot.interfaces.cli.output import print_json, print_note
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.log import end_object, end_text, piece_object
from foliot.interfaces.cli.render.table import is_terminal
from foliot.interfaces.cli.render.text import Cleaner, escaped
from foliot.service.operations import Operations, StepLogReads
from foliot.service.queries.logs import LogView
from foliot.service.queries.step_logs import StepPiece

_WIDEST: Final = 24
_LONGEST_LINE: Final = 1 << 16
"""Bytes without an end of line that are printed as a line."""
_RESET: Final = b"\x1b[0m"

Source = tuple[str, int, str]
"""Run, token of the attempt, and stream: lines of different sources are never mixed."""


class StepPrinter(Protocol):
    def piece(self, step: str, piece: LogView) -> None: ...

    def end(self, end: LogEnd) -> None: ...


class StepJsonPrinter:
    """Prints one object per piece, and a last one that says whether more may follow."""

    def piece(self, step: str, piece: LogView) -> None:
        if not piece.is_closing:
            print_json({"step": step, "run_id": piece.run_id, **piece_object(piece)})

    def end(self, end: LogEnd) -> None:
        print_json(end_object(end))


class StepTextPrinter:
    """Prints a line when it is complete, so that lines of parallel steps do not mix."""

    def __init__(self, names: Iterable[str], *, timestamps: bool = False) -> None:
        self._width = min(max((len(escaped(name)) for name in names), default=0), _WIDEST)
        self._timestamps = timestamps
        self._is_terminal = is_terminal()
        self._out = sys.stdout.buffer
        self._cleaners: dict[Source, Cleaner] = {}
        self._rests: dict[Source, tuple[str, bytes]] = {}
        """Unfinished lines with their prefixes."""
        self._attempts: dict[str, int] = {}

    def piece(self, step: str, piece: LogView) -> None:
        label = f"{escaped(step):{self._width}} | "
        if piece.attempt > self._attempts.setdefault(piece.run_id, piece.attempt):
            self._attempts[piece.run_id] = piece.attempt
            print_note(f"{label}foliot: attempt {piece.attempt}")
        if piece.stream == "meta":
            self._note(label, piece)
        else:
            self._add(label, piece)

    def end(self, end: LogEnd) -> None:
        self._end_lines(list(self._rests))
        if end.state is not LogState.COMPLETE:
            print_note(f"foliot: the log is {end_text(end)}")

    def _add(self, label: str, piece: LogView) -> None:
        """Print the lines that this piece completes, and keep the unfinished rest."""
        source = (piece.run_id, piece.token, piece.stream)
        stamp = f"{moment(piece.at)} {piece.stream} " if self._timestamps else ""
        data = self._cleaned(source, piece.data) if self._is_terminal else piece.data
        before, rest = self._rests.pop(source, (label + stamp, b""))
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            self._line(before, line, source)
            before = label + stamp
        if len(rest) >= _LONGEST_LINE:
            self._line(before, rest, source)
        elif rest:
            self._rests[source] = before, rest

    def _note(self, label: str, piece: LogView) -> None:
        """Print a message of Foliot, after the unfinished lines of the same attempt."""
        self._end_lines([source for source in self._rests if source[:2] == (piece.run_id, piece.token)])
        if not piece.is_closing:
            print_note(label + Cleaner().feed(piece.data, final=True).rstrip())

    def _cleaned(self, source: Source, data: bytes) -> bytes:
        text = self._cleaners.setdefault(source, Cleaner()).feed(data)
        return text.encode(sys.stdout.encoding, "backslashreplace")

    def _end_lines(self, sources: Iterable[Source]) -> None:
        for source in sources:
            before, rest = self._rests.pop(source)
            self._line(before, rest, source)

    def _line(self, before: str, line: bytes, source: Source) -> None:
        has_colour = source in self._cleaners and self._cleaners[source].has_colour
        label = before.encode(sys.stdout.encoding, "backslashreplace")
        self._out.write(label + line + (_RESET if has_colour else b"") + b"\n")
        self._out.flush()


async def print_steps(services: Operations, run_id: str, printer: StepPrinter, *, is_following: bool) -> None:
    """Print the logs of all steps of an execution; if followed, until it is over."""
    logs = services.queries.step_logs(run_id)
    async for step, piece in _followed(logs) if is_following else logs.new():
        printer.piece(step, piece)
    printer.end(LogEnd(LogState.COMPLETE if logs.is_over else LogState.OPEN))


async def _followed(logs: StepLogReads) -> AsyncIterator[StepPiece]:
    """Yield new pieces until the execution is over, also after an outage of the database."""
    while not logs.is_over:
        try:
            async for piece in logs.follow():
                yield piece
        except OUTAGES as error:
            await wait_out(error)
