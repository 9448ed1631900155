"""Messages that wait to be sent, and those that were."""

from collections.abc import Collection, Sequence

import msgspec

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.shared.delivery_rows import delivery_of, storable
from foliot.domain.instant import Instant, Millis
from foliot.ports.deliveries import Delivery, DeliveryResult, NewDelivery


class PostgresDeliveries:
    """Fills `ports.deliveries.Deliveries`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, deliveries: Sequence[NewDelivery], *, at: Instant | None = None) -> int:
        if not deliveries:
            return 0
        rows = [(*new[:5], msgspec.json.encode(new.document).decode()) for new in deliveries]
        ids, targets, owners, run_ids, receivers, documents = columns(rows)
        added = await self._database.write(
            "add_deliveries",
            lambda transaction: transaction.rows(
                "add_delivery", ids, targets, owners, run_ids, receivers, documents, at
            ),
        )
        return len(added)

    async def take(
        self, limit: int, *, lease: Millis, per_receiver: int, busy: Collection[str] = (), at: Instant | None = None
    ) -> list[Delivery]:
        async def work(transaction: Transaction) -> list[Delivery]:
            now = await transaction.now(at)
            rows = await transaction.rows("take_deliveries", now, list(busy), per_receiver, limit, now + lease)
            return sorted(map(delivery_of, rows), key=lambda delivery: (delivery.created_at, delivery.id))

        return await self._database.write("take_deliveries", work)

    async def settle(self, results: Sequence[DeliveryResult], *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            now = await transaction.now(at)
            for one in results:
                due_at = None if one.delay is None else now + one.delay
                answer = storable(one.answer)
                await transaction.run("settle_delivery", one.id, one.state.value, answer, due_at, now)

        await self._database.write("settle_deliveries", work)

    async def next_due(self) -> Instant | None:
        due_at: Instant | None = await self._database.value("next_delivery")
        return due_at

    async def get(self, delivery_ids: Collection[str]) -> list[Delivery]:
        return [delivery_of(row) for row in await self._database.rows("get_deliveries", list(delivery_ids))]

    async def failed(self, since: Instant, *, limit: int) -> list[Delivery]:
        return [delivery_of(row) for row in await self._database.rows("failed_deliveries", since, limit)]
