"""The interface of a kind of tree, and how its decisions request data.

A decision gets what has been loaded so far. If more is needed it returns `Wanted`; the coordinator merges the requests
of all trees of a round into one read and calls the decision again. So the number of reads of a round is that of the
tree that needs most, normally one, and does not depend on the number of trees.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from foliot.domain.fanout.source import ItemSource
from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import Instant, later
from foliot.domain.job.definition import Definition
from foliot.domain.job.job import JobSpec
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import Status
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import DefinitionKey, Notes, Tree
from foliot.domain.workflow.output import StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.errors import RowUnreadable


class Ancestry(NamedTuple):
    """What a tree needs from its parent: the fields of the parent's `Tree` with these names."""

    root_id: RunId
    depth: int
    held: tuple[str, ...]


class Wanted(Struct, frozen=True, kw_only=True):
    """What a decision about the tree `run_id` needs to read."""

    run_id: RunId
    steps_of: RunId | None = None
    """The tree whose steps to read, if it is another one: a rerun reads the execution that it repeats."""
    states: frozenset[str] = frozenset()
    """The steps whose states to read."""
    all_states: bool = False
    outputs: frozenset[str] = frozenset()
    """The steps whose outputs to read."""
    jobs: frozenset[JobId] = frozenset()
    paused_in: str | None = None
    """The workflow whose paused steps to read."""
    busy: frozenset[JobId] = frozenset()
    """Jobs to check for a run that is due and has not ended."""
    overrides: bool = False
    """Whether to read the overrides of the tree's own run."""
    body: bool = False
    definition: DefinitionKey | None = None
    parent: RunId | None = None
    """The tree that this one is a child of."""
    items: tuple[int, int] | None = None
    """The items to read: the first one, and how many."""
    children: frozenset[str] = frozenset()
    """The children whose runs to find, by their keys."""
    ends: frozenset[str] = frozenset()
    """The ended children whose ends to read, by their keys."""
    shared: str | None = None
    """The key of the document that the tree shares with others."""


class ChildEnd(NamedTuple):
    """How a child has ended."""

    status: Status
    reason: str | None = None
    error: str | None = None
    exit_code: int | None = None
    output: bytes | None = None
    started_at: Instant | None = None


class SharedDocument(NamedTuple):
    """A document that several trees share, as it was read. Version 0: it does not exist yet."""

    version: int
    body: bytes | None


class ChildRun(NamedTuple):
    """The run of a child that has not ended."""

    run_id: RunId
    has_started: bool


class Loaded(Struct, frozen=True, kw_only=True):
    """What has been read for one tree. A missing key was not requested; the value None means that it does not exist."""

    states: Mapping[str, StepState] = {}
    has_all_states: bool = False
    outputs: Mapping[str, StepOutput] = {}
    jobs: Mapping[JobId, JobSpec | None] = {}
    paused_jobs: frozenset[JobId] = frozenset()
    """The paused jobs among `jobs`."""
    paused: Collection[str] | None = None
    busy: Mapping[JobId, bool] = {}
    overrides: bytes | None = None
    has_overrides: bool = False
    body: bytes | None = None
    definitions: Mapping[DefinitionKey, Any] = {}
    parent: Ancestry | None = None
    items: Sequence[bytes] = ()
    """The requested items, in order, as documents."""
    children: Mapping[str, ChildRun] = {}
    ends: Mapping[str, ChildEnd] = {}
    shared: SharedDocument | None = None
    error: RowUnreadable | None = None
    """A requested row could not be read."""

    def merged(self, more: "Loaded") -> "Loaded":
        """Return both together. What `more` has replaces what this one has."""
        return replace(
            more,
            states={**self.states, **more.states},
            has_all_states=self.has_all_states or more.has_all_states,
            outputs={**self.outputs, **more.outputs},
            jobs={**self.jobs, **more.jobs},
            paused_jobs=self.paused_jobs | more.paused_jobs,
            paused=self.paused if more.paused is None else more.paused,
            busy={**self.busy, **more.busy},
            overrides=more.overrides if more.has_overrides else self.overrides,
            has_overrides=self.has_overrides or more.has_overrides,
            body=self.body if more.body is None else more.body,
            definitions={**self.definitions, **more.definitions},
            parent=self.parent if more.parent is None else more.parent,
            items=more.items or self.items,
            children={**self.children, **more.children},
            ends={**self.ends, **more.ends},
            shared=self.shared if more.shared is None else more.shared,
            error=self.error or more.error,
        )


NOTHING_LOADED = Loaded()


class Start(NamedTuple):
    """A claimed run to open as a tree."""

    claim: Claim
    definition: Definition
    ancestry: Ancestry | None = None
    items: int = 0
    """How many items are stored for it."""

    def tree(self, *, version: int, open: int, **fields: Any) -> Tree:  # noqa: A002  (the name of the column)
        """Return the tree of this run."""
        claim, above = self.claim, self.ancestry
        held = (*claim.limit_keys, *(() if above is None else above.held))
        return Tree(
            run_id=claim.run_id,
            kind=self.definition.kind,
            job_id=claim.job_id,
            version=version,
            state=0,
            open=open,
            opened_at=claim.started_at,
            root_id=claim.run_id if above is None else above.root_id,
            depth=0 if above is None else above.depth + 1,
            held=tuple(sorted(set(held))),
            planned=claim.scheduled_for,
            deadline=None if self.definition.timeout is None else later(claim.started_at, self.definition.timeout),
            revision=self.definition.revision,
            **fields,
        )


class TreeKind(Protocol):
    """One kind of tree. Its methods are pure functions.

    What else a new kind needs:
    - its jobs have `options.queue = TREES_QUEUE`, so that a coordinator claims their runs
    - an entry in `TREE_CHECKS` (`domain.job.kinds`) checks their specifications; other jobs may not have that queue
    - `Tree.version` is 0, unless its definitions are stored in versions like those of workflows
    - children execute the definition of their job, or, with `tree_definition_id`, that of `jobs` in the JSON body of
      the tree
    - a value of `RunKind` (`domain.tree.run_kind`), if lists and pages are to name it; otherwise it is shown as an
      execution
    """

    @property
    def name(self) -> str:
        """The kind of job whose runs are trees of this kind."""
        ...

    def read_body(self, body: bytes) -> Any:
        """Return the decoded body of a tree."""
        ...

    def compile(self, definition: Any) -> Any:
        """Return a stored definition in the form that decisions use. Called once for each version, and not for trees of
        version 0."""
        ...

    def source(self, definition: Definition) -> ItemSource | None:
        """Return where its items come from, which are stored before it begins. None: it has no items."""
        ...

    def begin(self, start: Start, loaded: Loaded, now: Instant, ids: IdSource) -> Opening | Wanted:
        """Return the opening of a claimed run. Raise FoliotError if it cannot be opened."""
        ...

    def decide(self, tree: Tree, notes: Notes, loaded: Loaded, now: Instant, ids: IdSource) -> Settlement | Wanted:
        """Return what follows from notes, a cancellation or a passed deadline."""
        ...
