"""What the queries port returns about chains: their classes, lists of them, and one chain with its steps."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.chain.state import Chain, ChainRecord, ChainState
from foliot.domain.chain.step import ChainBody
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.run.run import Run
from foliot.domain.tree.kind import SharedDocument
from foliot.errors import RowUnreadable


class ChainClass(NamedTuple):
    """A class: a job of kind `chain`, or that of the chains that runs of a job have started."""

    class_id: str
    key: str
    """The key of its document."""
    document: SharedDocument
    """What its chains share (`domain.chain.class_state.ClassState`). Version 0: no chain was armed yet."""
    job: Job | RowUnreadable | None
    """Its definition. None: the job was deleted, or the class is that of chains that runs have started."""


class ChainCursor(NamedTuple):
    """The last chain of a page. The next page continues after it."""

    armed_at: Instant
    run_id: RunId


class ChainFilter(NamedTuple):
    """Which chains to list, newest first. None means any."""

    class_id: str | None = None
    state: ChainState | None = None
    is_open: bool = False
    """Only chains that are not closed."""
    limit: int = 50
    before: ChainCursor | None = None


class ChainPage(NamedTuple):
    chains: Sequence[ChainRecord]
    next: ChainCursor | None = None
    """Where the next page begins, if there may be one."""


class ChainDetails(NamedTuple):
    run: Run
    record: ChainRecord | None
    """None: it was not armed."""
    chain: Chain
    body: ChainBody
    steps: Mapping[RunId, Run]
    """The runs of its steps, by id."""
