"""Logs how attempts start and end.

    attempt_started       run, job, attempt, schedule
    attempt_ended         the same, with outcome and duration
    attempt_failed        the same, with reason and error
    attempts_summarized   counts of the attempts above the rate of `LogRate`, at most once per second

An attempt whose start is logged has an event for its end, too. A failure is always logged.
"""

import logging
from collections.abc import Sequence
from typing import Any

from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.outcome import Failure, Outcome, Success, TimedOut
from foliot.domain.secrets import public_error
from foliot.engine.log_rate import LogRate
from foliot.engine.worker.attempt import RunningAttempt
from foliot.ports.clock import Clock

log = logging.getLogger(__name__)


class AttemptLog:
    """The log of one worker."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rate = LogRate(clock)
        self._started = 0
        self._succeeded = 0
        self._summary_at = Millis(0)

    def started(self, attempts: Sequence[RunningAttempt]) -> None:
        if not attempts or not log.isEnabledFor(logging.INFO):
            return
        now = self._clock.elapsed()
        granted = self._rate.take(len(attempts))
        for running in attempts[:granted]:
            running.logged_at = now
            log.info("attempt_started", extra=_facts(running))
        self._started += len(attempts) - granted

    def ended(self, running: RunningAttempt, outcome: Outcome) -> None:
        """Log an outcome. Of an error only the last line is logged, without secrets: the lines before are traceback."""
        if isinstance(outcome, Success) and running.logged_at is None:
            self._succeeded += 1
            return
        facts = _facts(running)
        if running.logged_at is not None:
            facts["took_ms"] = self._clock.elapsed() - running.logged_at
        if isinstance(outcome, Failure | TimedOut):
            reason = outcome.reason if isinstance(outcome, Failure) else "timeout"
            last_line = public_error(outcome.error).strip().rpartition("\n")[2]
            log.warning("attempt_failed", extra={**facts, "reason": reason, "error": last_line})
        else:
            log.info("attempt_ended", extra={**facts, "outcome": type(outcome).__name__.lower()})

    def summarize(self, *, is_last: bool = False) -> None:
        """Log counts of the attempts that have no event, if they are due. Called regularly."""
        if not (self._started or self._succeeded):
            return
        now = self._clock.elapsed()
        if is_last or now >= self._summary_at:
            self._summary_at = Millis(now + SECOND)
            log.info("attempts_summarized", extra={"started": self._started, "succeeded": self._succeeded})
            self._started = self._succeeded = 0


def _facts(running: RunningAttempt) -> dict[str, Any]:
    claim = running.claim
    facts: dict[str, Any] = {"run": claim.run_id, "job": claim.job_id, "attempt": claim.attempt}
    if claim.tick is not None:
        facts["schedule"] = claim.tick.schedule_id
    return facts
