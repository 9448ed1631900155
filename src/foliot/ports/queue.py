"""The queue port: hints that a run may be worth claiming.

A message carries `{"v": 1, "run_id": "01J..."}` and nothing else. The storage decides what it is worth: a
message that is lost, doubled, late or forged costs at most a look-up.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from foliot.domain.ids import RunId


class Queue(Protocol):
    """Carries run ids from dispatchers to workers, or only the news that there are some."""

    @property
    def carries_ids(self) -> bool:
        """False: workers look into the storage themselves, in rank order, whenever `signal` is set."""
        ...

    @property
    def signal(self) -> asyncio.Event:
        """Set when there may be something to take."""
        ...

    async def announce(self, queue: str, run_ids: Sequence[RunId]) -> None:
        """Tell the workers of a queue that these runs may start. May be repeated at will."""
        ...

    async def take(self, queues: Sequence[str], limit: int) -> Sequence[RunId]:
        """Up to `limit` announced run ids, without waiting. Garbage is dropped and counted, never returned."""
        ...

    async def done(self, run_ids: Sequence[RunId]) -> None:
        """These messages have served: they need not be delivered again."""
        ...

    async def close(self) -> None: ...
