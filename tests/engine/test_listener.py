"""A listener gets every event in order, at least once, in one process at a time if it has a name."""

import asyncio
from dataclasses import replace

import pytest

from foliot.domain.events import Event, EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.engine.listener import EventListener
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.node import Node
from foliot.engine.settings import Settings
from foliot.ports.listeners import Subscription
from foliot.ports.storage import Storage
from foliot.testing.conformance.storage.scene import Another
from tests.engine.ease import ease
from tests.engine.rig import LEASE, Rig

NAME = "billing"


class Recorder:
    """Records the created runs of the events that it gets. May fail or wait."""

    def __init__(self) -> None:
        self.created: list[RunId] = []
        self.errors = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, event: Event) -> None:
        if self.errors:
            self.errors -= 1
            raise ConnectionError("no answer")
        await self.gate.wait()
        if event.kind is EventKind.RUNS_CREATED:
            self.created += [run_id for run_id, _ in event.items]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def listener(rig: Rig, recorder: Recorder, name: str | None = NAME, *, holder: str = "one") -> EventListener:
    return EventListener(rig.storage, rig.clock, Subscription(name, recorder), holder=holder, lease=LEASE)


@pytest.mark.parametrize("name", [None, NAME])
async def test_events_are_delivered_in_order_and_once(rig: Rig, recorder: Recorder, name: str | None) -> None:
    await rig.enqueue()
    own = listener(rig, recorder, name)
    await own.begin()
    created = [await rig.enqueue() for _ in range(250)]

    while await own.round() == IMMEDIATELY:
        pass
    await own.round()

    assert recorder.created == created


async def test_a_named_listener_continues_after_a_restart(rig: Rig, recorder: Recorder) -> None:
    first = listener(rig, recorder)
    await first.begin()
    before = await rig.enqueue()
    await first.round()
    await first.close()
    missed = await rig.enqueue()

    await listener(rig, recorder, holder="two").round()

    assert recorder.created == [before, missed]


async def test_an_unnamed_listener_gets_nothing_from_before_its_start(rig: Rig, recorder: Recorder) -> None:
    await rig.enqueue()
    own = listener(rig, recorder, None)
    await own.begin()
    await own.round()

    assert recorder.created == []


async def test_events_are_delivered_again_if_the_process_ends_before_the_position_is_saved(
    rig: Rig, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object) -> bool:
        raise ConnectionError("no answer")

    own = listener(rig, recorder)
    await own.begin()
    run_id = await rig.enqueue()
    with monkeypatch.context() as patch:
        patch.setattr(rig.storage.listeners, "advance", lost)
        with pytest.raises(ConnectionError):
            await own.round()
    rig.clock.advance(LEASE)

    await listener(rig, recorder, holder="two").round()

    assert recorder.created == [run_id, run_id]


async def test_a_delivery_that_raises_is_repeated_from_the_same_event(rig: Rig, recorder: Recorder) -> None:
    own = listener(rig, recorder)
    await own.begin()
    created = [await rig.enqueue() for _ in range(3)]
    recorder.errors = 1
    with pytest.raises(ConnectionError):
        await own.round()

    await own.round()

    assert recorder.created == created


async def test_one_process_delivers_until_its_lease_expires(rig: Rig, another: Another) -> None:
    here, there = Recorder(), Recorder()
    first = listener(rig, here)
    second = EventListener(await another(), rig.clock, Subscription(NAME, there), holder="two", lease=LEASE)
    await first.begin()
    run_id = await rig.enqueue()
    await second.round()
    await first.round()
    assert (here.created, there.created) == ([run_id], [])

    rig.clock.advance(LEASE)
    later = await rig.enqueue()
    await second.round()
    await first.round()

    assert (here.created, there.created) == ([run_id], [later])


async def test_a_slow_listener_keeps_its_lease(rig: Rig, recorder: Recorder, another: Another) -> None:
    own = listener(rig, recorder)
    other = EventListener(await another(), rig.clock, Subscription(NAME, Recorder()), holder="two", lease=LEASE)
    await own.begin()
    await rig.enqueue()
    recorder.gate.clear()
    slow = asyncio.create_task(own.round())
    for _ in range(10):
        rig.clock.advance(LEASE // 3)
        await ease()
        assert await other.round() == 2 * SECOND

    recorder.gate.set()
    await slow

    assert len(recorder.created) == 1


async def test_a_process_that_lost_the_listener_stops_delivering(
    rig: Rig, recorder: Recorder, another: Another
) -> None:
    """The process was suspended for longer than its lease."""
    await rig.job()
    own = listener(rig, recorder)
    await own.begin()
    created = [await rig.enqueue() for _ in range(3)]
    recorder.gate.clear()
    slow = asyncio.create_task(own.round())
    await ease()
    elsewhere: Storage = await another()
    rig.clock.advance(LEASE)
    assert await elsewhere.listeners.hold(NAME, "two", LEASE) is not None
    await ease()

    recorder.gate.set()
    await slow

    assert recorder.created == created[:1]


async def test_a_node_delivers_its_last_events_before_it_stops(rig: Rig, recorder: Recorder) -> None:
    parts = replace(rig.parts, subscriptions=[Subscription(None, recorder), Subscription(NAME, recorder)])
    node = Node(parts, Settings(label="node", lease=LEASE, poll=Millis(MINUTE)))
    await node.start()
    await ease()
    run_id = await rig.enqueue()

    await node.stop()

    assert recorder.created == [run_id] * 2
    assert await rig.storage.listeners.hold(NAME, "next", LEASE) is not None


async def test_a_node_without_subscriptions_reads_no_events(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(**_: object) -> list[Event]:
        raise AssertionError("a listener was started")

    monkeypatch.setattr(rig.storage.listeners, "newest", refused)
    monkeypatch.setattr(rig.storage.queries, "events", refused)
    node = Node(rig.parts, Settings(label="node", lease=LEASE))
    await node.start()
    await ease()
    names = {task.get_name() for task in asyncio.all_tasks()}
    await node.stop()

    assert not [name for name in names if name.startswith("listener")]
