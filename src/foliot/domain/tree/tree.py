"""A tree as it is stored, and the notes that its children leave."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Status
from foliot.errors import RowUnreadable

TREES_QUEUE: Final = "@trees"
"""The queue of runs that a coordinator opens. No user can name a queue like this."""
MAX_DEPTH: Final = 8
"""A tree may be nested this deep; a root has depth 0."""

DefinitionKey = tuple[JobId, int, int | None]
"""The job, the version and the job's revision that a compiled definition was made from."""


class Tree(NamedTuple):
    """A run that has been opened. `state` rises with every write: a decision is saved only on the state it was made
    on."""

    run_id: RunId
    kind: str
    job_id: JobId
    version: int
    """Of its job's definition. 0: its kind has no versions, and its body says everything."""
    state: int
    open: int
    """How many children have no result yet, counting those that were not created yet."""
    opened_at: Instant
    root_id: RunId
    """The outermost tree: what is shown and removed together."""
    depth: int = 0
    held: tuple[str, ...] = ()
    """Limits that the run or one of its ancestors holds. Its children do not ask for them: they would wait for ever."""
    progress: bytes | None = None
    """What the kind counts, as JSON; changed only together with `state`."""
    size: int = 0
    """How many steps are stored with it."""
    deadline: Instant | None = None
    cancel_at: Instant | None = None
    is_ending: bool = False
    """A cancel or a passed deadline has been acted upon."""
    planned: Instant | None = None
    """The moment it was planned for, by a schedule or by the caller of a launcher."""
    revision: int | None = None
    """Of its job when this was read. None: the job has been deleted."""
    body: Any = None
    """What the tree was opened with, decoded by its kind; the coordinator attaches it. Never changes."""
    definition: Any = None
    """The compiled definition; the coordinator attaches it."""
    error: RowUnreadable | None = None
    """Why its row could not be read."""

    @property
    def definition_key(self) -> DefinitionKey:
        return self.job_id, self.version, self.revision

    def is_overdue(self, now: Instant) -> bool:
        return self.deadline is not None and now >= self.deadline

    def is_to_end(self, now: Instant) -> bool:
        """Whether it must not go on: cancelled, past its deadline, or being ended already."""
        return self.is_ending or self.cancel_at is not None or self.is_overdue(now)


class Note(NamedTuple):
    """A child that has ended. Without a key: the tree itself is to be looked at, for example because it was
    cancelled."""

    run_id: RunId
    child_key: str | None = None
    status: Status | None = None
    exit_code: int | None = None


class Notes(NamedTuple):
    """The notes that are settled now. A tree with very many children has more, which are read in a later round."""

    items: Sequence[Note] = ()
    has_more: bool = False

    @property
    def ended(self) -> list[Note]:
        """Those about children."""
        return [note for note in self.items if note.child_key is not None and note.status is not None]
