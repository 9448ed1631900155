"""The orders port: commands of people and programs on runs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from foliot.domain.alert import Alert
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import Marked
from foliot.domain.run.report import Report, Reported
from foliot.domain.run.run import Ended, NewRun
from foliot.domain.tree.settlement import SharedChange


class Created(Struct, frozen=True, gc=False):
    """The run for a request: a new one, or the one that already has its dedupe key."""

    run_id: RunId
    is_new: bool
    is_outdated: bool = False
    """Nothing was created, because the job is no longer the one that the run was made from."""


class Orders(Protocol):
    async def create(self, runs: Sequence[NewRun], *, at: Instant | None = None) -> list[Created]:
        """Create runs, in order. Due runs are ready immediately (or wait for their limits), later ones are scheduled.

        A gated run is scheduled, due or not, until its gate has decided (`Admission.gated`, `decide_gates`).
        A run whose dedupe key is taken is not created: the run that has the key is returned. Scope `forever` keeps the
        key as long as the run is kept, `active` until that run is terminal, `window` for `dedupe_for` milliseconds.
        A run with a `job_revision` is created only if its job has this revision; otherwise it is answered as outdated.
        A run whose id exists, or that cannot be stored, is answered with its own id, and not as new.
        """
        ...

    async def cancel(self, run_ids: Collection[RunId], *, at: Instant | None = None) -> dict[RunId, CancelAnswer]:
        """End runs that have not started, and request cancellation of running ones.

        An open tree gets a note; settling it cancels its children.
        """
        ...

    async def answer(self, answers: Mapping[RunId, Ended], *, at: Instant | None = None) -> list[RunId]:
        """End each run that has not started, with its given result. Return the ended runs; others are not changed."""
        ...

    async def mark(self, marks: Mapping[RunId, RunId], *, at: Instant | None = None) -> dict[RunId, Marked]:
        """Count runs as successes, reason `marked` (see `domain.run.mark`). Idempotent.

        Each run is given with the id for a substitute run, which is created only if the ended run cannot be changed.
        A substitute has the job, payload and options of the original and the trigger `mark:<run id>`.
        """
        ...

    async def report(self, report: Report, *, at: Instant | None = None) -> Reported:
        """Set the status of the run of a tick that the application's launcher started (see `domain.run.report`).

        A success or a failure ends the run, with all consequences of an ended attempt. Idempotent: a repeated report,
        and one about a run that has ended, change nothing.
        """
        ...

    async def change_class(
        self, change: SharedChange, cancels: Collection[RunId], alerts: Sequence[Alert], *, at: Instant | None = None
    ) -> bool:
        """Change the state of a class of chains, cancel chains of it, and raise alerts, in one transaction.

        Return False, and change nothing, if the document no longer has the version of the change: then a chain may have
        been armed meanwhile, and the caller reads it again.
        """
        ...
