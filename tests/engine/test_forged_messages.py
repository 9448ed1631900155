"""A client of the queue can name runs, but cannot start a run that is not ready."""

import pytest

from foliot.adapters.queue.memory import MemoryQueue
from foliot.domain.ids import RunId
from foliot.domain.instant import HOUR
from foliot.domain.run.run import Status
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from tests.engine.rig import Rig


@pytest.fixture
def rig(storage: Storage, clock: VirtualClock, queue: MemoryQueue) -> Rig:
    return Rig(storage, clock, queue=queue, slots=4)


@pytest.mark.proves("Z40")
async def test_a_forged_message_starts_no_run_that_is_not_ready(rig: Rig, queue: MemoryQueue) -> None:
    over, cancelled, later = await rig.enqueue(), await rig.enqueue(), await rig.enqueue(delay=HOUR)
    await rig.storage.orders.cancel([cancelled])
    await rig.work_off(2)
    gated = await rig.enqueue(is_gated=True)
    before = await rig.runs()

    await queue.announce("default", [over, cancelled, later, gated, RunId("0" * 26)] * 3)
    await rig.work_off(2)

    assert await rig.runs() == before
    assert [attempt.run_id for attempt in rig.stage.attempts] == [over]
    assert {run.id: run.status for run in before} == {
        over: Status.SUCCESS,
        cancelled: Status.CANCELLED,
        later: Status.SCHEDULED,
        gated: Status.SCHEDULED,
    }


@pytest.mark.proves("Z40")
async def test_a_message_with_additional_fields_is_dropped(rig: Rig, queue: MemoryQueue) -> None:
    run_id = await rig.enqueue(payload=b'"ours"')
    body = b'{"v":1,"run_id":"%s","payload":"theirs","spec":{"command":"touch canary"}}' % run_id.encode()

    queue.deliver("default", body)
    await rig.work_off(2)

    assert queue.dropped == 1
    assert [run.payload for run in await rig.runs()] == ["ours"]
