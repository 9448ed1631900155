"""Answers to requests with an idempotency key."""

from foliot.adapters.storage.shared.request_rows import begun_of
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.domain.access.request import KEPT_FOR, TAKEOVER_AFTER, Begun, NewRequest, RequestKey, StoredAnswer
from foliot.domain.instant import Instant


class SqliteRequests(PortBase):
    """Fills `ports.requests.Requests`."""

    async def begin(self, key: RequestKey, digest: bytes, resource_id: str, *, at: Instant | None = None) -> Begun:
        def work(tx: Transaction) -> Begun:
            now = tx.now(at)
            tx.run(SQL["expire_request"], (*key, now))
            times = (now, now + KEPT_FOR)
            if tx.run(SQL["begin_request"], (*key, digest, resource_id, *times)):
                return NewRequest(resource_id)
            if tx.run(SQL["take_over_request"], (*key, digest, now, now - TAKEOVER_AFTER)):
                return NewRequest(tx.value(SQL["request_resource"], key))
            return begun_of(tx.row(SQL["get_request"], key), digest)

        return await self._writer.submit("begin_request", work)

    async def complete(self, key: RequestKey, answer: StoredAnswer) -> None:
        await self._writer.submit("complete_request", lambda tx: tx.run(SQL["complete_request"], (*key, *answer)))

    async def abandon(self, key: RequestKey) -> None:
        await self._writer.submit("abandon_request", lambda tx: tx.run(SQL["abandon_request"], key))
