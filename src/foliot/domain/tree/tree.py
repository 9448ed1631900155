"""A stored tree, and the notes about the ends of its children."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.run import Status
from foliot.errors import RowUnreadable

MAX_DEPTH: Final = 8
"""The maximum depth of nested trees. A root has depth 0."""

DefinitionKey = tuple[JobId, int, int | None]
"""The job, the version and the job's revision that a compiled definition was made from."""


class Tree(NamedTuple):
    """A run that has been opened. `state` rises with every write: a decision is saved only if `state` is unchanged."""

    run_id: RunId
    kind: str
    job_id: JobId
    version: int
    """The version of its job's definition. 0: its kind has no versions, and its body holds the definition."""
    state: int
    open: int
    """The number of children without a result, including those that are not created yet."""
    opened_at: Instant
    root_id: RunId
    """The outermost tree. All its runs are shown and removed together."""
    depth: int = 0
    held: tuple[str, ...] = ()
    """Limits that the run or one of its ancestors holds. Its children do not need them: they would wait forever."""
    progress: bytes | None = None
    """Counters of the kind, as JSON. Changed only together with `state`."""
    size: int = 0
    """The number of steps stored with it."""
    deadline: Instant | None = None
    cancel_at: Instant | None = None
    is_ending: bool = False
    """A cancellation or a passed deadline has been settled."""
    planned: Instant | None = None
    """The moment it was planned for, by a schedule or by the caller of a launcher."""
    revision: int | None = None
    """The revision of its job when the tree was read. None: the job has been deleted."""
    body: Any = None
    """The immutable data of the tree, decoded by its kind. Attached by the coordinator."""
    definition: Any = None
    """The compiled definition. Attached by the coordinator."""
    error: RowUnreadable | None = None
    """Why its row could not be read."""

    @property
    def definition_key(self) -> DefinitionKey:
        return self.job_id, self.version, self.revision

    def is_overdue(self, now: Instant) -> bool:
        return self.deadline is not None and now >= self.deadline

    def is_to_end(self, now: Instant) -> bool:
        """Return whether it must end: it is cancelled, past its deadline, or already ending."""
        return self.is_ending or self.cancel_at is not None or self.is_overdue(now)


class Note(NamedTuple):
    """A note that a child has ended. Without a key: the tree itself is to be settled, for example because it was
    cancelled."""

    run_id: RunId
    child_key: str | None = None
    status: Status | None = None
    exit_code: int | None = None
    duration: Millis | None = None
    """How long the child ran, in its last attempt."""


class Notes(NamedTuple):
    """The notes to settle in this round. `has_more`: further notes are read in a later round."""

    items: Sequence[Note] = ()
    has_more: bool = False

    @property
    def ended(self) -> list[Note]:
        """The notes about children that have ended."""
        return [note for note in self.items if note.child_key is not None and note.status is not None]
