"""Leadership and events of a PostgreSQL storage; what is removed, and when, is in `pruning`."""

import asyncio
from copy import copy
from typing import Final

from foliot.adapters.storage.postgres.database import Database, Transaction
from foliot.adapters.storage.postgres.pruning import prune
from foliot.adapters.storage.postgres.statements import migrations
from foliot.adapters.storage.shared.pruning import Round
from foliot.adapters.storage.shared.rows import event_of
from foliot.domain.events import Event
from foliot.domain.instant import Instant, Millis
from foliot.errors import SchemaTooNew
from foliot.ports.upkeep import Pruned, Retention

_LOOKS: Final = 20
_PAUSE: Final = 0.01


class PostgresUpkeep:
    """Fills `ports.upkeep.Upkeep`."""

    def __init__(self, database: Database, vital: Database, project: str) -> None:
        self._database = database
        self._vital = vital
        self._project = project
        self._round = Round()

    async def lead(self, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        epoch: int | None = await self._vital.write(
            "lead", lambda transaction: transaction.value("lead", holder, ttl, at)
        )
        return epoch

    async def resign(self, holder: str) -> None:
        await self._vital.write("resign", lambda transaction: transaction.run("resign", holder))

    async def prune(self, retention: Retention, *, epoch: int, limit: int, at: Instant | None = None) -> Pruned | None:
        async def work(transaction: Transaction) -> tuple[Round, Pruned | None]:
            progress = copy(self._round)
            if await transaction.value("current_epoch") != epoch:
                return progress, None
            now = await transaction.now(at)
            pruned = await prune(transaction, self._project, progress, retention, now, limit)
            return progress.after(pruned, retention, limit)

        # Only what is committed has been gone through.
        self._round, pruned = await self._database.write("prune", work)
        return pruned

    async def check(self) -> None:
        least, newest = int(await self._vital.value("min_code")), max(migrations())
        if least > newest:
            raise SchemaTooNew(found=least, supported=newest)

    async def events(self, *, after: int, limit: int) -> list[Event]:
        """What is held back by a transaction under way is mostly free in a moment: a short wait spares a round."""
        for _ in range(_LOOKS):
            if found := await self._database.rows("events", after, limit):
                return [event_of(row) for row in found]
            if not await self._database.value("has_events", after):
                return []
            await asyncio.sleep(_PAUSE)
        return []
