"""The part of the storage that keeps runs. See `ports.storage` for what all verbs promise."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from foliot.domain.gate.decision import DependencyState, End, Gated, Passed, Postponed
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import Marked
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import AttemptRecord, Ended, NewRun, Run, Status


class Created(Struct, frozen=True, gc=False):
    """The run that answers a request: the new one, or the one that had taken the dedupe key."""

    run_id: RunId
    is_new: bool


class Released(NamedTuple):
    """How many due runs became ready or wait for a limit, and when the next one is due."""

    count: int  # type: ignore[assignment]  # nobody counts the fields of a row
    next_due_at: Instant | None


class RunFilter(NamedTuple):
    """None means: any. Newest first; `before` continues a listing after its last id."""

    job_id: JobId | None = None
    schedule_id: ScheduleId | None = None
    status: Status | None = None
    before: RunId | None = None
    limit: int = 100
    root_id: RunId | None = None
    """Runs of this tree, at any depth."""


class Depth(NamedTuple):
    """How many runs are not over, by where they stand, each counted up to a limit."""

    running: int
    """Cancelling ones included."""
    queued: int
    scheduled: int


class RunStore(Protocol):
    async def create(self, runs: Sequence[NewRun], *, at: Instant | None = None) -> list[Created]:
        """Create runs, in order. Due ones are ready at once (or wait for their limits), later ones are scheduled.

        One that is gated is scheduled, due or not, until its gate has been asked (`gated`, `pass_gates`).
        A run whose dedupe key is taken is not created: the first one comes back. Scope `forever` keeps the key as
        long as the run is kept, `active` until that run is terminal, `window` for `dedupe_for` milliseconds.
        """
        ...

    async def release_due(self, limit: int, *, at: Instant | None = None) -> Released:
        """Make scheduled runs ready whose moment has come; those with limits begin to wait for them.

        Runs that wait for their gate are left alone. One whose limits cannot be read waits for none: `claim` ends it.
        """
        ...

    async def admit(self, limit: int, *, at: Instant | None = None) -> int:
        """Give free places to waiting runs, in rank order, all places of a run or none. Safe to repeat.

        `create`, `settle`, `release_due`, `finish` and `cancel` do this for the keys they touch; repeating it for all
        keys heals whatever a crash left behind.
        """
        ...

    async def ready(self, queue: str, limit: int) -> list[RunId]:
        """The next runs that may start, in rank order, without taking them: what a broker is to announce."""
        ...

    async def cancel(self, run_ids: Collection[RunId], *, at: Instant | None = None) -> dict[RunId, CancelAnswer]:
        """End runs that have not started, ask the workers of those that run to end them.

        An execution under way is noted to be looked at: settling it ends it.
        """
        ...

    async def answer(self, answers: Mapping[RunId, Ended], *, at: Instant | None = None) -> list[RunId]:
        """End runs that have not started as somebody says; these come back, the others stay as they are."""
        ...

    async def mark(self, marks: Mapping[RunId, RunId], *, at: Instant | None = None) -> dict[RunId, Marked]:
        """Let runs count as successes, reason `marked` (see `domain.run.mark`).

        Each run is given with the id of the run that is to stand for it, used only where one must. It has the job,
        payload and options of the one it stands for and the trigger `mark:<run id>`. Marking twice is marking once.
        """
        ...

    # -- gates

    async def gated(self, limit: int, *, at: Instant | None = None) -> tuple[Instant, list[Gated]]:
        """Now, and up to `limit` due runs that wait for their gate, oldest first. Changes nothing."""
        ...

    async def pass_gates(
        self, passed: Sequence[Passed], postponed: Sequence[Postponed], *, at: Instant | None = None
    ) -> list[RunId]:
        """Save what gates have decided about runs that still wait for it; these come back.

        `run` lets it be ready, or wait for its limits, like any due run; `skip` and `fail` end it, with the decision's
        reason. The decision is kept with the run. A postponed one waits on. No gate is asked again about a retry.
        """
        ...

    async def watch(self, job_ids: Collection[JobId]) -> None:
        """Keep the ends of these jobs' runs, those of the past included, for `sights` and `latest_end`."""
        ...

    async def sights(
        self, job_ids: Collection[JobId], *, after: Instant, until: Instant
    ) -> dict[JobId, DependencyState]:
        """For each job: its latest end in (after, until] if it is watched, and whether a run is expected at `until`.

        One look into an index for each, whatever the history; expected runs are looked for among the newest 50.
        """
        ...

    async def latest_end(
        self,
        job_id: JobId,
        statuses: Collection[Status],
        *,
        reasons: Collection[Reason] | None = None,
        until: Instant,
    ) -> End | None:
        """The latest end of a watched job, up to `until`, that has one of the statuses, for one of the reasons."""
        ...

    async def decisions(self, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
        """What gates have decided about these runs, as JSON (`domain.gate.decision.Decision`)."""
        ...

    # -- being looked at: one that cannot be read comes with its error (`Run.unreadable`), and stops none of the others

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Run]: ...

    async def page(self, only: RunFilter) -> list[Run]: ...

    async def overrides(self, run_id: RunId) -> bytes | None:
        """The options that were given for this run alone, as JSON. Raises `RowUnreadable` if they are none."""
        ...

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]:
        """Every finished attempt, in order, the last one included. The status of one that cannot be read says so."""
        ...
