"""Directs what functions print and log in this process to the logs of their runs.

While at least one function runs, `sys.stdout` and `sys.stderr` are proxies, and the root logger has one more handler.
Both find the run of the calling code in a context variable, which tasks and `asyncio.to_thread` pass on. Code outside
of a run prints and logs as before, and so does code whose run has ended.

`contextlib.redirect_stdout` replaces `sys.stdout` for all code of the process. If two functions use it concurrently,
the stream of one of them can stay in place after both have ended. The proxy is put back when no run is left that may
have replaced it.
"""

import logging
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from contextvars import ContextVar
from threading import RLock, local
from typing import Any, Final, Literal

from foliot.adapters.runners.function_output import FunctionOutput

_OUTPUT: Final[ContextVar[FunctionOutput | None]] = ContextVar("foliot_output", default=None)
_OWN: Final = "foliot"


class StandardStreams:
    """The proxies and the handler, which are in place while functions run."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._active: set[FunctionOutput] = set()
        self._is_installed = False
        self._is_ending = False
        """Whether `_remove` is scheduled."""
        self._stdout = StreamProxy("stdout")
        self._stderr = StreamProxy("stderr")
        self._handler = RunLogHandler()

    def begin(self, output: FunctionOutput) -> None:
        """Send the output of the calling task, and of the tasks that it starts, to `output`."""
        _OUTPUT.set(output)
        self._active.add(output)
        if sys.stdout is not self._stdout or sys.stderr is not self._stderr or not self._is_installed:
            with self._lock:
                self._install(self._active - {output})

    def end(self, output: FunctionOutput) -> None:
        """Close `output`. After the last function the streams are restored."""
        output.close()
        self._active.discard(output)
        if not self._active and not self._is_ending:
            # Later, because functions that start and end in one turn of the loop share one installation.
            self._is_ending = True
            output.home[0].call_soon(self._remove)

    def _install(self, others: Collection[FunctionOutput]) -> None:
        self._stdout.install(others)
        self._stderr.install(others)
        self._handler.install()
        self._is_installed = True

    def _remove(self) -> None:
        self._is_ending = False
        with self._lock:
            if self._is_installed and not self._active:
                self._stdout.remove()
                self._stderr.remove()
                self._handler.remove()
                self._is_installed = False
            if self._active and not self._is_installed:
                # A function began in the loop of another thread, and found the proxies still in place.
                self._install(())


class StreamProxy:
    """A text stream that writes to the log of the current run; outside of a run, to the stream that it replaces."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, name: Literal["stdout", "stderr"]) -> None:
        self._name: Final = name
        self._replaced: Any = None
        """The stream that this one replaces; None if the process has none."""
        self._thread = local()
        self._foreign: object = None
        """A stream that was found in place of this one while functions ran, and the runs that may have put it there."""
        self._suspects: frozenset[FunctionOutput] = frozenset()

    def install(self, active: Collection[FunctionOutput]) -> None:
        """Replace the stream of `sys`. One that a function of a run in `active` may have set is left in place."""
        current = getattr(sys, self._name)
        if current is self:
            return
        if not active:
            self._replaced = current
        elif current is not self._foreign:
            self._foreign, self._suspects = current, frozenset(active)
        if self._suspects.isdisjoint(active):
            self._foreign, self._suspects = None, frozenset()
            setattr(sys, self._name, self)

    def remove(self) -> None:
        """Restore the stream, unless other code has replaced this one."""
        self._foreign, self._suspects = None, frozenset()
        if getattr(sys, self._name) is self:
            setattr(sys, self._name, self._replaced)

    def write(self, text: str) -> int:
        self._write(text.encode(errors=self.errors), text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if _current() is None:
            _flush(self._outside)

    def isatty(self) -> bool:
        return _current() is None and self._outside is not None and bool(self._outside.isatty())

    def close(self) -> None:
        """Close the replaced stream; in a run do nothing."""
        if _current() is None and self._outside is not None:
            self._outside.close()

    @property
    def buffer(self) -> Any:
        return self._outside.buffer if _current() is None else _BinaryProxy(self)

    def write_bytes(self, data: bytes) -> None:
        self._write(data, data.decode(errors="replace"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._outside, name)

    def _write(self, data: bytes, text: str) -> None:
        output = _OUTPUT.get()
        if output is None or not output.write(self._name, data):
            self._write_outside(text)
        elif output.is_echoed:
            # A closed terminal must not fail the run.
            with suppress(OSError, ValueError):
                self._write_outside(text)
                _flush(self._outside)

    @property
    def _outside(self) -> Any:
        """The replaced stream, or the original one if that is closed or writes to this proxy itself."""
        is_usable = self._replaced is None or not getattr(self._replaced, "closed", False)
        is_inner = getattr(self._thread, "is_writing", False)
        return self._replaced if is_usable and not is_inner else getattr(sys, f"__{self._name}__")

    def _write_outside(self, text: str) -> None:
        outside = self._outside
        if outside is None:
            return
        was_writing = getattr(self._thread, "is_writing", False)
        self._thread.is_writing = True
        try:
            outside.write(text)
        finally:
            self._thread.is_writing = was_writing


class _BinaryProxy:
    """The `buffer` of a stream in a run."""

    def __init__(self, stream: StreamProxy) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        self._stream.write_bytes(bytes(data))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream.buffer if _current() is None else self._stream, name)


class RunLogHandler(logging.Handler):
    """Writes records of a run to its log and marks them with `foliot_run`. Records of Foliot itself are left alone."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def install(self) -> None:
        # The first handler, so that the mark is there for the others. The list is replaced: another thread may be
        # iterating over it.
        if self not in logging.root.handlers:
            logging.root.handlers = [self, *logging.root.handlers]

    def remove(self) -> None:
        logging.root.handlers = [handler for handler in logging.root.handlers if handler is not self]

    def handle(self, record: logging.LogRecord) -> bool:
        """Handle a record without the lock of a handler: a thread that waits for room must not block the others."""
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        output = None if record.name.partition(".")[0] == _OWN else _current()
        if output is None:
            self._use_last_resort(record)
            return
        try:
            line = f"{self.format(record)}\n".encode(errors="backslashreplace")
        except Exception:
            self.handleError(record)
            return
        if output.write("stderr", line):
            record.foliot_run = output.run_id

    def _use_last_resort(self, record: logging.LogRecord) -> None:
        """Print a warning as `logging` does for programs that have no handler: this one must not count as theirs."""
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger is not None:
            if any(handler is not self for handler in logger.handlers):
                return
            logger = logger.parent
        if logging.lastResort is not None and record.levelno >= logging.lastResort.level:
            logging.lastResort.handle(record)


def _current() -> FunctionOutput | None:
    output = _OUTPUT.get()
    return output if output is not None and output.is_open else None


def _flush(stream: Any) -> None:
    if stream is not None:
        stream.flush()


STREAMS: Final = StandardStreams()
"""The streams of this process."""
