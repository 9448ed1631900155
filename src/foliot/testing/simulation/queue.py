"""An unreliable broker."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Final

from foliot.domain.ids import RunId

_FATES: Final = ("deliver", "lose", "double", "delay")
_ODDS: Final = (70, 12, 9, 9)


class LossyQueue:
    """Carries run ids between all processes. Some are lost, some are delivered twice, some late."""

    carries_ids = True

    def __init__(self, random: Random) -> None:
        self._random = random
        self._messages: list[tuple[str, RunId]] = []
        self._late: list[tuple[str, RunId]] = []
        self.signal = asyncio.Event()
        self.is_reliable = False

    async def announce(self, queue: str, run_ids: Sequence[RunId]) -> None:
        for run_id in run_ids:
            self._send((queue, run_id))
        self.signal.set()

    def _send(self, message: tuple[str, RunId]) -> None:
        fate = "deliver" if self.is_reliable else self._random.choices(_FATES, _ODDS)[0]
        if fate in ("deliver", "double"):
            self._messages.append(message)
        if fate in ("delay", "double"):
            self._late.append(message)

    def deliver_late(self) -> int:
        """Deliver the delayed messages, in random order. Return how many."""
        arrived, self._late = self._late, []
        self._random.shuffle(arrived)
        self._messages += arrived
        return len(arrived)

    def empty(self) -> int:
        """Lose all messages. Return how many."""
        lost = len(self._messages) + len(self._late)
        self._messages.clear()
        self._late.clear()
        return lost

    async def take(self, queues: Sequence[str], limit: int) -> Sequence[RunId]:
        mine = [message for message in self._messages if message[0] in queues][:limit]
        for message in mine:
            self._messages.remove(message)
        return [run_id for _, run_id in mine]

    async def done(self, run_ids: Sequence[RunId]) -> None:
        """Do nothing: `take` has removed the messages."""

    async def close(self) -> None:
        """Do nothing: the broker outlives every process."""
