"""The items of fanouts."""

from foliot.adapters.storage.shared.item_rows import encode_items, item_run_of, items_in
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.finish import held_lease
from foliot.adapters.storage.sqlite.rows.results import read_results
from foliot.domain.fanout.chunk import ItemChunk
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.ids import RunId
from foliot.domain.run.lease import Claim
from foliot.ports.items import ItemRun


class SqliteItems(PortBase):
    """Fills `ports.items.ItemStore`."""

    async def count(self, run_id: RunId) -> int | None:
        return await self._reader.read(lambda session: session.value(SQL["item_count"], (run_id,)))

    async def append(self, run_id: RunId, chunk: ItemChunk, *, claim: Claim | None = None) -> bool:
        return await self._writer.submit("append_items", lambda tx: _append(tx, run_id, chunk, claim))

    async def read(self, run_id: RunId, first: int, limit: int) -> list[bytes]:
        rows = await self._reader.read(
            lambda session: session.rows(SQL["items_between"], (run_id, first, first + limit))
        )
        return items_in(run_id, rows, first, limit)

    async def started(self, run_id: RunId) -> int:
        key = await self._reader.read(lambda session: session.value(SQL["last_child_key"], (run_id,)))
        return 0 if key is None else int(key) + 1

    async def children(
        self, run_id: RunId, *, after: str = "", limit: int = 1_000, unsuccessful: bool = False
    ) -> list[ItemRun]:
        query = SQL["unsuccessful_children" if unsuccessful else "children"]
        rows = await self._reader.read(lambda session: session.rows(query, (run_id, after, limit)))
        return [item_run_of(row) for row in rows]

    async def results(self, run_id: RunId, query: ResultQuery) -> list[ChildResult]:
        return await self._reader.read(lambda session: read_results(session, run_id, query))


def _append(tx: Transaction, run_id: RunId, chunk: ItemChunk, claim: Claim | None) -> bool:
    if claim is not None and held_lease(tx, claim) is None:
        return False
    if tx.value(SQL["item_count"], (run_id,)) is not None:
        return True
    if chunk.first == 0:
        tx.run(SQL["remove_items"], (run_id,))
    values = (run_id, chunk.first, len(chunk.documents), chunk.is_last, encode_items(chunk))
    tx.run(SQL["add_items"], values)
    return True
