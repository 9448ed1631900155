"""Claimed runs find their definitions while the cache drops some."""

import asyncio
from typing import Any

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.job.definition import tree_definition_id
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.engine.worker import consumer as consumer_module
from foliot.ports.storage import Storage
from foliot.ports.work import Exchanged
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease
from tests.engine.rig import Rig


@pytest.fixture
def remote(storage: Storage, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """A worker with two claim loops that caches two definitions."""
    monkeypatch.setattr(storage.work, "is_remote", True)
    monkeypatch.setattr(consumer_module, "FULL_CALL", 1)
    monkeypatch.setattr(consumer_module, "DEFINITIONS_CACHED", 2)
    return Rig(storage, clock, slots=20)


async def test_a_claim_may_return_more_definitions_than_are_cached(remote: Rig) -> None:
    runs = [await remote.enqueue(name) for name in "abcdef"]

    await remote.work_off(2)

    assert {await remote.status(run_id) for run_id in runs} == {Status.SUCCESS}


async def test_a_definition_stays_cached_during_a_claim_that_lists_it(
    remote: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remote.enqueue("a")
    await remote.work()
    exchange, is_answered = remote.storage.work.exchange, asyncio.Event()

    async def answer_late(*asked: Any, **given: Any) -> Exchanged:
        answer = await exchange(*asked, **given)
        await is_answered.wait()
        return answer

    again = await remote.enqueue("a")
    first, second = remote.worker.claim_loops
    with monkeypatch.context() as slow:
        slow.setattr(remote.storage.work, "exchange", answer_late)
        claiming = asyncio.create_task(first.round())
        await ease()
    others = [await remote.enqueue(name) for name in "bcdef"]
    await second.round()
    is_answered.set()
    await claiming
    await remote.save()

    assert {await remote.status(run_id) for run_id in (again, *others)} == {Status.SUCCESS}


async def test_a_cached_definition_is_not_requested_again(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    exchange = rig.storage.work.exchange

    async def count(*asked: Any, **given: Any) -> Exchanged:
        answer = await exchange(*asked, **given)
        sent.append(len(answer.definitions))
        return answer

    monkeypatch.setattr(rig.storage.work, "exchange", count)
    for _ in range(3):
        await rig.enqueue()
        await rig.work()

    assert [number for number in sent if number] == [1]


async def test_a_child_of_a_missing_tree_fails(rig: Rig) -> None:
    gone = RunId("01KDVDNA00000000000000ZZZZ")
    run_id = await rig.enqueue(definition_id=tree_definition_id(gone, JobId("report")))

    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.reason, rig.stage.attempts) == (Status.FAILED, Reason.HANDLER_MISSING, [])
