"""One line per event: JSON for programs, plain text for people at a terminal."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

from foliot.interfaces.line_writer import LineWriter

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_STANDARD_ERROR: Final = 2
_UNREAD: Final = "standard error was not read fast enough, or could not be written"


class JsonFormatter(logging.Formatter):
    """An event as one JSON object; a line break in a value cannot forge a second one."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **facts_of(record),
        }
        if record.exc_info:
            event["error"] = self.formatException(record.exc_info)
        return json.dumps(event, default=str)


class TextFormatter(logging.Formatter):
    """The same event for eyes."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone()
        values = " ".join(f"{name}={_shown(value)}" for name, value in facts_of(record).items())
        line = f"{at:%H:%M:%S} {record.levelname.lower():7} {record.getMessage()} {values}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class LineHandler(logging.Handler):
    """Says each event in a line, and waits for nobody to read it."""

    def __init__(self, formatter: logging.Formatter, descriptor: int, encoding: str) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.lines = LineWriter(descriptor, self._confess, encoding=encoding)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.lines.put(self.format(record))
        except Exception:
            # Somebody logs what cannot be formatted. The original would print this to the stream, and might wait there.
            self.lines.put(self._said(logging.ERROR, "line_not_formatted", exc_info=sys.exc_info()))

    def flush(self) -> None:
        """Wait for the last lines, for a bounded time. The interpreter does so when it ends."""
        self.lines.flush()

    def _confess(self, count: int) -> str:
        return self._said(logging.WARNING, "log_lines_dropped", count=count, hint=_UNREAD)

    def _said(self, level: int, event: str, **facts: Any) -> str:
        named = {"levelno": level, "levelname": logging.getLevelName(level), "msg": event}
        return self.format(logging.makeLogRecord({**named, **facts}))


def configure_logging(style: str, level: str) -> LineWriter:
    """Log to standard error: JSON, text, or (auto) text only where a person is watching.

    What comes back writes other lines to the same place, in order.
    """
    is_text = style == "text" or (style == "auto" and sys.stderr.isatty())
    formatter = TextFormatter() if is_text else JsonFormatter()
    handler = LineHandler(formatter, _STANDARD_ERROR, sys.stderr.encoding)
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    return handler.lines


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    """What an event says besides its name."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _shown(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)
