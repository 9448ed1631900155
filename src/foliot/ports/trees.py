"""The tree port, used by the coordinator: opens trees and settles them."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.tree.kind import Loaded, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Notes, Tree
from foliot.domain.workflow.execution import StepRecord

PREFETCHED_STEPS: Final = 64
"""Trees with at most this many steps are read together with the states of all steps, which saves a second read."""


class UnsettledTree(NamedTuple):
    """A tree with the notes since it was last settled, and with prefetched rows that its decision probably needs."""

    tree: Tree
    notes: Notes
    loaded: Loaded


class Unsettled(NamedTuple):
    """Trees that need a decision at `now`."""

    now: Instant
    trees: Sequence[UnsettledTree]
    after: RunId | None = None
    """The cursor for the next call, if there may be more."""


class TreeStore(Protocol):
    async def open(self, openings: Sequence[Opening], *, at: Instant | None = None) -> list[Token]:
        """Turn claimed runs into trees: end their leases, store tree, body and steps, create the first children.

        Return the tokens that changed nothing: stale ones, and those of runs whose job has changed since the claim. If
        the job was deleted, the run is cancelled. The run of a tree is running, without a worker. If a tree cannot be
        stored, its run fails.
        """
        ...

    async def unsettled(
        self, limit: int, *, notes_per_tree: int, after: RunId | None = None, at: Instant | None = None
    ) -> Unsettled:
        """Return trees with notes whose id is greater than `after`, by id, and trees past their deadline. Changes
        nothing.

        Reads at most `notes_per_tree` notes of each tree, oldest first, without outputs. Small trees come with the
        states of all their steps. An unreadable tree comes with its error and does not affect the others.
        """
        ...

    async def load(self, wants: Sequence[Wanted], *, at: Instant | None = None) -> Mapping[RunId, Loaded]:
        """Return the rows that decisions about several trees requested, by tree, in one read for all of them.

        An unreadable row is reported to the trees that requested it, in `Loaded.error`.
        """
        ...

    async def open_children(self, run_id: RunId) -> list[RunId]:
        """Return the runs of all children that have not ended, to end a tree that cannot be decided. The cost grows
        with the number of all children."""
        ...

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        """Return all steps of a tree, unreadable ones included, to end a tree that cannot be decided."""
        ...

    async def settle(self, settlements: Sequence[Settlement], *, at: Instant | None = None) -> list[RunId]:
        """Save each settlement whose tree is still in the state it was decided on. Return the trees that were saved.

        All trees to settle or cancel are locked first, in ascending order. A tree that ends releases its places like
        any run, and adds a note to its own parent.
        """
        ...
