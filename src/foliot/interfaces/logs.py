"""The log of a server: one line per event, as JSON for programs or as text on a terminal."""

import json
import logging
import os
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Final

from foliot.interfaces.line_writer import LineWriter
from foliot.interfaces.log_facts import RUN, facts_of
from foliot.interfaces.text_log import TextFormatter

_STANDARD_ERROR: Final = 2
_FOR_PROGRAMS: Final = frozenset({"worker_registered", "leader_elected"})
"""Events that are not printed as text, unless the level is debug."""
_DROPPED_HINT: Final = "standard error was not read fast enough, or could not be written"


class JsonFormatter(logging.Formatter):
    """Formats an event as one JSON object; a line break in a value is escaped and cannot forge an event."""

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


class LineHandler(logging.Handler):
    """Writes each event as a line, without waiting for the reader.

    Records of functions that run in this process are in the logs of their runs (they have `foliot_run`); they are
    written here only if `echo` is set. Events in `hidden` are not written.
    """

    def __init__(
        self,
        formatter: logging.Formatter,
        descriptor: int,
        encoding: str,
        *,
        echo: bool = False,
        hidden: Collection[str] = (),
    ) -> None:
        super().__init__()
        self._echo = echo
        self._hidden = hidden
        self.setFormatter(formatter)
        self.lines = LineWriter(descriptor, self._dropped_line, encoding=encoding)

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg in self._hidden or (hasattr(record, RUN) and not self._echo):
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
        named = {"name": "foliot", "levelno": level, "levelname": logging.getLevelName(level), "msg": event}
        return self.format(logging.makeLogRecord({**named, **facts}))


def configure_logging(style: str, level: str, *, echo: bool = False, hidden: Collection[str] = ()) -> LineWriter:
    """Log to standard error: as JSON, as text, or (auto) as text if it is a terminal.

    `level` is that of the server. The root logger passes on `info` in any case, for the logs of runs. `hidden` are
    events that are not printed as text. Return the writer, which can write other lines between those of the log.
    """
    is_terminal = sys.stderr.isatty()
    is_text = style == "text" or (style == "auto" and is_terminal)
    is_coloured = is_terminal and not os.environ.get("NO_COLOR")
    formatter = TextFormatter(is_coloured=is_coloured) if is_text else JsonFormatter()
    unseen = frozenset({*hidden, *_FOR_PROGRAMS}) if is_text and level != "debug" else ()
    handler = LineHandler(formatter, _STANDARD_ERROR, sys.stderr.encoding, echo=echo, hidden=unseen)
    handler.setLevel(level.upper())
    logging.basicConfig(handlers=[handler], level=min(handler.level, logging.INFO), force=True)
    # So that `isEnabledFor` is False for events of Foliot that no handler writes.
    logging.getLogger("foliot").setLevel(handler.level if handler.level > logging.INFO else logging.NOTSET)
    return handler.lines
