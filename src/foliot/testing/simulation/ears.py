"""Errors that a process only writes into its log, because it lives on, are faults here all the same."""

import logging

from foliot.engine.deadline import DeadlinePassed
from foliot.testing.simulation.faults import Hiccup

_EXPECTED = (Hiccup, DeadlinePassed)


class Ears(logging.Handler):
    """Listens to the log of the whole package and remembers the first error that nobody has caused on purpose."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, _EXPECTED):
            self.heard = self.heard or error

    def open(self) -> None:
        logging.getLogger("foliot").addHandler(self)

    def shut(self) -> None:
        logging.getLogger("foliot").removeHandler(self)
