"""Values of the queries about chains."""

from collections.abc import Mapping
from typing import NamedTuple

from foliot.domain.chain.guard import ClassState
from foliot.domain.chain.spec import ChainSpec
from foliot.domain.chain.state import Chain, ChainRecord
from foliot.domain.chain.step import ChainBody
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Status

ChainCursor = tuple[Instant, RunId]
"""When the last chain of a page was armed, and its run."""


class StoredClass(NamedTuple):
    class_id: str
    version: int
    """The version of its document. 0: it has none yet."""
    state: ClassState
    spec: ChainSpec | None
    """None: the class of a job whose runs start follow-ups, or a class that was deleted."""


class ChainFilter(NamedTuple):
    class_id: str | None = None
    is_open: bool | None = None
    """Only chains that are not closed, or only closed ones."""
    limit: int = 20
    after: ChainCursor | None = None


class ChainsPage(NamedTuple):
    """Chains, the newest first."""

    chains: list[ChainRecord]
    next: ChainCursor | None = None


class ChainDetails(NamedTuple):
    """A chain, read in one snapshot."""

    record: ChainRecord
    chain: Chain
    body: ChainBody
    statuses: Mapping[RunId, Status]
    """How the runs of its steps stand."""
