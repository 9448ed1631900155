"""The values of a log event."""

import logging
from typing import Any, Final

RUN: Final = "foliot_run"
"""The value that records of functions in this process have: the run they belong to."""
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_NAMES: Final = {RUN: "run"}


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the extra values of an event."""
    return {_NAMES.get(name, name): value for name, value in vars(record).items() if name not in _STANDARD}
