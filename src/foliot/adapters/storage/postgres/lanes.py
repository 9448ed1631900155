"""Which lanes a worker claims from (`domain.run.lane`).

Most runs need nothing special, and their claims should not pay for a look at other lanes. Therefore the special lanes
of a queue are read again only after a while, or if a claim has found fewer runs than it wanted.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from foliot.adapters.storage.postgres.database.transaction import Database
from foliot.adapters.storage.shared.rows import facts_of
from foliot.domain.ids import WorkerId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lane import TREES_QUEUE, lanes_between, missing_in, split_lane
from foliot.domain.run.lease import LOCAL, WorkerFacts

_VALID: Final = Millis(SECOND)
_WORKERS: Final = 10_000


class Lanes:
    """The special lanes with ready runs, and what the workers of this process offer."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._facts: dict[WorkerId, WorkerFacts] = {}
        """They never change: the id of a worker is new at every start."""
        self._special: dict[str, tuple[Millis, list[str]]] = {}

    async def facts(self, worker_id: WorkerId) -> WorkerFacts:
        """Return what a worker may have. One that is not registered gets no runs anyway."""
        found = self._facts.get(worker_id)
        if found is None:
            rows = await self._database.rows("facts_of_worker", worker_id)
            if not rows:
                return LOCAL
            if len(self._facts) >= _WORKERS:
                self._facts.clear()
            found = self._facts[worker_id] = facts_of(rows[0]["facts"])
        return found

    async def of(self, queues: list[str], offers: Collection[str]) -> list[str]:
        """Return the queues, with those of their special lanes that fit."""
        special = [lane for queue in queues for lane in await self._known(queue)]
        return [*queues, *_fitting(special, offers)]

    async def newer(self, queues: Sequence[str], worker_id: WorkerId, known: Collection[str] = ()) -> list[str]:
        """Return the special lanes that fit the worker, without those that are known."""
        special = [lane for queue in dict.fromkeys(queues) for lane in await self._read(queue)]
        offers = (await self.facts(worker_id)).offers if special else ()
        return [lane for lane in _fitting(special, offers) if lane not in known]

    async def is_plain(self, worker_id: WorkerId, queue: str) -> bool:
        """Return whether a worker gets runs of all kinds, and only from the plain lane of the queue."""
        facts = await self.facts(worker_id)
        return not facts.kinds and len(await self.of([queue], facts.offers)) == 1

    async def _known(self, queue: str) -> list[str]:
        until, lanes = self._special.get(queue, (Millis(0), []))
        return lanes if self._database.clock.elapsed() < until else await self._read(queue)

    async def _read(self, queue: str) -> list[str]:
        if queue == TREES_QUEUE:
            return []
        rows = await self._database.rows("ready_lanes", *lanes_between(queue))
        lanes: list[str] = [row[0] for row in rows]
        self._special[queue] = Millis(self._database.clock.elapsed() + _VALID), lanes
        return lanes


def _fitting(lanes: Iterable[str], offers: Collection[str]) -> list[str]:
    return [lane for lane in lanes if not missing_in(split_lane(lane)[1], offers)]
