"""The spawn queue: a start that fails by a shortage waits for another run to end, for a limited time."""

import asyncio
import errno
from collections.abc import Callable
from contextlib import suppress

import pytest

from foliot.adapters.runners.process.spawn.program import ProcessNotWatched
from foliot.adapters.runners.process.spawn.spawn_queue import SpawnQueue
from foliot.domain.instant import MINUTE, SECOND
from foliot.testing.clock import VirtualClock

SHORTAGES = [errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM]


class FakeStart:
    """A start that fails while it has an error."""

    def __init__(self, error: OSError | None = None) -> None:
        self.error = error
        self.tries = 0

    def __call__(self) -> str:
        self.tries += 1
        if self.error is not None:
            raise self.error
        return "started"


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def queue(clock: VirtualClock) -> SpawnQueue:
    return SpawnQueue(clock)


def ignore(_error: OSError) -> None:
    """Ignore the wait."""


def waiting(
    queue: SpawnQueue, launcher: Callable[[], str], told: Callable[[OSError], None] = ignore
) -> "asyncio.Task[str]":
    return asyncio.create_task(queue.start(launcher, told))


async def settle() -> None:
    """Let all tasks run until they wait."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize("number", SHORTAGES)
async def test_a_start_that_fails_by_a_shortage_waits_until_another_run_has_ended(
    queue: SpawnQueue, number: int
) -> None:
    launcher = FakeStart(OSError(number, "none left"))
    with queue.running():
        launch = waiting(queue, launcher)
        await settle()
        launcher.error = None
        assert not launch.done()
    await settle()

    assert launch.result() == "started"
    assert launcher.tries == 2


@pytest.mark.parametrize("number", SHORTAGES)
async def test_a_shortage_fails_immediately_if_no_run_is_running(queue: SpawnQueue, number: int) -> None:
    launcher = FakeStart(OSError(number, "none left"))

    with pytest.raises(OSError, match="none left"):
        await queue.start(launcher, ignore)
    assert launcher.tries == 1


@pytest.mark.parametrize(
    "error", [FileNotFoundError(errno.ENOENT, "no"), ProcessNotWatched(errno.EAGAIN, "no")], ids=repr
)
async def test_an_error_that_is_not_a_shortage_fails_immediately(queue: SpawnQueue, error: OSError) -> None:
    launcher = FakeStart(error)

    with queue.running(), pytest.raises(OSError, match="no"):
        await queue.start(launcher, ignore)
    assert launcher.tries == 1


async def test_the_wait_ends_when_the_last_run_ended_and_the_shortage_remains(queue: SpawnQueue) -> None:
    launcher = FakeStart(OSError(errno.EMFILE, "none left"))
    with queue.running():
        launch = waiting(queue, launcher)
        await settle()
    await settle()

    with pytest.raises(OSError, match="none left"):
        launch.result()


async def test_resources_freed_by_others_are_found_within_a_second(queue: SpawnQueue, clock: VirtualClock) -> None:
    launcher = FakeStart(OSError(errno.ENFILE, "none left"))
    with queue.running():
        launch = waiting(queue, launcher)
        await settle()
        launcher.error = None
        clock.advance(SECOND)
        await settle()

        assert launch.result() == "started"


async def test_a_start_waits_at_most_ten_minutes(queue: SpawnQueue, clock: VirtualClock) -> None:
    launcher = FakeStart(OSError(errno.EMFILE, "none left"))
    with queue.running():
        launch = waiting(queue, launcher)
        for second in range(10 * MINUTE // SECOND):
            await settle()
            assert not launch.done(), second
            clock.advance(SECOND)
        await settle()

        with pytest.raises(OSError, match="none left"):
            launch.result()


async def test_waiting_starts_begin_in_order_as_far_as_resources_last(queue: SpawnQueue) -> None:
    free = 0
    begun: list[int] = []

    def launcher(number: int) -> Callable[[], str]:
        def start() -> str:
            if len(begun) >= free:
                raise OSError(errno.EMFILE, "none left")
            begun.append(number)
            return "started"

        return start

    with queue.running(), queue.running():
        launches = [waiting(queue, launcher(number)) for number in range(3)]
        await settle()
        free = 2
        with queue.running():
            pass
        await settle()
        assert begun == [0, 1]
        launches[2].cancel()
        await settle()


async def test_a_new_start_does_not_overtake_waiting_ones(queue: SpawnQueue) -> None:
    first, second = FakeStart(OSError(errno.EMFILE, "none left")), FakeStart()
    told: list[OSError] = []
    with queue.running():
        waiting(queue, first)
        await settle()
        late = waiting(queue, second, told.append)
        await settle()

        assert second.tries == 0
        assert [error.errno for error in told] == [errno.EMFILE]
        first.error = None
    await settle()
    assert late.result() == "started"


async def test_only_the_first_waiting_start_is_retried_every_second(queue: SpawnQueue, clock: VirtualClock) -> None:
    first, second = FakeStart(OSError(errno.EMFILE, "none left")), FakeStart()
    with queue.running():
        launches = [waiting(queue, first), waiting(queue, second)]
        for _ in range(3):
            await settle()
            clock.advance(SECOND)
        await settle()

        assert (first.tries, second.tries) == (4, 0)
        first.error = None
        clock.advance(SECOND)
        await settle()
        assert [launch.result() for launch in launches] == ["started"] * 2


async def test_later_waiting_starts_wait_at_most_ten_minutes_too(queue: SpawnQueue, clock: VirtualClock) -> None:
    with queue.running():
        launches = [waiting(queue, FakeStart(OSError(errno.EMFILE, "none left"))) for _ in range(3)]
        for _ in range(10 * MINUTE // SECOND):
            await settle()
            clock.advance(SECOND)
        await settle()

        assert [str(launch.exception()) for launch in launches] == ["[Errno 24] none left"] * 3


async def test_each_waiting_start_is_tried_once_more_when_no_run_is_left(queue: SpawnQueue) -> None:
    launchers = [FakeStart(OSError(errno.EMFILE, "none left")) for _ in range(3)]
    with queue.running():
        launches = [waiting(queue, launcher) for launcher in launchers]
        await settle()
    await settle()

    assert [str(launch.exception()) for launch in launches] == ["[Errno 24] none left"] * 3
    assert [launcher.tries for launcher in launchers] == [2, 1, 1]


async def test_on_wait_is_called_once(queue: SpawnQueue, clock: VirtualClock) -> None:
    told: list[OSError] = []
    with queue.running():
        launch = waiting(queue, FakeStart(OSError(errno.EMFILE, "none left")), told.append)
        for _ in range(3):
            await settle()
            clock.advance(SECOND)
        assert [error.errno for error in told] == [errno.EMFILE]
        launch.cancel()
        await settle()


async def test_a_cancelled_wait_ends_and_does_not_block_others(queue: SpawnQueue) -> None:
    first, second = FakeStart(OSError(errno.EMFILE, "none left")), FakeStart(OSError(errno.EMFILE, "none left"))
    with queue.running():
        with queue.running():
            launches = [waiting(queue, first), waiting(queue, second)]
            await settle()
            second.error = None
        launches[0].cancel()
        with suppress(asyncio.CancelledError):
            await launches[0]
        await settle()

        assert launches[0].cancelled()
        assert launches[1].result() == "started"
