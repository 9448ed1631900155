"""The log of failed rounds: one event when a failure begins, one when it ends.

    the storage is unreachable    storage_outage_began   storage_outage_ended   one outage of all duties together
    any other error of a duty     round_failed           round_recovered        with traceback; again if it changes

While the storage is unreachable, the rounds of all duties fail again and again. They are counted, not logged.
"""

import logging
from typing import Any

from foliot.domain.instant import SECOND, Millis
from foliot.errors import StorageUnavailable
from foliot.ports.clock import Clock

log = logging.getLogger(__name__)


class FailureLog:
    """The failures of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._outage: _Failure | None = None
        self._cut_off: set[FailureSource] = set()
        """The sources that have failed in this outage, and have not succeeded since. A full disk refuses writes but not
        reads, so the outage ends with the last of them."""

    def source(self, name: str) -> "FailureSource":
        return FailureSource(self, self._clock, name)

    def cut_off(self, source: "FailureSource", error: StorageUnavailable) -> None:
        if self._outage is None:
            self._outage = _Failure(self._clock.elapsed())
            facts = {"duty": source.name, "problem": error.message, "hint": error.hint}
            log.error("storage_outage_began", extra=facts)
        self._outage.rounds += 1
        self._cut_off.add(source)

    def reached(self, source: "FailureSource") -> None:
        self._cut_off.discard(source)
        if self._outage is not None and not self._cut_off:
            log.warning("storage_outage_ended", extra=self._outage.facts(self._clock))
            self._outage = None


class FailureSource:
    """A repeated operation whose failures are logged: a duty, or the renewals of a heartbeat."""

    def __init__(self, failures: FailureLog, clock: Clock, name: str) -> None:
        self.name = name
        self._failures = failures
        self._clock = clock
        self._error = ""
        self._failure: _Failure | None = None
        self._is_cut_off = False

    def failed(self, error: Exception, again_in: Millis) -> None:
        if isinstance(error, StorageUnavailable):
            self._is_cut_off = True
            self._failures.cut_off(self, error)
            return
        if self._failure is None:
            self._failure = _Failure(self._clock.elapsed())
        self._failure.rounds += 1
        text = repr(error)
        if text != self._error:
            self._error = text
            log.error("round_failed", extra={"duty": self.name, "again_in_ms": again_in}, exc_info=error)

    def succeeded(self) -> None:
        if self._is_cut_off:
            self._is_cut_off = False
            self._failures.reached(self)
        if self._failure is not None:
            log.warning("round_recovered", extra={"duty": self.name, **self._failure.facts(self._clock)})
            self._failure, self._error = None, ""


class _Failure:
    """What the event at the end of a failure contains."""

    def __init__(self, began: Millis) -> None:
        self.rounds = 0
        self._began = began

    def facts(self, clock: Clock) -> dict[str, Any]:
        return {"failed_rounds": self.rounds, "seconds": round((clock.elapsed() - self._began) / SECOND, 1)}
