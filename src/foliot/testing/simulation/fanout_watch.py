"""Checks invariants of fanouts after every step, from the runs of their children and without their counters."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec
from foliot.domain.run.run import Run, Status
from foliot.testing.invariants import Violation

_LEASED: Final = (Status.RUNNING, Status.CANCELLING)
_REDUCER: Final = "reducer"


class _Open(Struct):
    """A fanout that has not ended."""

    spec: Mapping[str, Any]
    started: int = 0
    running: int = 0
    """Children that have not ended."""
    reducers: int = 0


class FanoutWatch:
    def __init__(self, jobs: Mapping[JobId, JobSpec]) -> None:
        self._jobs = jobs
        self._open: dict[RunId, _Open] = {}
        self._over: set[RunId] = set()

    def on_event(self, event: Event) -> Event:
        """Record openings and ends of fanouts. Return the event without them."""
        others: list[Any] = []
        for item in event.items:
            run_id, job_id, what = item
            is_opening = event.kind is EventKind.EXECUTIONS_OPENED
            if is_opening and what == 0:
                self._on_opened(RunId(run_id), JobId(job_id))
            elif not is_opening and run_id in self._open:
                self._on_ended(RunId(run_id))
            elif run_id in self._over:
                raise Violation(f"F3 fanout {run_id} ended twice")
            else:
                others.append(item)
        return event._replace(items=others)

    def _on_opened(self, run_id: RunId, job_id: JobId) -> None:
        if run_id in self._open or run_id in self._over:
            raise Violation(f"F6 fanout {run_id} was opened twice")
        self._open[run_id] = _Open(self._jobs[job_id].spec)

    def _on_ended(self, run_id: RunId) -> None:
        self._over.add(run_id)

    def on_new_run(self, run: Run) -> bool:
        """Check a new run. Return whether it belongs to a fanout."""
        fanout = None if run.parent_id is None else self._open.get(run.parent_id)
        if fanout is None:
            return False
        fanout.running += 1
        if run.child_key == _REDUCER:
            self._on_reducer(run, fanout)
            return True
        if run.child_key != f"{fanout.started:07}" or run.payload != fanout.spec["items"][fanout.started]:
            raise Violation(f"F1 run {run.id} is child {run.child_key} of {run.parent_id}, not {fanout.started}")
        fanout.started += 1
        return True

    def _on_reducer(self, run: Run, fanout: _Open) -> None:
        fanout.reducers += 1
        if fanout.reducers > 1:
            raise Violation(f"F5 fanout {run.parent_id} has a second reducer: {run.id}")
        if fanout.started < len(fanout.spec["items"]) or fanout.running > 1:
            raise Violation(f"F5 fanout {run.parent_id} reduces, and has {fanout.running - 1} open children")

    def on_run_ended(self, run: Run) -> bool:
        """Check a run that has ended. Return whether it is a child of a fanout."""
        if run.id in self._over:
            # Its children may have ended in the same step, after it in the order of the runs.
            return False
        fanout = None if run.parent_id is None else self._open.get(run.parent_id)
        if fanout is None:
            return False
        fanout.running -= 1
        return True

    def check(self, runs: Iterable[Run]) -> None:
        """Check the open runs."""
        leased = Counter(
            run.parent_id for run in runs if run.parent_id in self._open and run.status in _LEASED and _is_item(run)
        )
        for run_id, fanout in list(self._open.items()):
            if leased[run_id] > fanout.spec["concurrency"]:
                raise Violation(f"F2 fanout {run_id}: {leased[run_id]} children at once")
            if run_id in self._over:
                if fanout.running:
                    raise Violation(f"F3 fanout {run_id} has ended, and {fanout.running} of its children have not")
                del self._open[run_id]


def _is_item(run: Run) -> bool:
    return run.child_key != _REDUCER
