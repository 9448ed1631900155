"""Inputs that cannot be used fail the fanout before any child exists."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, TypeVar

import pytest

from foliot.domain.fanout.chunk import CHUNK_ITEMS
from foliot.domain.fanout.item import encode_value
from foliot.domain.instant import MINUTE, Millis
from foliot.domain.job.job import Options
from foliot.domain.run.run import Status
from foliot.engine.coordinator.inputs import Inputs
from foliot.errors import InputsUnavailable
from foliot.ports.resolver import ResolveRequest
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Another
from foliot.testing.invariants import check_invariants
from foliot.testing.simulation.faults import Hiccup
from tests.engine.fanouts import FanoutRig, summary
from tests.engine.rig import LEASE


@pytest.fixture
def rig(storage: Storage, clock: VirtualClock) -> FanoutRig:
    return FanoutRig(storage, clock)


@pytest.mark.proves("F8")
@pytest.mark.parametrize(
    ("items", "limits", "error"),
    [
        (["a"] * 3, {"max_items": 2}, "there are more than 2 items"),
        (["a"] * (CHUNK_ITEMS + 2), {"max_items": CHUNK_ITEMS + 1}, f"there are more than {CHUNK_ITEMS + 1} items"),
        (["a", "bbbb"], {"max_item_size": 3}, "item 1 has more than 3 bytes"),
        (["aaaa", "bbbb"], {"max_input_size": 11}, "the items have more than 11 bytes together"),
        (["a", "b\0c"], {}, "item b'b\\x00c' contains a NUL byte"),
        (None, {}, "there are no items, not even an empty list"),
        ({"a": 1}, {}, "the items are an object, not a list and not text"),
        (7, {}, "the items are a number, not a list and not text"),
    ],
)
async def test_a_fanout_with_unusable_items_fails_and_has_no_children(
    rig: FanoutRig, items: Any, limits: dict[str, int], error: str
) -> None:
    run_id = await rig.start(items, reducer={"kind": "stage", "run_on": "always"}, **limits)

    run = await rig.go_on(run_id)

    assert (run.status, run.reason) == (Status.FAILED, "inputs")
    assert run.error is not None
    assert run.error.startswith(error)
    assert [run.id for run in await rig.runs()] == [run_id]
    assert await rig.storage.items.count(run_id) is None


@pytest.mark.parametrize(
    ("items", "limits"),
    [
        (["a"] * 2, {"max_items": 2}),
        (["abc", "d" * 3], {"max_item_size": 3}),
        (['"""', "\n\t\\"], {"max_item_size": 3}),
        (["aaaa", "bbbb"], {"max_input_size": 12}),
    ],
)
async def test_items_at_a_limit_are_accepted(rig: FanoutRig, items: list[str], limits: dict[str, int]) -> None:
    run = await rig.go_on(await rig.start(items, **limits))

    assert (run.status, summary(run)["items"]) == (Status.SUCCESS, 2)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a\nb\r\n\n  \nc", ["a", "b", "c"]),
        ("one\u2028line\x0b\x0c\x1c\x85", ["one\u2028line\x0b\x0c\x1c\x85"]),
        ("", []),
    ],
)
async def test_items_of_a_text_are_its_lines(rig: FanoutRig, text: str, items: list[str]) -> None:
    run = await rig.go_on(await rig.start(text))

    assert (run.status, rig.runner.items) == (Status.SUCCESS, items)


async def test_items_may_be_any_json(rig: FanoutRig) -> None:
    items = [{"host": "a", "ports": [1, 2]}, None, 3.5, "text", ["x"], True, {"item_base64": "%"}]

    run = await rig.go_on(await rig.start(items, concurrency=1))

    assert (run.status, rig.runner.items) == (Status.SUCCESS, items)
    texts = [attempt.environment["FANOUT_ITEM"] for attempt in rig.runner.attempts]
    assert texts[:4] == ['{"host":"a","ports":[1,2]}', "null", "3.5", "text"]


async def test_a_source_without_a_resolver_fails_the_fanout(rig: FanoutRig) -> None:
    run = await rig.go_on(await rig.start(inputs_from="gopher://items"))

    assert (run.status, run.reason) == (Status.FAILED, "inputs")
    assert run.error is not None
    assert "no resolver for 'gopher'" in run.error


S = TypeVar("S", bound="Source")


class Source:
    """A resolver whose items change with each call."""

    def check(self, uri: str) -> None:
        pass

    def __init__(self, *results: Sequence[Any] | Exception) -> None:
        self._results = list(results)
        self.calls = 0

    async def resolve(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        self.calls += 1
        result = self._results[min(self.calls, len(self._results)) - 1]
        if isinstance(result, Exception):
            raise result
        yield [encode_value(item) for item in result]


def with_source(rig: FanoutRig, source: S) -> S:
    starter = rig.coordinator._starter
    starter._inputs = Inputs(rig.storage.items, {"test": source}, rig.clock)
    return source


@pytest.mark.proves("F1")
@pytest.mark.parametrize("verb", ["open", "load"])
async def test_inputs_are_resolved_once_although_the_fanout_is_opened_twice(
    rig: FanoutRig, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    async def away(*_: object) -> object:
        raise Hiccup("away")

    source = with_source(rig, Source(["a", "b"], ["other"]))
    run_id = await rig.start(inputs_from="test://items")
    with monkeypatch.context() as trouble:
        trouble.setattr(rig.storage.trees, verb, away)
        await rig.turn()

    run = await rig.go_on(run_id)

    assert (run.status, rig.runner.items, source.calls) == (Status.SUCCESS, ["a", "b"], 1)


@pytest.mark.proves("R0-82")
async def test_each_fanout_resolves_its_inputs_again(rig: FanoutRig) -> None:
    with_source(rig, Source(["a"], ["b", "c"]))

    for _ in range(2):
        await rig.go_on(await rig.start(inputs_from="test://items"))

    assert rig.runner.items == ["a", "b", "c"]


@pytest.mark.parametrize(
    "error", [InputsUnavailable("the file does not exist"), OSError("Input/output error"), ValueError("a defect")]
)
async def test_a_source_that_cannot_be_read_fails_the_fanout(rig: FanoutRig, error: Exception) -> None:
    with_source(rig, Source(error))

    run = await rig.go_on(await rig.start(inputs_from="test://items"))

    assert (run.status, str(error) in (run.error or "")) == (Status.FAILED, True)
    assert len(await rig.runs()) == 1


class SlowSource(Source):
    """A resolver that yields a full chunk and waits before the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def resolve(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        yield [encode_value("stale")] * (CHUNK_ITEMS + 1)
        await self.go_on.wait()
        yield [encode_value("stale")]


async def test_a_fanout_cancelled_while_its_inputs_are_read_has_no_children(rig: FanoutRig) -> None:
    with_source(rig, SlowSource())
    run_id = await rig.start(inputs_from="test://items")
    await rig.turn()
    assert await rig.status(run_id) is Status.RUNNING

    await rig.storage.orders.cancel([run_id])
    run = await rig.go_on(run_id)

    assert (run.status, run.reason) == (Status.CANCELLED, "cancelled")
    assert len(await rig.runs()) == 1


async def test_the_timeout_of_a_fanout_includes_the_time_to_read_its_inputs(rig: FanoutRig) -> None:
    with_source(rig, SlowSource())
    run_id = await rig.start(inputs_from="test://items", options=Options(timeout=Millis(MINUTE)))
    await rig.turn()

    rig.clock.advance(MINUTE)
    run = await rig.go_on(run_id)

    assert (run.status, run.reason, len(await rig.runs())) == (Status.TIMEOUT, "timeout", 1)


async def test_a_stopped_coordinator_gives_a_fanout_back_while_its_inputs_are_read(
    storage: Storage, another: Another, clock: VirtualClock
) -> None:
    rig = FanoutRig(storage, clock)
    with_source(rig, SlowSource())
    run_id = await rig.start(inputs_from="test://items")
    await rig.turn()

    await rig.coordinator.worker.drain(Millis(0))
    newcomer = FanoutRig(await another(), clock)
    with_source(newcomer, Source(["a"]))
    run = await newcomer.go_on(run_id)

    assert (run.status, run.attempt, newcomer.runner.items) == (Status.SUCCESS, 1, ["a"])


@pytest.mark.proves("F1")
async def test_items_of_a_coordinator_that_lost_its_lease_are_not_used(
    storage: Storage, another: Another, clock: VirtualClock
) -> None:
    rig = FanoutRig(storage, clock, lease=LEASE)
    slow = with_source(rig, SlowSource())
    run_id = await rig.start(inputs_from="test://items")
    await rig.turn()
    assert len(await storage.items.read(run_id, 0, 10)) == 10

    clock.advance(2 * LEASE)
    newcomer = FanoutRig(await another(), clock, lease=LEASE)
    with_source(newcomer, Source(["a", "b"]))
    await newcomer.reaper.round()
    await newcomer.turn()
    slow.go_on.set()
    await rig.open_trees()
    run = await newcomer.go_on(run_id)

    assert (run.status, summary(run)["items"], newcomer.runner.items) == (Status.SUCCESS, 2, ["a", "b"])
    assert await check_invariants(storage, now=clock.now()) == []
