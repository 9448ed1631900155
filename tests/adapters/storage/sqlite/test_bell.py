"""Ringing the bell wakes other processes."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from foliot.adapters.storage.sqlite.database.bell import SocketBell
from foliot.ports.topic import Topic
from tests.adapters.storage.sqlite.files import names

Maker = Callable[[], SocketBell]

MINUTE = 60_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "foliot.db"


@pytest.fixture
async def a_bell(path: Path) -> AsyncIterator[Maker]:
    made: list[SocketBell] = []

    def make() -> SocketBell:
        made.append(SocketBell(path, asyncio.get_running_loop()))
        return made[-1]

    yield make
    for bell in made:
        bell.close()


async def test_a_ring_wakes_every_other_process_and_only_for_its_topics(a_bell: Maker) -> None:
    here, there, elsewhere = a_bell(), a_bell(), a_bell()

    here.ring_others({Topic.RUNS, Topic.LATER})

    for bell in (there, elsewhere):
        await bell.signal(Topic.RUNS).wait()
        assert bell.signal(Topic.LATER).is_set()
        assert not bell.signal(Topic.CANCELS).is_set()
    assert not here.signal(Topic.RUNS).is_set()


@pytest.mark.parametrize("depth", [1, 4])
async def test_the_bell_works_with_a_long_path(tmp_path: Path, depth: int) -> None:
    directory = tmp_path.joinpath(*["a-directory-with-quite-a-long-name-indeed"] * depth)
    directory.mkdir(parents=True)
    loop = asyncio.get_running_loop()
    here, there = SocketBell(directory / "foliot.db", loop), SocketBell(directory / "foliot.db", loop)

    here.ring_others({Topic.SCHEDULES})
    await there.signal(Topic.SCHEDULES).wait()

    here.close()
    there.close()


async def test_the_socket_of_a_dead_process_is_removed(a_bell: Maker, path: Path) -> None:
    here = a_bell()
    leave_a_dead_socket(path)

    here.ring_others({Topic.RUNS})

    assert len(names(Path(f"{path}.bell"))) == 1


async def test_opening_a_bell_removes_the_sockets_of_dead_processes(a_bell: Maker, path: Path) -> None:
    leave_a_dead_socket(path)

    a_bell()

    assert len(names(Path(f"{path}.bell"))) == 1


async def test_a_process_that_opens_the_file_later_is_woken(a_bell: Maker, path: Path) -> None:
    here = a_bell()
    set_change(path, changed_at(path) - MINUTE)
    here.ring_others({Topic.RUNS})
    there = a_bell()

    here.ring_others({Topic.RUNS})

    await there.signal(Topic.RUNS).wait()


async def test_a_directory_that_was_just_changed_is_listed_again(a_bell: Maker, path: Path) -> None:
    """Two changes within one step of the file system's clock have the same time."""
    here = a_bell()
    before = changed_at(path)
    here.ring_others({Topic.RUNS})
    there = a_bell()
    set_change(path, before)

    here.ring_others({Topic.RUNS})

    await there.signal(Topic.RUNS).wait()


async def test_messages_with_unknown_topics_are_ignored(a_bell: Maker, path: Path) -> None:
    bell = a_bell()
    [name] = names(Path(f"{path}.bell"))
    stranger = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    stranger.sendto(b"\xff\x00 gossip cancels", f"{path}.bell/{name}")
    await bell.signal(Topic.CANCELS).wait()

    stranger.close()


async def test_a_receiver_with_a_full_buffer_does_not_block_the_sender(a_bell: Maker) -> None:
    here, deaf = a_bell(), a_bell()

    for _ in range(10_000):
        here.ring_others({Topic.RUNS})

    await deaf.signal(Topic.RUNS).wait()


async def test_a_lock_request_reaches_every_other_process_once(a_bell: Maker) -> None:
    here, there, elsewhere = a_bell(), a_bell(), a_bell()

    here.request_lock()
    here.ring_others({Topic.RUNS})  # received after the request

    for bell in (there, elsewhere):
        await bell.signal(Topic.RUNS).wait()
        assert bell.take_lock_request()
        assert not bell.take_lock_request()
    assert not here.take_lock_request()


async def test_a_process_that_has_the_file_open_requests_no_lock(a_bell: Maker) -> None:
    here, there = a_bell(), a_bell()

    there.ring_others({Topic.RUNS})
    await here.signal(Topic.RUNS).wait()

    assert not here.take_lock_request()


async def test_the_last_process_removes_the_directory(path: Path) -> None:
    loop = asyncio.get_running_loop()
    bells = [SocketBell(path, loop), SocketBell(path, loop)]

    for bell in bells:
        bell.close()

    assert names(path.parent) == []


@pytest.fixture
def make_sockets_impossible(path: Path) -> None:
    Path(f"{path}.bell").touch()


@pytest.mark.usefixtures("make_sockets_impossible")
async def test_a_bell_that_cannot_create_sockets_does_nothing(path: Path) -> None:
    bell = SocketBell(path, asyncio.get_running_loop())

    bell.ring_others({Topic.RUNS})
    bell.ring_here({Topic.RUNS})

    bell.request_lock()

    assert bell.signal(Topic.RUNS).is_set()
    assert not bell.take_lock_request()
    bell.close()


def changed_at(path: Path) -> int:
    return Path(f"{path}.bell").stat().st_mtime_ns


def set_change(path: Path, at: int) -> None:
    """Make the directory look as if it was last changed at this time."""
    os.utime(f"{path}.bell", ns=(at, at))


def leave_a_dead_socket(path: Path) -> None:
    Path(f"{path}.bell").mkdir(exist_ok=True)
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    dead.bind(f"{path}.bell/4711-dead")
    dead.close()
