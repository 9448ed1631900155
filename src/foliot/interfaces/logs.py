"""The log of a server: one line per event, as JSON for programs or as text on a terminal."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

from foliot.interfaces.line_writer import LineWriter

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_STANDARD_ERROR: Final = 2
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
    """Writes each event as a line, without waiting for the reader."""

    def __init__(self, formatter: logging.Formatter, descriptor: int, encoding: str) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.lines = LineWriter(descriptor, self._dropped_line, encoding=encoding)

    def emit(self, record: logging.LogRecord) -> None:
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


def configure_logging(style: str, level: str) -> LineWriter:
    """Log to standard error: as JSON, as text, or (auto) as text if it is a terminal.

    Return the writer, which can write other lines between those of the log.
    """
    is_text = style == "text" or (style == "auto" and sys.stderr.isatty())
    formatter = TextFormatter() if is_text else JsonFormatter()
    handler = LineHandler(formatter, _STANDARD_ERROR, sys.stderr.encoding)
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    return handler.lines


def run_output_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the extra values of an event."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _shown(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)
