"""Injected faults before and after commits, and a recorder of errors that were not injected."""

import logging
from typing import Final

from foliot.engine.deadline import DeadlinePassed
from foliot.errors import StorageUnavailable


class Crash(BaseException):
    """The process ends at this point. No handler in the product catches this."""


class Hiccup(StorageUnavailable):
    """The storage failed, and may or may not have saved. The process continues."""


INJECTED: Final = (Crash, Hiccup)
_EXPECTED: Final = (Hiccup, DeadlinePassed)


class Faults:
    """Raises an error at a given commit of one process."""

    def __init__(self) -> None:
        self._left = 0
        self._point = ""
        self._error: BaseException | None = None
        self.last_point: str | None = None
        """The point at which the last error was raised."""

    def arm(self, error: BaseException, *, point: str, after: int = 1) -> None:
        """Raise `error` at the n-th time from now that `point` is reached, such as "commit_firings.before_commit"."""
        self._error, self._point, self._left = error, point, after

    def disarm(self) -> None:
        self._error = None

    def __call__(self, point: str) -> None:
        if self._error is None or not point.endswith(self._point):
            return
        self._left -= 1
        if self._left <= 0:
            error, self._error = self._error, None
            self.last_point = point
            raise error


class ErrorRecorder(logging.Handler):
    """Keeps the first error in the log of the package that was not injected. The process itself only logs it."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, _EXPECTED):
            self.error = self.error or error

    def start(self) -> None:
        logging.getLogger("foliot").addHandler(self)

    def stop(self) -> None:
        logging.getLogger("foliot").removeHandler(self)
