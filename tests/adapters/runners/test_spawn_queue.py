"""SpawnQueue: a launch that finds none waits for another run to end, but not for ever."""

import asyncio
import errno
from collections.abc import Callable
from contextlib import suppress

import pytest

from foliot.adapters.runners.process.spawn.program import ProcessNotWatched
from foliot.adapters.runners.process.spawn.spawn_queue import SpawnQueue
from foliot.domain.instant import MINUTE, SECOND
from foliot.testing.clock import VirtualClock

WANTS = [errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM]


class Launcher:
    """Starts nothing while something is wanting."""

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


def nobody(_error: OSError) -> None:
    """Does not want to know."""


def waiting(
    queue: SpawnQueue, launcher: Callable[[], str], told: Callable[[OSError], None] = nobody
) -> "asyncio.Task[str]":
    return asyncio.create_task(queue.start(launcher, told))


async def settle() -> None:
    """Let all tasks go as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize("number", WANTS)
async def test_a_want_is_waited_for_until_another_run_has_ended(queue: SpawnQueue, number: int) -> None:
    launcher = Launcher(OSError(number, "none left"))
    with queue.running():
        launch = waiting(queue, launcher)
        await settle()
        launcher.error = None
        assert not launch.done()
    await settle()

    assert launch.result() == "started"
    assert launcher.tries == 2


@pytest.mark.parametrize("number", WANTS)
async def test_with_nothing_under_way_there_is_nothing_to_wait_for(queue: SpawnQueue, number: int) -> None:
    launcher = Launcher(OSError(number, "none left"))

    with pytest.raises(OSError, match="none left"):
        await queue.start(launcher, nobody)
    assert launcher.tries == 1


@pytest.mark.parametrize(
    "error", [FileNotFoundError(errno.ENOENT, "no"), ProcessNotWatched(errno.EAGAIN, "no")], ids=repr
)
async def test_another_fault_is_no_want(queue: SpawnQueue, error: OSError) -> None:
    launcher = Launcher(error)

    with queue.running(), pytest.raises(OSError, match="no"):
        await queue.start(launcher, nobody)
    assert launcher.tries == 1


async def test_the_last_run_that_ends_without_making_room_ends_the_wait(queue: SpawnQueue) -> None:
    launcher = Launcher(OSError(errno.EMFILE, "none left"))
    with queue.running():
        launch = waiting(queue, launcher)
        await settle()
    await settle()

    with pytest.raises(OSError, match="none left"):
        launch.result()


async def test_room_that_others_make_is_found_within_a_second(queue: SpawnQueue, clock: VirtualClock) -> None:
    launcher = Launcher(OSError(errno.ENFILE, "none left"))
    with queue.running():
        launch = waiting(queue, launcher)
        await settle()
        launcher.error = None
        clock.advance(SECOND)
        await settle()

        assert launch.result() == "started"


async def test_nobody_waits_longer_than_ten_minutes(queue: SpawnQueue, clock: VirtualClock) -> None:
    launcher = Launcher(OSError(errno.EMFILE, "none left"))
    with queue.running():
        launch = waiting(queue, launcher)
        for second in range(10 * MINUTE // SECOND):
            await settle()
            assert not launch.done(), second
            clock.advance(SECOND)
        await settle()

        with pytest.raises(OSError, match="none left"):
            launch.result()


async def test_those_that_wait_begin_in_their_order_and_all_that_fit(queue: SpawnQueue) -> None:
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


async def test_nobody_goes_past_those_that_wait(queue: SpawnQueue) -> None:
    first, second = Launcher(OSError(errno.EMFILE, "none left")), Launcher()
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


async def test_of_those_that_wait_only_the_first_tries_as_time_passes(queue: SpawnQueue, clock: VirtualClock) -> None:
    first, second = Launcher(OSError(errno.EMFILE, "none left")), Launcher()
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


async def test_those_behind_the_first_wait_no_longer_than_ten_minutes_either(
    queue: SpawnQueue, clock: VirtualClock
) -> None:
    with queue.running():
        launches = [waiting(queue, Launcher(OSError(errno.EMFILE, "none left"))) for _ in range(3)]
        for _ in range(10 * MINUTE // SECOND):
            await settle()
            clock.advance(SECOND)
        await settle()

        assert [str(launch.exception()) for launch in launches] == ["[Errno 24] none left"] * 3


async def test_when_nothing_is_under_way_any_more_each_is_tried_once_more(queue: SpawnQueue) -> None:
    launchers = [Launcher(OSError(errno.EMFILE, "none left")) for _ in range(3)]
    with queue.running():
        launches = [waiting(queue, launcher) for launcher in launchers]
        await settle()
    await settle()

    assert [str(launch.exception()) for launch in launches] == ["[Errno 24] none left"] * 3
    assert [launcher.tries for launcher in launchers] == [2, 1, 1]


async def test_the_wait_is_told_once(queue: SpawnQueue, clock: VirtualClock) -> None:
    told: list[OSError] = []
    with queue.running():
        launch = waiting(queue, Launcher(OSError(errno.EMFILE, "none left")), told.append)
        for _ in range(3):
            await settle()
            clock.advance(SECOND)
        assert [error.errno for error in told] == [errno.EMFILE]
        launch.cancel()
        await settle()


async def test_a_cancelled_wait_ends_at_once_and_stands_in_nobodys_way(queue: SpawnQueue) -> None:
    first, second = Launcher(OSError(errno.EMFILE, "none left")), Launcher(OSError(errno.EMFILE, "none left"))
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
