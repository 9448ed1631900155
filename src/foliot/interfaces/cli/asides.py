"""What the library logs while a command asks it something, as people read it: a line beside the answer, once.

A server has a log, and `interfaces.logs` its format. A command has none: what is worth a look is said, what concerns
only whoever keeps the server is not.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from foliot.interfaces.cli.speaking import remark
from foliot.interfaces.logs import facts_of

_WORDS: Final[Mapping[str, str]] = {
    "job_unreadable": "{error}",
    "workflow_unreadable": "{error}",
    "job_kept": 'job "{job}" was not deleted: it cannot be read, and may be no step of workflow "{workflow}"',
    "dependencies_unreadable": "the dependencies between jobs were left as they are: {error}",
    "schedule_ended": 'schedule "{schedule}": {problem}. {hint}',
}
"""Events that a command may meet, in a sentence. Others are said by their name and facts."""
_ENGINE: Final = "foliot.engine"
"""No command runs one. An application of the same process may."""
_NOBODYS: Final = frozenset({"bell_has_no_connection", "admission_left_to_the_sweep"})
"""What the next round of a server sees to."""


@contextmanager
def said_aside() -> Iterator[None]:
    """Say what is logged meanwhile."""
    log, handler = logging.getLogger("foliot"), _Aside(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class _Aside(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._say(record)
        except Exception:
            # Whoever logs is amid something else, which goes on.
            self.handleError(record)

    def _say(self, record: logging.LogRecord) -> None:
        words = "" if record.name.startswith(_ENGINE) else in_words(record)
        if words and words not in self._said:
            self._said.add(words)
            remark("error" if record.levelno >= logging.ERROR else "warning", words)


def in_words(record: logging.LogRecord) -> str:
    """An event in one line; nothing for what is not the reader's business."""
    event, facts = record.getMessage(), facts_of(record)
    if event in _NOBODYS:
        return ""
    if event in _WORDS:
        return _WORDS[event].format_map(facts)
    if record.exc_info and record.exc_info[1] is not None:
        facts["error"] = str(record.exc_info[1]) or type(record.exc_info[1]).__name__
    said = ", ".join(f"{name} {_plain(value)}" for name, value in facts.items())
    name = event.replace("_", " ")
    return f"{name}: {said}" if said else name


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
