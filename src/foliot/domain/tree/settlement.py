"""What is decided about a tree, to be saved as a whole or not at all."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import RunId
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import Ended, NewRun
from foliot.domain.tree.tree import Note, Tree
from foliot.domain.workflow.progress import StepState

NO_STEPS: Mapping[str, StepState] = {}


class Opening(NamedTuple):
    """The beginning of a tree: saved only while the claim's token is current."""

    claim: Claim
    tree: Tree
    body: bytes
    """What the tree was opened with, as JSON. Stored once, never changed."""
    runs: Sequence[NewRun] = ()
    steps: Mapping[str, StepState] = NO_STEPS
    ended: Ended | None = None
    """How it ended, where nothing has to run."""


class Settlement(NamedTuple):
    """What follows from notes: saved only while the tree's state is the one it was decided on."""

    tree: Tree
    """As it was read, with `open`, `progress` and `is_ending` as they are to be saved."""
    notes: Sequence[RunId]
    """The notes that were settled, and are removed."""
    runs: Sequence[NewRun] = ()
    steps: Mapping[str, StepState] = NO_STEPS
    """Steps whose state has changed."""
    cancels: Sequence[RunId] = ()
    """Children to cancel."""
    ended: Ended | None = None


class Progress(NamedTuple):
    """What has just been saved about a tree."""

    run_id: RunId
    job_id: str
    steps: Mapping[str, StepState]
    """Those that have changed."""
    is_over: bool


def note_ids(notes: Sequence[Note]) -> tuple[RunId, ...]:
    return tuple(note.run_id for note in notes)
