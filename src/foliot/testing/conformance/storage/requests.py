"""The promises of a storage about requests with an idempotency key."""

import asyncio

from foliot.domain.access.request import (
    KEPT_FOR,
    TAKEOVER_AFTER,
    KeyReused,
    NewRequest,
    RequestInProgress,
    RequestKey,
    StoredAnswer,
)
from foliot.domain.instant import Instant
from foliot.testing.builders import retention
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

KEY = RequestKey("token:ci", "k1")
DIGEST, OTHER = bytes(32), bytes(range(32))
ANSWER = StoredAnswer(201, bytes(range(256)))
START = Instant(1_000_000)


class RequestContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    async def test_a_repeated_request_gets_the_stored_answer(self, scene: Scene, another: Another) -> None:
        assert await scene.storage.requests.begin(KEY, DIGEST, "first") == NewRequest("first")
        await scene.storage.requests.complete(KEY, ANSWER)

        assert await (await another()).requests.begin(KEY, DIGEST, "second") == ANSWER

    async def test_a_request_without_an_answer_is_in_progress(self, scene: Scene) -> None:
        await scene.storage.requests.begin(KEY, DIGEST, "first")

        assert await scene.storage.requests.begin(KEY, DIGEST, "second") == RequestInProgress()

    async def test_another_request_with_the_same_key_is_a_conflict(self, scene: Scene) -> None:
        await scene.storage.requests.begin(KEY, DIGEST, "first")
        assert await scene.storage.requests.begin(KEY, OTHER, "second") == KeyReused()

        await scene.storage.requests.complete(KEY, ANSWER)
        assert await scene.storage.requests.begin(KEY, OTHER, "second") == KeyReused()

    async def test_keys_of_principals_are_independent(self, scene: Scene) -> None:
        await scene.storage.requests.begin(KEY, DIGEST, "first")

        other = KEY._replace(principal="token:other")
        assert await scene.storage.requests.begin(other, OTHER, "second") == NewRequest("second")

    async def test_of_concurrent_requests_with_one_key_one_is_carried_out(self, scene: Scene, another: Another) -> None:
        other = await another()
        begun = await asyncio.gather(
            *(storage.requests.begin(KEY, DIGEST, f"r{nth}") for nth in range(4) for storage in (scene.storage, other))
        )

        assert sum(isinstance(one, NewRequest) for one in begun) == 1
        assert sum(isinstance(one, RequestInProgress) for one in begun) == 7

    async def test_a_lost_request_is_carried_out_again_with_the_same_resource(self, scene: Scene) -> None:
        await scene.storage.requests.begin(KEY, DIGEST, "first", at=START)
        soon, later = Instant(START + TAKEOVER_AFTER - 1), Instant(START + TAKEOVER_AFTER)

        assert await scene.storage.requests.begin(KEY, DIGEST, "second", at=soon) == RequestInProgress()
        assert await scene.storage.requests.begin(KEY, OTHER, "second", at=later) == KeyReused()
        assert await scene.storage.requests.begin(KEY, DIGEST, "second", at=later) == NewRequest("first")
        assert await scene.storage.requests.begin(KEY, DIGEST, "third", at=later) == RequestInProgress()

    async def test_an_abandoned_request_can_be_repeated_at_once(self, scene: Scene) -> None:
        await scene.storage.requests.begin(KEY, DIGEST, "first")
        await scene.storage.requests.abandon(KEY)

        assert await scene.storage.requests.begin(KEY, OTHER, "second") == NewRequest("second")

    async def test_an_answer_is_neither_replaced_nor_abandoned(self, scene: Scene) -> None:
        await scene.storage.requests.begin(KEY, DIGEST, "first")
        await scene.storage.requests.complete(KEY, ANSWER)
        await scene.storage.requests.complete(KEY, StoredAnswer(500, b""))
        await scene.storage.requests.abandon(KEY)

        assert await scene.storage.requests.begin(KEY, DIGEST, "second") == ANSWER

    async def test_an_answer_is_kept_for_a_day(self, scene: Scene) -> None:
        await scene.storage.requests.begin(KEY, DIGEST, "first", at=START)
        await scene.storage.requests.complete(KEY, ANSWER)

        last = Instant(START + KEPT_FOR - 1)
        assert await scene.storage.requests.begin(KEY, DIGEST, "second", at=last) == ANSWER
        after = Instant(START + KEPT_FOR)
        assert await scene.storage.requests.begin(KEY, OTHER, "second", at=after) == NewRequest("second")

    async def test_pruning_removes_expired_requests_only(self, scene: Scene) -> None:
        old, new = KEY, KEY._replace(key="k2")
        now = scene.clock.now()
        await scene.storage.requests.begin(old, DIGEST, "first", at=Instant(now - KEPT_FOR))
        await scene.storage.requests.begin(new, DIGEST, "second", at=now)
        await scene.prune_to_the_end(retention(), limit=100)

        # Before its expiry, so that only a removed row is new.
        before = Instant(now - KEPT_FOR + 1)
        assert await scene.storage.requests.begin(old, OTHER, "third", at=before) == NewRequest("third")
        assert await scene.storage.requests.begin(new, DIGEST, "third", at=now) == RequestInProgress()
