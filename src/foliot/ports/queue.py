"""The queue port: hints that a run may be ready to claim.

A message is `{"v": 1, "run_id": "01J..."}` and nothing else. The storage decides whether the run can be claimed: a
lost, duplicate, late or forged message costs at most one look-up.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from foliot.domain.ids import RunId


class Queue(Protocol):
    """Carries run ids from dispatchers to workers, or only a signal that runs may be ready."""

    @property
    def carries_ids(self) -> bool:
        """Whether `take` returns run ids. If not, workers claim from the storage in rank order when `signal` is set."""
        ...

    @property
    def signal(self) -> asyncio.Event:
        """Set when runs may be ready."""
        ...

    async def announce(self, queue: str, run_ids: Sequence[RunId]) -> None:
        """Announce to the workers of a queue that these runs are ready. May be repeated."""
        ...

    async def take(self, queues: Sequence[str], limit: int) -> Sequence[RunId]:
        """Return up to `limit` announced run ids, without waiting. Invalid messages are dropped and counted."""
        ...

    async def done(self, run_ids: Sequence[RunId]) -> None:
        """Acknowledge the messages of these runs, so that they are not delivered again."""
        ...

    async def close(self) -> None: ...
