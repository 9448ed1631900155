"""What the events say, as counters and histograms: they begin with the meter, and rise as long as its process lives."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import accumulate, islice
from typing import Final

from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND, Instant, from_datetime
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.ports.pages import RunTimes
from foliot.ports.storage import Storage
from foliot.service.event_reader import EncodedEvent, EventView
from foliot.service.queries.events import EventQueries, Reset

DRIFT_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3_600.0)
DURATION_BOUNDS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 21_600.0, 86_400.0)
_CHUNK: Final = 1_000
"""How many runs are looked up at once."""


class Histogram:
    """Counts values by upper bounds."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.sum = 0.0
        self._counts = [0] * (len(bounds) + 1)

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def cumulative(self) -> list[int]:
        """Return how many values are at most each bound; the last number is that of all values."""
        return list(accumulate(self._counts))


class Meter:
    """Counts what happens. One meter of a process is enough: it reads the events of all processes."""

    def __init__(self, storage: Storage, events: EventQueries) -> None:
        self._queries = storage.queries
        self._events = events
        self._position: int | None = None
        self.ended: Counter[Status] = Counter()
        """Ended runs by status."""
        self.ticks: Counter[tuple[TickOutcome, TickReason]] = Counter()
        """Decided ticks by outcome and reason."""
        self.refused = 0
        """Runs that could not be launched."""
        self.reasons: Counter[str] = Counter()
        """Ended runs by reason, if they have one."""
        self.drift = Histogram(DRIFT_BOUNDS)
        """Seconds between the planned time of a tick and the first start of its run."""
        self.durations = Histogram(DURATION_BOUNDS)
        """Seconds of the last attempt of each ended run."""
        self.last_finish: Instant | None = None

    async def begin(self) -> None:
        """Count from now on."""
        if self._position is None:
            self._position = await self._events.newest()

    async def follow(self) -> None:
        """Count events as they happen. After an error the next call continues where this one has stopped."""
        await self.begin()
        async with aclosing(self._events.follow(self._position)) as batches:
            async for batch in batches:
                if isinstance(batch, Reset):
                    self._position = batch.id  # retention has removed events before they were counted
                elif batch:
                    await self.count(batch)
                    self._position = batch[-1].id

    async def count(self, batch: Sequence[EncodedEvent]) -> None:
        started: dict[RunId, Instant] = {}
        ended: list[RunId] = []
        statuses: list[Status] = []
        for view in (event.view for event in batch):
            match view.kind:
                case EventKind.RUNS_STARTED:
                    started |= {RunId(run_id): from_datetime(view.at) for run_id, attempt in view.items if attempt == 1}
                case EventKind.RUNS_ENDED:
                    over = [(RunId(run_id), Status(status)) for run_id, status, _ in view.items]
                    ended += [run_id for run_id, status in over if status.is_terminal]
                    statuses += [status for _, status in over if status.is_terminal]
        # Everything is read before anything is counted: an error must not count a part of a batch twice.
        times = await self._times({*started, *ended})
        self.ended.update(statuses)
        self._count_ticks(event.view for event in batch)
        self._observe_starts(started, times)
        self._observe_ends(times[run_id] for run_id in ended if run_id in times)

    async def _times(self, run_ids: Collection[RunId]) -> dict[RunId, RunTimes]:
        found: dict[RunId, RunTimes] = {}
        remaining: Iterator[RunId] = iter(run_ids)
        while chunk := list(islice(remaining, _CHUNK)):
            found |= await self._queries.run_times(chunk)
        return found

    def _count_ticks(self, views: Iterable[EventView]) -> None:
        for view in views:
            if view.kind is EventKind.TICKS_SETTLED:
                for _, _, _, outcome, reason, _, count in view.items:
                    self.ticks[TickOutcome(outcome), TickReason(reason)] += count
                    self.refused += count if reason == TickReason.LAUNCH_FAILED else 0

    def _observe_starts(self, started: dict[RunId, Instant], times: dict[RunId, RunTimes]) -> None:
        for run_id, at in started.items():
            planned = times[run_id].scheduled_for if run_id in times else None
            if planned is not None:
                self.drift.observe(abs(at - planned) / SECOND)

    def _observe_ends(self, ended: Iterable[RunTimes]) -> None:
        for run in ended:
            self.refused += run.reason == Reason.LAUNCH_FAILED
            if run.reason is not None:
                self.reasons[run.reason] += 1
            if run.finished_at is not None:
                self.last_finish = max(self.last_finish or run.finished_at, run.finished_at)
                if run.started_at is not None:
                    self.durations.observe((run.finished_at - run.started_at) / SECOND)
