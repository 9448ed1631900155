"""The promises of a storage about deliveries of notifications."""

import asyncio
from typing import Any

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import DAY, HOUR, SECOND, Millis
from foliot.ports.deliveries import Delivery, DeliveryResult, DeliveryState, NewDelivery
from foliot.testing.builders import retention
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

DELIVERED, FAILED, PENDING = DeliveryState.DELIVERED, DeliveryState.FAILED, DeliveryState.PENDING
_LEASE = Millis(30 * SECOND)


def a_delivery(number: int = 1, **fields: Any) -> NewDelivery:
    given = NewDelivery(f"msg_{number}", "webhook", None, None, "webhook-a", {"n": number, "text": "ü \u2028"})
    return given._replace(**fields)


async def take(scene: Scene, limit: int = 10, **fields: Any) -> list[Delivery]:
    given = {"lease": _LEASE, "per_receiver": 10, **fields}
    return await scene.storage.deliveries.take(limit, **given, at=scene.now)


async def add(scene: Scene, *deliveries: NewDelivery) -> int:
    return await scene.storage.deliveries.add(deliveries, at=scene.now)


async def settle(scene: Scene, *results: DeliveryResult) -> None:
    await scene.storage.deliveries.settle(results, at=scene.now)


def ids(deliveries: list[Delivery]) -> list[str]:
    return [delivery.id for delivery in deliveries]


class DeliveryContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    async def test_a_delivery_is_stored_as_it_was_added(self, scene: Scene, another: Another) -> None:
        new = a_delivery(owner=JobId("report"), run_id=RunId("01"))
        assert await add(scene, new) == 1

        [found] = await (await another()).deliveries.get([new.id, "missing"])
        assert found[:6] == new
        assert found[6:] == (PENDING, 0, scene.now, scene.now, None, None)

    @pytest.mark.proves("S4")
    async def test_adding_a_delivery_again_changes_nothing(self, scene: Scene) -> None:
        await add(scene, a_delivery(1))
        [taken] = await take(scene)
        await settle(scene, DeliveryResult(taken.id, DELIVERED, "200 OK"))

        assert await add(scene, a_delivery(1), a_delivery(2)) == 1
        assert ids(await take(scene)) == ["msg_2"]

    async def test_a_taken_delivery_is_due_again_after_its_lease(self, scene: Scene) -> None:
        await add(scene, a_delivery())
        assert ids(await take(scene)) == ["msg_1"]
        scene.clock.advance(_LEASE - 1)
        assert await take(scene) == []

        scene.clock.advance(1)

        assert ids(await take(scene)) == ["msg_1"]

    async def test_two_processes_never_take_the_same_delivery(self, scene: Scene, another: Another) -> None:
        other = Scene(await another(), scene.clock)
        await add(scene, *(a_delivery(number) for number in range(40)))

        batches = await asyncio.gather(*(take(one, 5, per_receiver=5) for one in (scene, other) * 4))

        taken = [delivery.id for batch in batches for delivery in batch]
        assert len(taken) == len(set(taken))
        assert taken

    async def test_a_delivery_that_failed_is_due_after_the_delay(self, scene: Scene) -> None:
        await add(scene, a_delivery())
        await take(scene)
        await settle(scene, DeliveryResult("msg_1", PENDING, "503", Millis(2 * SECOND)))

        assert await scene.storage.deliveries.next_due() == scene.after(2 * SECOND)
        assert await take(scene) == []
        scene.clock.advance(2 * SECOND)
        [again] = await take(scene)
        assert (again.attempts, again.answer) == (1, "503")

    async def test_a_delivery_that_is_over_is_not_taken_and_keeps_its_result(self, scene: Scene) -> None:
        await add(scene, a_delivery())
        await take(scene)
        await settle(scene, DeliveryResult("msg_1", DELIVERED, "200 OK"))
        await settle(scene, DeliveryResult("msg_1", FAILED, "late"))
        scene.clock.advance(DAY)

        assert await take(scene) == []
        assert await scene.storage.deliveries.next_due() is None
        [found] = await scene.storage.deliveries.get(["msg_1"])
        assert (found.state, found.answer, found.attempts) == (DELIVERED, "200 OK", 1)

    async def test_a_receiver_with_many_deliveries_leaves_room_for_others(self, scene: Scene) -> None:
        await add(scene, *(a_delivery(number) for number in range(10, 30)))
        scene.clock.advance(SECOND)
        await add(scene, a_delivery(50, receiver="webhook-b"))

        taken = await take(scene, 10, per_receiver=2)

        assert ids(taken) == ["msg_10", "msg_11", "msg_50"]

    async def test_deliveries_of_busy_receivers_are_left(self, scene: Scene) -> None:
        await add(scene, a_delivery(1), a_delivery(2, receiver="webhook-b"))

        assert ids(await take(scene, busy=["webhook-a"])) == ["msg_2"]
        assert ids(await take(scene)) == ["msg_1"]

    async def test_failed_deliveries_are_listed_until_the_receiver_accepts_a_later_one(self, scene: Scene) -> None:
        await add(scene, a_delivery(1), a_delivery(2, receiver="webhook-b"), a_delivery(3))
        await settle(scene, DeliveryResult("msg_1", FAILED, "500"), DeliveryResult("msg_2", FAILED, "404"))
        failed = scene.storage.deliveries.failed
        assert ids(await failed(scene.now, limit=10)) == ["msg_1", "msg_2"]
        assert ids(await failed(scene.after(1), limit=10)) == []

        scene.clock.advance(SECOND)
        await settle(scene, DeliveryResult("msg_3", DELIVERED, "200 OK"))

        assert ids(await failed(scene.after(-HOUR), limit=10)) == ["msg_2"]

    async def test_an_answer_with_any_text_is_stored(self, scene: Scene) -> None:
        await add(scene, a_delivery())
        await settle(scene, DeliveryResult("msg_1", FAILED, "a\0b \ud800 " + "x" * 5_000))

        [found] = await scene.storage.deliveries.get(["msg_1"])
        assert found.answer is not None
        assert found.answer.startswith("ab ")
        assert len(found.answer) <= 500

    async def test_old_deliveries_are_removed_unless_they_are_pending(self, scene: Scene) -> None:
        await add(scene, a_delivery(1), a_delivery(2))
        await settle(scene, DeliveryResult("msg_1", DELIVERED, "200 OK"))
        scene.clock.advance(DAY)
        await add(scene, a_delivery(3))
        await settle(scene, DeliveryResult("msg_3", FAILED, "500"))

        await scene.prune(retention(events_age=HOUR))

        assert ids(await scene.storage.deliveries.get(["msg_1", "msg_2", "msg_3"])) == ["msg_2", "msg_3"]
