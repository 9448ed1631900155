"""Decides whether the end of a run is notified."""

from collections.abc import Iterable
from typing import Final

from foliot.domain.notification.rule import Notify, Occasion
from foliot.domain.run.run import Status

FAILURES: Final = frozenset({Status.FAILED, Status.TIMEOUT})
SUCCESSES: Final = frozenset({Status.SUCCESS, Status.PARTIAL})


def occasion_of(status: Status, failures_before: int, rule: Notify) -> Occasion | None:
    """Return why the end of a run is notified; None if it is not. `failures_before`: in a row, before this run."""
    wanted = rule.occasions
    if status in FAILURES:
        if Occasion.FAILURE in wanted:
            return Occasion.FAILURE
        if Occasion.REPEATED_FAILURE in wanted and failures_before + 1 == rule.after_failures:
            return Occasion.REPEATED_FAILURE
    if status in SUCCESSES and Occasion.RECOVERY in wanted and failures_before >= _notified_from(rule):
        return Occasion.RECOVERY
    return Occasion.END if Occasion.END in wanted else None


def failures_needed(status: Status, rule: Notify) -> int:
    """Return how many earlier failures in a row must be known for the decision. 0: none."""
    wanted = rule.occasions
    if status in FAILURES:
        return rule.after_failures if Occasion.REPEATED_FAILURE in wanted and Occasion.FAILURE not in wanted else 0
    return _notified_from(rule) if status in SUCCESSES and Occasion.RECOVERY in wanted else 0


def failures_in_a_row(newest_first: Iterable[Status]) -> int:
    """Count failures up to the latest success. Runs that were cancelled or skipped, or have not ended, do not count."""
    count = 0
    for status in newest_first:
        if status in SUCCESSES:
            break
        count += status in FAILURES
    return count


def _notified_from(rule: Notify) -> int:
    """Return from how many failures in a row on a failure has been notified."""
    is_only_repeated = Occasion.REPEATED_FAILURE in rule.occasions and rule.occasions.isdisjoint(
        {Occasion.FAILURE, Occasion.END}
    )
    return rule.after_failures if is_only_repeated else 1
