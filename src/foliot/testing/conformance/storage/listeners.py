"""The promises of a storage about listeners and their positions in the events."""

import asyncio

import pytest

from foliot.domain.events import EventKind
from foliot.domain.instant import DAY, HOUR, SECOND, Millis
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.progress import StepState
from foliot.testing.builders import LEASE, a_run, retention, succeeded
from foliot.testing.conformance.storage.scene import Another, Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    a_child,
    a_settlement,
    claim_child,
    opened,
    settle,
)

BILLING = "billing"


class ListenerContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    async def test_a_new_listener_begins_after_the_newest_event(self, scene: Scene) -> None:
        await scene.create(a_run())
        position = await hold(scene, "anna")
        [later] = await scene.create(a_run())

        assert position is not None
        events = await scene.storage.queries.events(after=position, limit=100)
        assert [item[0] for event in events for item in event.items] == [later]

    async def test_the_newest_position_is_after_all_events(self, scene: Scene) -> None:
        await scene.create(a_run())
        position = await scene.storage.listeners.newest()
        [later] = await scene.create(a_run())

        events = await scene.storage.queries.events(after=position, limit=100)
        assert [item[0] for event in events for item in event.items] == [later]

    async def test_a_listener_is_known_once_a_process_has_held_it(self, scene: Scene) -> None:
        assert not await scene.storage.listeners.is_known(BILLING)
        await scene.storage.listeners.hold(BILLING, "", Millis(0), at=scene.now)

        assert await scene.storage.listeners.is_known(BILLING)
        assert await hold(scene, "anna") is not None

    async def test_a_position_is_kept_for_the_next_holder(self, scene: Scene, another: Another) -> None:
        first = await hold(scene, "anna")
        assert first is not None
        assert await scene.storage.listeners.advance(BILLING, "anna", first + 7)
        await scene.storage.listeners.release(BILLING, "anna")

        other = Scene(await another(), scene.clock)
        assert await hold(other, "bert") == first + 7

    async def test_a_position_never_decreases(self, scene: Scene) -> None:
        first = await hold(scene, "anna")
        assert first is not None
        await scene.storage.listeners.advance(BILLING, "anna", first + 7)
        await scene.storage.listeners.advance(BILLING, "anna", first + 3)

        assert await hold(scene, "anna") == first + 7

    async def test_one_process_at_a_time_holds_a_listener(self, scene: Scene, another: Another) -> None:
        other = Scene(await another(), scene.clock)

        held = await asyncio.gather(hold(scene, "anna"), hold(other, "bert"))

        assert sum(position is not None for position in held) == 1

    async def test_listeners_with_different_names_are_independent(self, scene: Scene) -> None:
        assert await hold(scene, "anna") is not None
        assert await hold(scene, "bert", name="audit") is not None

    async def test_a_holder_stays_holder_while_it_renews(self, scene: Scene) -> None:
        await hold(scene, "anna")
        for _ in range(3):
            scene.clock.advance(LEASE - SECOND)
            assert await hold(scene, "anna") is not None

        assert await hold(scene, "bert") is None

    async def test_an_expired_holder_is_replaced_and_cannot_advance(self, scene: Scene) -> None:
        first = await hold(scene, "anna")
        assert first is not None
        scene.clock.advance(LEASE)

        assert await hold(scene, "bert") == first
        assert not await scene.storage.listeners.advance(BILLING, "anna", first + 1)
        assert await hold(scene, "anna") is None
        assert await hold(scene, "bert") == first

    async def test_only_the_holder_can_release(self, scene: Scene) -> None:
        await hold(scene, "anna")
        await scene.storage.listeners.release(BILLING, "bert")
        assert await hold(scene, "bert") is None

        await scene.storage.listeners.release(BILLING, "anna")
        assert await hold(scene, "bert") is not None

    async def test_events_are_removed_by_age_even_if_a_listener_has_not_read_them(self, scene: Scene) -> None:
        position = await hold(scene, "anna")
        assert position is not None
        await scene.create(a_run())
        scene.clock.advance(DAY)
        [young] = await scene.create(a_run())

        pruned = await scene.prune(retention(events_age=HOUR))

        assert pruned.events == 1
        events = await scene.storage.queries.events(after=position, limit=100)
        assert [item[0] for event in events for item in event.items] == [young]

    @pytest.mark.proves("R2-56")
    async def test_steps_that_start_and_resolve_write_events(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await claim_child(scene, execution)
        await scene.finish(succeeded(claim))
        load = a_child(execution.run_id, "load")
        changed = {
            "extract": StepState(0, result=Result.SUCCESS, run_id=claim.run_id),
            "load": StepState(0, run_id=load.id),
        }
        settlement = a_settlement(execution, notes=[claim.run_id], changed=changed, runs={"load": load})
        await settle(scene, settlement)
        await settle(scene, settlement)

        assert await scene.items(EventKind.STEPS_CHANGED) == [
            [execution.run_id, "extract", None],
            [execution.run_id, "load", None],
            [execution.run_id, "extract", "success"],
        ]


async def hold(scene: Scene, holder: str, *, name: str = BILLING) -> int | None:
    return await scene.storage.listeners.hold(name, holder, LEASE, at=scene.now)
