"""Messages that wait to be sent, and those that were."""

from collections.abc import Collection, Sequence

import msgspec

from foliot.adapters.storage.shared.delivery_rows import delivery_of, storable
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.domain.instant import Instant, Millis
from foliot.ports.deliveries import Delivery, DeliveryResult, NewDelivery


class SqliteDeliveries(PortBase):
    """Fills `ports.deliveries.Deliveries`."""

    async def add(self, deliveries: Sequence[NewDelivery], *, at: Instant | None = None) -> int:
        def work(tx: Transaction) -> int:
            now = tx.now(at)
            return sum(
                tx.run(
                    SQL["add_delivery"],
                    (*new[:5], msgspec.json.encode(new.document).decode(), now),
                )
                for new in deliveries
            )

        return await self._writer.submit("add_deliveries", work)

    async def take(
        self, limit: int, *, lease: Millis, per_receiver: int, busy: Collection[str] = (), at: Instant | None = None
    ) -> list[Delivery]:
        def work(tx: Transaction) -> list[Delivery]:
            now = tx.now(at)
            rows = tx.rows(SQL["take_deliveries"], (now, encode_names(busy), per_receiver, limit, now + lease))
            return sorted(map(delivery_of, rows), key=lambda delivery: (delivery.created_at, delivery.id))

        return await self._writer.submit("take_deliveries", work)

    async def settle(self, results: Sequence[DeliveryResult], *, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            now = tx.now(at)
            for one in results:
                due_at = None if one.delay is None else now + one.delay
                tx.run(SQL["settle_delivery"], (one.id, one.state.value, storable(one.answer), due_at, now))

        await self._writer.submit("settle_deliveries", work)

    async def next_due(self) -> Instant | None:
        due_at: Instant | None = await self._reader.read(lambda session: session.value(SQL["next_delivery"], ()))
        return due_at

    async def get(self, delivery_ids: Collection[str]) -> list[Delivery]:
        values = (encode_names(delivery_ids),)
        rows = await self._reader.read(lambda session: session.rows(SQL["get_deliveries"], values))
        return [delivery_of(row) for row in rows]

    async def failed(self, since: Instant, *, limit: int) -> list[Delivery]:
        rows = await self._reader.read(lambda session: session.rows(SQL["failed_deliveries"], (since, limit)))
        return [delivery_of(row) for row in rows]
