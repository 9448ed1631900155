"""The log of a server: one line per event, as JSON for programs or as text on a terminal."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

from foliot.interfaces.line_writer import LineWriter

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_STANDARD_ERROR: Final = 2
_RUN: Final = "foliot_run"
_NAMES: Final = {_RUN: "run"}
_DROPPED_HINT: Final = "standard error was not read fast enough, or could not be written"


class JsonFormatter(logging.Formatter):
    """Formats an event as one JSON object; a line break in a value is escaped and cannot forge an event."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **run_output_of(record),
        }
        if record.exc_info:
            event["error"] = self.formatException(record.exc_info)
        return json.dumps(event, default=str)


class TextFormatter(logging.Formatter):
    """Formats an event as text."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone()
        values = " ".join(f"{name}={_shown(value)}" for name, value in run_output_of(record).items())
        line = f"{at:%H:%M:%S} {record.levelname.lower():7} {record.getMessage()} {values}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class LineHandler(logging.Handler):
    """Writes each event as a line, without waiting for the reader.

    Records of functions that run in this process are in the logs of their runs (they have `foliot_run`); they are
    written here only if `echo` is set.
    """

    def __init__(self, formatter: logging.Formatter, descriptor: int, encoding: str, *, echo: bool = False) -> None:
        super().__init__()
        self._echo = echo
        self.setFormatter(formatter)
        self.lines = LineWriter(descriptor, self._dropped_line, encoding=encoding)

    def emit(self, record: logging.LogRecord) -> None:
        if hasattr(record, _RUN) and not self._echo:
            return
        try:
            self.lines.put(self.format(record))
        except Exception:
            # The event cannot be formatted. `logging.Handler` would print that to the stream itself, and could block.
            self.lines.put(self._event_line(logging.ERROR, "line_not_formatted", exc_info=sys.exc_info()))

    def flush(self) -> None:
        """Wait for the last lines, for a bounded time. The interpreter calls this when it ends."""
        self.lines.flush()

    def _dropped_line(self, count: int) -> str:
        return self._event_line(logging.WARNING, "log_lines_dropped", count=count, hint=_DROPPED_HINT)

    def _event_line(self, level: int, event: str, **facts: Any) -> str:
        named = {"levelno": level, "levelname": logging.getLevelName(level), "msg": event}
        return self.format(logging.makeLogRecord({**named, **facts}))


def configure_logging(style: str, level: str, *, echo: bool = False) -> LineWriter:
    """Log to standard error: as JSON, as text, or (auto) as text if it is a terminal.

    `level` is that of the server. The root logger passes on `info` in any case, for the logs of runs. Return the
    writer, which can write other lines between those of the log.
    """
    is_text = style == "text" or (style == "auto" and sys.stderr.isatty())
    formatter = TextFormatter() if is_text else JsonFormatter()
    handler = LineHandler(formatter, _STANDARD_ERROR, sys.stderr.encoding, echo=echo)
    handler.setLevel(level.upper())
    logging.basicConfig(handlers=[handler], level=min(handler.level, logging.INFO), force=True)
    # So that `isEnabledFor` is False for events of Foliot that no handler writes.
    logging.getLogger("foliot").setLevel(handler.level if handler.level > logging.INFO else logging.NOTSET)
    return handler.lines


def run_output_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the extra values of an event."""
    return {_NAMES.get(name, name): value for name, value in vars(record).items() if name not in _STANDARD}


def _shown(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)
