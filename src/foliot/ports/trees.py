"""The tree port: what a coordinator needs to open trees and to settle them."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.tree.kind import Loaded, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Notes, Tree
from foliot.domain.workflow.execution import StepRecord

PREFETCHED_STEPS: Final = 64
"""Trees with at most so many steps come with the states of all of them, which saves a second read."""


class UnsettledTree(NamedTuple):
    """A tree with what has happened since it was last settled, and with what its decision probably needs."""

    tree: Tree
    notes: Notes
    loaded: Loaded


class Unsettled(NamedTuple):
    """Trees that ask for a decision at `now`."""

    now: Instant
    trees: Sequence[UnsettledTree]
    after: RunId | None = None
    """Where the next call goes on, if there may be more."""


class TreeStore(Protocol):
    async def open(self, openings: Sequence[Opening], *, at: Instant | None = None) -> list[Token]:
        """Turn claimed runs into trees: end their leases, store tree, body and steps, create the first children.

        A stale token changes nothing and is returned, and so is that of a tree whose job has changed since it was
        claimed. If the job has been deleted, the run is cancelled. The run of a tree counts as running, without a
        worker. One that cannot be stored ends its run as failed.
        """
        ...

    async def unsettled(
        self, limit: int, *, notes_per_tree: int, after: RunId | None = None, at: Instant | None = None
    ) -> Unsettled:
        """Trees with notes whose id is greater than `after`, by id, and trees past their deadline. Changes nothing.

        Takes a bounded number of notes of each tree, oldest first, without outputs. Small trees come with the states of
        all their steps. A tree whose row cannot be read comes with its error and does not affect the others.
        """
        ...

    async def load(self, wants: Sequence[Wanted], *, at: Instant | None = None) -> Mapping[RunId, Loaded]:
        """What decisions about several trees need to know, by the tree that asks, in one read for all of them.

        A row that cannot be read is reported to the trees that asked for it, in `Loaded.error`.
        """
        ...

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        """All steps of a tree, also those that cannot be read: to end a tree that nobody can decide about."""
        ...

    async def settle(self, settlements: Sequence[Settlement], *, at: Instant | None = None) -> list[RunId]:
        """Save each settlement whose tree is still in the state it was decided on. Returns the trees of those saved.

        First locks all trees that it settles or cancels, in ascending order. A tree that ends gives back its places
        like any run, and leaves a note for its own parent.
        """
        ...
