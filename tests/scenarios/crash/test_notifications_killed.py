"""Processes killed between the end of a run and the delivery of its message: each message arrives, with one id."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Final

import pytest

from foliot.ports.deliveries import DeliveryState
from tests.adapters.outbound.servers import Server, reply
from tests.scenarios.crash.chance import a_chance
from tests.scenarios.crash.process import KILLED, FoliotProcess
from tests.scenarios.crash.stage import Stage

APP: Final = "tests.scenarios.crash.notify_app:app"
_HASTE: Final = ("--lease", "1", "--poll", "0.1")
_KEY: Final = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
POINTS: Final = tuple(
    f"{verb}.{side}_commit"
    for verb in ("add_deliveries", "take_deliveries", "settle_deliveries")
    for side in ("before", "after")
)


@pytest.fixture
async def receiver(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    async with Server({"/hook": reply(200)}) as running:
        monkeypatch.setenv("CRASH_HOOK", running.url("/hook"))
        monkeypatch.setenv("FOLIOT_SECRET_KEY", _KEY)
        yield running


def serve(stage: Stage, fault: str | None = None) -> FoliotProcess:
    return stage.start("foliot", "serve", APP, *_HASTE, fault=fault)


def ids_by_run(receiver: Server) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for asked in receiver.asked:
        found[json.loads(asked.body)["run_id"]].add(asked.headers["webhook-id"])
    return found


async def check(stage: Stage, receiver: Server, asked: set[str]) -> None:
    """Wait until every run was notified. Each has one id, and its delivery is stored as delivered."""
    await stage.until(lambda: ids_by_run(receiver).keys() >= asked, "each failed run was notified")
    ids = ids_by_run(receiver)
    assert ids.keys() == asked
    assert all(len(of_run) == 1 for of_run in ids.values())
    names = [name for of_run in ids.values() for name in of_run]

    async def are_delivered() -> bool:
        stored = await stage.storage.deliveries.get(names)
        return [one.state for one in stored] == [DeliveryState.DELIVERED] * len(names)

    await stage.until(are_delivered, "each delivery is stored as delivered")


@pytest.mark.proves("S4", "Z37")
async def test_a_process_killed_at_a_commit_of_a_delivery_loses_no_message(stage: Stage, receiver: Server) -> None:
    first = serve(stage)
    await stage.started(first)
    first.kill()
    asked: set[str] = set()
    for point in POINTS:
        asked.update(await stage.enqueue("broken"))
        doomed = serve(stage, point)
        assert await stage.ended(doomed) == KILLED, stage.logs()
        assert stage.fault_log.read_text() == point

    serve(stage)

    await check(stage, receiver, asked)


@pytest.mark.seeded
@pytest.mark.proves("S4")
async def test_processes_killed_at_any_moment_lose_no_message(stage: Stage, receiver: Server) -> None:
    chance = a_chance()
    asked: set[str] = set()
    running = serve(stage)
    await stage.started(running)
    for _ in range(4):
        asked.update(await stage.enqueue("broken", 5))
        await stage.moment(chance, 0.5)
        running.kill()
        running = serve(stage)
        await stage.started(running)

    await check(stage, receiver, asked)
