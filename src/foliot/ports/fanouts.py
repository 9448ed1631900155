"""What the queries port returns about fanouts: their progress, and pages of their items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foliot.domain.fanout.item_status import ItemStatus
from foliot.domain.fanout.kind import FanoutBody
from foliot.domain.fanout.progress import Progress
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Run
from foliot.errors import RowUnreadable
from foliot.ports.items import ItemRun


class FanoutRecord(NamedTuple):
    """A fanout that was opened."""

    run_id: RunId
    body: FanoutBody
    progress: Progress
    opened_at: Instant
    deadline: Instant | None
    is_ending: bool
    """It was cancelled or ran out of time: items without a run never get one."""


@dataclass(frozen=True, slots=True)
class FanoutItem:
    """An item, with its run if it has one."""

    index: int
    document: bytes
    """As `domain.fanout.item` encodes it."""
    run: ItemRun | RowUnreadable | None
    """None: it was not started. An error: the row of the run cannot be read."""


class FanoutDetails(NamedTuple):
    record: FanoutRecord
    running: int
    """How many children run now, counted up to a limit."""
    reducer: Run | None
    named: Mapping[int, FanoutItem]
    """The first failed and the slowest items, which `record.progress` lists, by index."""


class ItemFilter(NamedTuple):
    """Which items of a fanout to list, in their order."""

    after: int = -1
    """Items with a greater index."""
    failed: bool = False
    """Only items that failed, timed out or were cancelled, also before they were started."""
    status: ItemStatus | None = None
    """Only items with this status, in place of `failed`."""
    pattern: str | None = None
    """Only items whose text matches this pattern, with the wildcards * ? and [...]."""
    text: str | None = None
    """Only items with exactly this text, in place of `pattern`."""
    limit: int = 100

    @property
    def is_search(self) -> bool:
        return self.pattern is not None or self.text is not None


class ItemsPage(NamedTuple):
    record: FanoutRecord
    items: Sequence[FanoutItem]
    next: int | None
    """To continue, give this as `after`. A page may end early, even without items: a search looks at a limited number
    of items. None: there are no more."""
