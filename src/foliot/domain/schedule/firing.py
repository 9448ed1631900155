"""A firing: the decision about one due schedule, and everything the decision depends on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import MINUTE, SECOND, Instant, Millis
from foliot.domain.job.job import Job
from foliot.domain.run.run import NewRun, Tick
from foliot.domain.schedule.schedule import UNPLANNED, Pause, Revision, ScheduleSpec, ScheduleType
from foliot.domain.schedule.tick import PlannedTick, TickRecord


class SchedulerSettings(Struct, frozen=True, kw_only=True):
    """The scheduler's own settings, with the defaults of the specification."""

    poll: Millis = SECOND
    """The longest time between two rounds (the option `tick`)."""
    lookahead: Millis = MINUTE
    """The time over which `catchup = "spread"` distributes missed ticks."""
    grace: Millis = Millis(5 * SECOND)
    """How late a tick may be and still be on time (the option `misfire_grace`)."""
    max_catchup_per_tick: int = 100
    """How many missed ticks of a schedule are caught up in one round."""
    max_waiting: int = 1_000

    @property
    def tolerance(self) -> Millis:
        """A tick younger than this is on time. At least two polls: otherwise polling alone would make ticks late."""
        return max(self.grace, Millis(2 * self.poll))


class Boot(NamedTuple):
    """A boot of a host, and the planned moment of the tick for it. None: the schedule has no tick for it."""

    id: str
    at: Instant | None


class DueSchedule(NamedTuple):
    """A schedule that is due, with everything the decision depends on."""

    uid: ScheduleUid
    id: ScheduleId
    version: int
    created_at: Instant
    revisions: tuple[Revision, ...]
    settled_until: Instant
    in_flight: int = 0
    pauses: tuple[Pause, ...] = ()
    planned: tuple[PlannedTick, ...] = ()
    behind_since: Instant | None = None
    succeeded_at: Instant | None = None
    """When another run of its job succeeded last, if its rule has `skip_if_successful`."""
    boot: Instant | None = None
    """The planned moment of a boot, if it is about to be decided."""


class Firing(Struct, gc=False):
    """The decision about one schedule. It is committed as a whole, and only if `version` is still current."""

    uid: ScheduleUid
    version: int
    settled_until: Instant
    ticks: list[TickRecord] = []
    runs: list[NewRun] = []
    """Runs to create. A run whose id is in `waiting` waits for the runs in flight; the others start immediately."""
    waiting: frozenset[RunId] = frozenset()
    planned: Sequence[PlannedTick] = ()
    """All planned ticks that remain. Planned ticks that are not listed have been decided."""
    cancels_running: bool = False
    behind_since: Instant | None = None
    next_run_at: Instant | None = None
    wake_at: Instant | None = None
    last_scheduled_at: Instant | None = None
    boot: Boot | None = None
    """The boot that this firing decides about."""

    def is_exhausted(self, kind: ScheduleType) -> bool:
        """Return whether the schedule will never fire again. It stays stored, disabled, until retention removes it."""
        return self.next_run_at is None and not self.planned and kind not in UNPLANNED


class TickStart(NamedTuple):
    """A tick that starts a run, and what the run is made from."""

    run_id: RunId
    tick: Tick
    spec: ScheduleSpec
    job: Job | None
    now: Instant


MakeRun = Callable[[TickStart], NewRun | None]
"""Makes the run that is created with a tick. None: the job does not exist."""


class RoundContext(NamedTuple):
    """What a decision depends on besides the schedule: the same for all schedules of one round."""

    now: Instant
    jobs: Mapping[JobId, Job]
    settings: SchedulerSettings
    make_run: MakeRun
    run_ids: Iterator[str]
