"""What the newest runs of a job have in common: how long they usually take, and how many failed in a row."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND, Instant
from foliot.domain.run.run import Status

FAILURES: Final = frozenset({Status.FAILED, Status.TIMEOUT})
_SUCCESSES: Final = frozenset({Status.SUCCESS, Status.PARTIAL})


class RunResult(NamedTuple):
    """A run and how it ended."""

    run_id: RunId
    status: Status | None
    """None: it has not ended."""
    started_at: Instant | None
    finished_at: Instant | None


class RunState(NamedTuple):
    """What a strip of ticks shows of a run."""

    status: Status
    started_at: Instant | None
    finished_at: Instant | None


class Usual(NamedTuple):
    """Seconds: the median and the 95th percentile."""

    p50: float
    p95: float
    samples: int


class FailureStreak(NamedTuple):
    """The failures since the last success."""

    failures: int
    since: Instant | None
    """When the first of them ended."""
    is_counted: bool
    """False: a success was not found, so there may be more failures."""


def usual(values: Iterable[float]) -> Usual | None:
    """Return the percentiles of some values, by nearest rank. None: there are no values."""
    ordered = sorted(values)
    if not ordered:
        return None
    return Usual(_ranked(ordered, 50), _ranked(ordered, 95), len(ordered))


def usual_duration(results: Iterable[RunResult], limit: int) -> Usual | None:
    """Return the usual duration of the first `limit` successes of some results."""
    durations = [
        (result.finished_at - result.started_at) / SECOND
        for result in results
        if result.status is Status.SUCCESS and result.started_at is not None and result.finished_at is not None
    ]
    return usual(durations[:limit])


def failure_streak(results: Sequence[RunResult], most: int) -> FailureStreak:
    """Count failures, newest first, until a success. Runs that are open, cancelled or skipped are no results.

    There may be more if there are `most` results, and no success among them.
    """
    failed: list[RunResult] = []
    for result in results:
        if result.status in _SUCCESSES:
            return FailureStreak(len(failed), _end(failed), is_counted=True)
        if result.status in FAILURES:
            failed.append(result)
    return FailureStreak(len(failed), _end(failed), is_counted=len(results) < most)


def _end(failed: Sequence[RunResult]) -> Instant | None:
    return failed[-1].finished_at if failed else None


def _ranked(ordered: Sequence[float], percent: int) -> float:
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
