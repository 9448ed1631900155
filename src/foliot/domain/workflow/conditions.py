"""The conditions under which a step starts after its parents.

    result of the parent    success   failure   skipped   complete      <- condition of the edge
    success                 fires     skipped   skipped   fires
    failure                 skipped   fires     skipped   fires
    skipped                 skipped   skipped   fires     fires

One of the conditions of an edge must be met, and the edges of all parents.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from foliot.domain.run.run import Status


class Result(StrEnum):
    """The result of a step. A step without a result is pending."""

    SUCCESS = "success"
    FAILURE = "failure"
    SKIPPED = "skipped"


class Condition(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    SKIPPED = "skipped"
    COMPLETE = "complete"


Conditions = frozenset[Condition]

MEETS: Final[Mapping[Condition, frozenset[Result]]] = {
    Condition.SUCCESS: frozenset({Result.SUCCESS}),
    Condition.FAILURE: frozenset({Result.FAILURE}),
    Condition.SKIPPED: frozenset({Result.SKIPPED}),
    Condition.COMPLETE: frozenset(Result),
}

TRIGGER_RULES: Final[Mapping[str, Conditions]] = {
    "all_success": frozenset({Condition.SUCCESS}),
    "all_failed": frozenset({Condition.FAILURE}),
    "all_skipped": frozenset({Condition.SKIPPED}),
    "all_done": frozenset({Condition.COMPLETE}),
    "always": frozenset({Condition.COMPLETE}),
    "none_failed": frozenset({Condition.SUCCESS, Condition.SKIPPED}),
    "none_skipped": frozenset({Condition.SUCCESS, Condition.FAILURE}),
}
"""Airflow's trigger rules that apply to each parent alone. Rules that count parents (one_success) are not supported."""

ON_FAILURE: Final[Conditions] = frozenset({Condition.FAILURE, Condition.COMPLETE})
"""Conditions that a failed parent meets."""
_FAILED: Final = frozenset({Status.FAILED, Status.TIMEOUT, Status.CANCELLED})


def is_met(conditions: Conditions, result: Result) -> bool:
    return any(result in MEETS[condition] for condition in conditions)


def result_of(status: Status, *, partial_counts_as: Result = Result.SUCCESS) -> Result:
    """Return the result of a step whose run ended with this status."""
    if status in _FAILED:
        return Result.FAILURE
    if status is Status.PARTIAL:
        return partial_counts_as
    return Result.SKIPPED if status is Status.SKIPPED else Result.SUCCESS
