"""The item port: stores the items of a fanout before it begins, and reads them."""

from typing import NamedTuple, Protocol

from foliot.domain.fanout.chunk import ItemChunk
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import Status


class ItemRun(NamedTuple):
    """The run of a child, with its item and what it returned."""

    child_key: str
    run_id: RunId
    status: Status
    reason: str | None
    exit_code: int | None
    error: str | None
    attempt: int
    started_at: Instant | None
    finished_at: Instant | None
    document: bytes | None
    """The item, as a document of `domain.fanout.item`."""
    output: bytes | None


class ItemStore(Protocol):
    async def count(self, run_id: RunId) -> int | None:
        """Return the number of items of a run. None: not all of them are stored."""
        ...

    async def append(self, run_id: RunId, chunk: ItemChunk, *, claim: Claim | None = None) -> bool:
        """Store a chunk. One that begins with the first item replaces everything that was stored for the run.

        With a claim, nothing is stored and False is returned if the claim is not current. Nothing is changed once the
        last chunk is stored.
        """
        ...

    async def read(self, run_id: RunId, first: int, limit: int) -> list[bytes]:
        """Return items in order, from the index `first`."""
        ...

    async def started(self, run_id: RunId) -> int:
        """Return how many items of a run have a child. Children are created in the order of the items."""
        ...

    async def children(
        self, run_id: RunId, *, after: str = "", limit: int = 1_000, unsuccessful: bool = False
    ) -> list[ItemRun]:
        """Return the runs of children whose key is greater than `after`, by key; with `unsuccessful` only those that
        ended without success. The cost does not grow with the number of children."""
        ...

    async def results(self, run_id: RunId, query: ResultQuery) -> list[ChildResult]:
        """Return results of children that have ended, without the reducer. A page ends early when its items and
        outputs have `ROOM` bytes; an empty page is the last one. The cost does not grow with the number of children."""
        ...
