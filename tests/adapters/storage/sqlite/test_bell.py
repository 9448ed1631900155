"""Ringing the bell wakes other processes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from foliot.adapters.storage.sqlite.database.bell import SocketBell
from foliot.ports.topic import Topic
from tests.adapters.storage.sqlite.files import names

Maker = Callable[[], SocketBell]


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


async def test_a_dead_process_is_not_a_peer(a_bell: Maker, path: Path) -> None:
    leave_a_dead_socket(path)

    bell = a_bell()

    assert len(names(Path(f"{path}.bell"))) == 1
    bell.ring_others({Topic.RUNS})
    assert not bell.has_peers


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


async def test_has_peers_is_true_while_another_process_is_open(a_bell: Maker) -> None:
    first = a_bell()
    assert not first.has_peers

    second = a_bell()
    first.ring_others({Topic.RUNS})

    assert first.has_peers
    assert second.has_peers


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

    assert bell.signal(Topic.RUNS).is_set()
    assert not bell.has_peers
    bell.close()


def leave_a_dead_socket(path: Path) -> None:
    Path(f"{path}.bell").mkdir(exist_ok=True)
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    dead.bind(f"{path}.bell/4711-dead")
    dead.close()
