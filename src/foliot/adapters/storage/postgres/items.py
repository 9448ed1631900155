"""The items of fanouts."""

from functools import partial

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.postgres.rows.results import read_results
from foliot.adapters.storage.shared.item_rows import encode_items, item_run_of, items_in
from foliot.domain.fanout.chunk import ItemChunk
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.ids import RunId
from foliot.domain.run.lease import Claim
from foliot.ports.items import ItemRun


class PostgresItems:
    """Fills `ports.items.ItemStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, run_id: RunId) -> int | None:
        count: int | None = await self._database.value("item_count", run_id)
        return count

    async def append(self, run_id: RunId, chunk: ItemChunk, *, claim: Claim | None = None) -> bool:
        return await self._database.write("append_items", partial(_append, run_id=run_id, chunk=chunk, claim=claim))

    async def read(self, run_id: RunId, first: int, limit: int) -> list[bytes]:
        rows = await self._database.rows("items_between", [run_id], [first], [first + limit])
        return items_in(run_id, [row[1:] for row in rows], first, limit)

    async def started(self, run_id: RunId) -> int:
        key: str | None = await self._database.value("last_child_key", run_id)
        return 0 if key is None else int(key) + 1

    async def children(
        self, run_id: RunId, *, after: str = "", limit: int = 1_000, unsuccessful: bool = False
    ) -> list[ItemRun]:
        query = "unsuccessful_children" if unsuccessful else "children"
        return [item_run_of(tuple(row)) for row in await self._database.rows(query, run_id, after, limit)]

    async def results(self, run_id: RunId, query: ResultQuery) -> list[ChildResult]:
        return await self._database.snapshot(lambda snapshot: read_results(snapshot, run_id, query))


async def _append(transaction: Transaction, *, run_id: RunId, chunk: ItemChunk, claim: Claim | None) -> bool:
    if claim is not None and not await transaction.rows("lock_lease", claim.run_id, claim.token, claim.worker_id):
        return False
    if await transaction.value("item_count", run_id) is not None:
        return True
    if chunk.first == 0:
        await transaction.run("remove_items", run_id)
    body = encode_items(chunk).decode()
    await transaction.run("add_items", run_id, chunk.first, len(chunk.documents), chunk.is_last, body)
    return True
