"""Makes due runs ready for workers, and announces them.

Scheduled runs that are due become ready. If a broker carries run ids, the head of each queue is announced, and runs
that stay unclaimed are announced again: a lost message delays a run but never loses it.
"""

import asyncio
from typing import Final

from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lane import TREES_QUEUE
from foliot.engine.loop import IMMEDIATELY
from foliot.ports.clock import Clock
from foliot.ports.queue import Queue
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic

BATCH: Final = 1_000
ANNOUNCED_PER_SLOT: Final = 4
ANNOUNCE_AGAIN: Final = Millis(10 * SECOND)
_ADMIT_EVERY: Final = Millis(5 * SECOND)


class Dispatcher:
    """The duty that moves runs from scheduled to queued."""

    name = "dispatcher"

    def __init__(
        self,
        storage: Storage,
        queue: Queue,
        clock: Clock,
        *,
        poll: Millis = SECOND,
        announce_again: Millis = ANNOUNCE_AGAIN,
    ) -> None:
        self._storage = storage
        self._queue = queue
        self._clock = clock
        self._poll = poll
        self._announce_again = announce_again
        self._announced: dict[RunId, Millis] = {}
        self._admitted_at = Millis(-_ADMIT_EVERY)

    @property
    def wake(self) -> asyncio.Event:
        return self._storage.signal(Topic.LATER)

    async def round(self) -> Millis | None:
        released = await self._storage.admission.release_due(BATCH)
        await self._repeat_admission()
        if self._queue.carries_ids:
            await self._announce()
        if released.count == BATCH:
            return IMMEDIATELY
        if released.next_due_at is None:
            return self._poll
        return Millis(max(0, min(self._poll, released.next_due_at - self._clock.now())))

    async def _repeat_admission(self) -> None:
        """Admit waiting runs regularly: a crash may have left free places unassigned."""
        if self._clock.elapsed() - self._admitted_at >= _ADMIT_EVERY:
            self._admitted_at = self._clock.elapsed()
            await self._storage.admission.admit(BATCH)

    async def _announce(self) -> None:
        slots = await self._live_slots()
        heads = {
            queue: await self._storage.admission.ready(queue, ANNOUNCED_PER_SLOT * n) for queue, n in slots.items()
        }
        now = self._clock.elapsed()
        ready = {run_id for head in heads.values() for run_id in head}
        self._announced = {run_id: at for run_id, at in self._announced.items() if run_id in ready}
        for queue, head in heads.items():
            due = [run_id for run_id in head if self._is_announcement_due(run_id, now)]
            if due:
                await self._queue.announce(queue, due)
                self._announced.update(dict.fromkeys(due, now))

    def _is_announcement_due(self, run_id: RunId, now: Millis) -> bool:
        announced_at = self._announced.get(run_id)
        return announced_at is None or now - announced_at >= self._announce_again

    async def _live_slots(self) -> dict[str, int]:
        slots: dict[str, int] = {}
        for state in await self._storage.admission.workers():
            if state.is_alive:
                for queue in set(state.worker.queues) - {TREES_QUEUE}:  # coordinators poll the storage
                    slots[queue] = slots.get(queue, 0) + state.worker.slots
        return slots
