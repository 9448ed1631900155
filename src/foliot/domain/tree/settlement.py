"""Decisions about a tree. Each is saved as a whole or not at all."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.alert import Alert
from foliot.domain.chain.state import ChainRecord
from foliot.domain.ids import RunId
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import Ended, NewRun
from foliot.domain.tree.tree import Note, Tree
from foliot.domain.workflow.progress import StepState

NO_STEPS: Mapping[str, StepState] = {}


class SharedChange(NamedTuple):
    """A new body of a document that several trees share. `version` is the one that the decision was based on."""

    key: str
    version: int
    body: bytes


class Effects(NamedTuple):
    """What a decision changes beside its own tree. Saved together with it, or not at all."""

    shared: SharedChange | None = None
    record: ChainRecord | None = None
    """The chain as lists show it."""
    alerts: Sequence[Alert] = ()
    wakes: Sequence[RunId] = ()
    """Other trees that are to be settled."""


class Opening(NamedTuple):
    """The first state of a tree. Saved only while the claim's token is current."""

    claim: Claim
    tree: Tree
    body: bytes
    """The immutable data of the tree, as JSON."""
    runs: Sequence[NewRun] = ()
    steps: Mapping[str, StepState] = NO_STEPS
    ended: Ended | None = None
    """How it ended, if no child has to run."""
    effects: Effects | None = None


class Settlement(NamedTuple):
    """What follows from notes. Saved only if the tree's state has not changed since it was read."""

    tree: Tree
    """The tree as it was read, with the new `open`, `progress`, `deadline` and `is_ending`."""
    notes: Sequence[RunId]
    """The notes that were settled and are to be removed."""
    runs: Sequence[NewRun] = ()
    steps: Mapping[str, StepState] = NO_STEPS
    """Steps whose state has changed."""
    cancels: Sequence[RunId] = ()
    """Children to cancel."""
    ended: Ended | None = None
    effects: Effects | None = None


def note_ids(notes: Sequence[Note]) -> tuple[RunId, ...]:
    return tuple(note.run_id for note in notes)
