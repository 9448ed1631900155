"""Answers to requests with an idempotency key."""

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.shared.request_rows import begun_of
from foliot.domain.access.request import KEPT_FOR, TAKEOVER_AFTER, Begun, NewRequest, RequestKey, StoredAnswer
from foliot.domain.instant import Instant


class PostgresRequests:
    """Fills `ports.requests.Requests`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, key: RequestKey, digest: bytes, resource_id: str, *, at: Instant | None = None) -> Begun:
        async def work(transaction: Transaction) -> Begun:
            now = await transaction.now(at)
            await transaction.run("expire_request", *key, now)
            times = (now, now + KEPT_FOR)
            # A concurrent insert of the same key is waited for here, and then seen by the next statement.
            if await transaction.value("begin_request", *key, digest, resource_id, *times) is not None:
                return NewRequest(resource_id)
            if await transaction.value("take_over_request", *key, digest, now, now - TAKEOVER_AFTER) is not None:
                return NewRequest(await transaction.value("request_resource", *key))
            rows = await transaction.rows("get_request", *key)
            return begun_of(rows[0] if rows else None, digest)

        # After a commit with a lost reply, the second try finds the request of the first one.
        return await self._database.write(
            "begin_request", work, merge=lambda first, second: first if isinstance(first, NewRequest) else second
        )

    async def complete(self, key: RequestKey, answer: StoredAnswer) -> None:
        await self._database.write(
            "complete_request", lambda transaction: transaction.run("complete_request", *key, *answer)
        )

    async def abandon(self, key: RequestKey) -> None:
        await self._database.write("abandon_request", lambda transaction: transaction.run("abandon_request", *key))
