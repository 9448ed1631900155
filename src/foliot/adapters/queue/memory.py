"""A queue inside one process."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Final

from foliot.adapters.queue.message import decode, encode
from foliot.domain.ids import RunId

CAPACITY: Final = 10_000
"""Messages per queue. Further messages are dropped: their runs stay ready and are announced again."""


class MemoryQueue:
    """Carries run ids between the loops of one process. Each message goes to one consumer."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._messages: defaultdict[str, deque[bytes]] = defaultdict(deque)
        self._signal = asyncio.Event()
        self.overflowed = 0
        """Number of messages dropped because their queue was full."""
        self.dropped = 0
        """Number of invalid messages."""

    @property
    def carries_ids(self) -> bool:
        return True

    @property
    def signal(self) -> asyncio.Event:
        return self._signal

    async def announce(self, queue: str, run_ids: Sequence[RunId]) -> None:
        for run_id in run_ids:
            self.deliver(queue, encode(run_id))

    def deliver(self, queue: str, body: bytes) -> None:
        """Add a message without checking it, as a broker would."""
        messages = self._messages[queue]
        if len(messages) >= self._capacity:
            self.overflowed += 1
            return
        messages.append(body)
        self._signal.set()

    async def take(self, queues: Sequence[str], limit: int) -> Sequence[RunId]:
        taken: list[RunId] = []
        waiting = [self._messages[queue] for queue in queues if self._messages.get(queue)]
        for messages in waiting:
            self._drain(messages, taken, limit)
        if any(waiting):
            # Another consumer may take the rest.
            self._signal.set()
        return taken

    def _drain(self, messages: deque[bytes], taken: list[RunId], limit: int) -> None:
        while messages and len(taken) < limit:
            run_id = decode(messages.popleft())
            if run_id is None:
                self.dropped += 1
            else:
                taken.append(run_id)

    async def done(self, run_ids: Sequence[RunId]) -> None:
        """Do nothing: messages are not delivered twice."""

    async def close(self) -> None:
        self._messages.clear()
