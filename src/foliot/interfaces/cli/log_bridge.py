"""Printing what the library logs during a command: warnings and errors, one line each, on standard error.

A server has a log, whose format is in `interfaces.logs`. A command has none: events that its user can act on are
printed, events that only concern the operator of a server are not.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from foliot.interfaces.cli.output import print_problem
from foliot.interfaces.log_facts import facts_of

_TEXTS: Final[Mapping[str, str]] = {
    "job_unreadable": "{error}",
    "workflow_unreadable": "{error}",
    "job_kept": 'job "{job}" was not deleted: it cannot be read, and may not be a step of workflow "{workflow}"',
    "dependencies_unreadable": "the dependencies between jobs were not changed: {error}",
    "schedule_ended": 'schedule "{schedule}": {problem}. {hint}',
}
"""Events that a command may cause, as sentences. Other events are printed with their name and facts."""
_ENGINE: Final = "foliot.engine"
"""Its events are not printed: no command runs an engine, but an application in the same process may."""
_SERVER_EVENTS: Final = frozenset({"bell_has_no_connection", "admission_left_to_the_sweep"})
"""Events that the next round of a server handles."""


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print warnings and errors that are logged inside this block, each text once."""
    log, handler = logging.getLogger("foliot"), _PrintingHandler(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class _PrintingHandler(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level)
        self._printed: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._print(record)
        except Exception:
            # An error in this handler must not break the code that logs.
            self.handleError(record)

    def _print(self, record: logging.LogRecord) -> None:
        text = "" if record.name.startswith(_ENGINE) else event_text(record)
        if text and text not in self._printed:
            self._printed.add(text)
            severity = "error" if record.levelno >= logging.ERROR else "warning"
            print_problem(severity, text, code=record.getMessage())


def event_text(record: logging.LogRecord) -> str:
    """Return an event as one line; an empty text for events that only concern a server."""
    event, facts = record.getMessage(), facts_of(record)
    if event in _SERVER_EVENTS:
        return ""
    if event in _TEXTS:
        return _TEXTS[event].format_map(facts)
    if record.exc_info and record.exc_info[1] is not None:
        facts["error"] = str(record.exc_info[1]) or type(record.exc_info[1]).__name__
    details = ", ".join(f"{name} {_plain(value)}" for name, value in facts.items())
    name = event.replace("_", " ")
    return f"{name}: {details}" if details else name


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
