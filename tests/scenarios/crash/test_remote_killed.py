"""A server and a remote worker, killed in turn while runs wait: every run ends, with the result of one attempt."""

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from foliot import Foliot
from tests.scenarios.crash.chance import a_chance
from tests.scenarios.server import Place, Server

ROUNDS: Final = int(os.environ.get("FOLIOT_ROUNDS", "3"))
"""How often each of them is killed."""
PATIENCE: Final = 60.0
BATCH: Final = 20
CONFIGURATION: Final = """
[server]
port = {port}
roles = ["scheduler", "api"]
lease = 2
[[jobs]]
id = "mark"
command = "echo $FOLIOT_RUN_ID >> begun; sleep 0.05; echo $FOLIOT_RUN_ID >> over"
executor = "worker"
max_concurrent = 0
max_lost = 1000
working_dir = "{directory}"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    place.file.write_text(CONFIGURATION.format(port=port, directory=tmp_path))
    return place


@pytest.fixture
def credentials(place: Place) -> dict[str, str]:
    printed = place.foliot("worker", "register", "remote")
    found = dict(line.split("=", 1) for line in printed.splitlines() if line.startswith("FOLIOT_"))
    port = place.file.read_text().split("port = ")[1].split()[0]
    return found | {"FOLIOT_SERVER": f"http://127.0.0.1:{port}"}


async def enqueue(place: Place, count: int) -> None:
    async with Foliot(f"sqlite:///{place.directory}/foliot.db") as app:
        await app.enqueue_many("mark", [None] * count)


def statuses(place: Place) -> list[str]:
    return [str(run["status"]) for run in place.objects("runs", "--limit", "1000")]


def some_more(place: Place, wanted: int) -> Iterator[None]:
    """Wait until so many commands have ended, at most for a while: a killed process ends none."""
    until = time.monotonic() + 3
    over = place.directory / "over"
    while time.monotonic() < until and (not over.exists() or len(over.read_text().splitlines()) < wanted):
        yield
        time.sleep(0.05)


@pytest.mark.seeded
@pytest.mark.proves("S6", "S8", "L4")
def test_every_run_ends_while_server_and_worker_are_killed_in_turn(place: Place, credentials: dict[str, str]) -> None:
    chance = a_chance()
    port = {"FOLIOT_SERVER_PORT": str(urlsplit(credentials["FOLIOT_SERVER"]).port)}
    worker_of = ("--lease", "2", "--concurrency", "4")
    server = place.serve(**port).__enter__()
    worker = Server(place.directory, "worker", *worker_of, **credentials)
    count = 0
    try:
        for _ in range(ROUNDS):
            asyncio.run(enqueue(place, BATCH))
            count += BATCH
            for kills_worker in (True, False):
                for _ in some_more(place, count - chance.randrange(BATCH)):
                    pass
                if kills_worker:
                    worker.kill()
                    worker = Server(place.directory, "worker", *worker_of, **credentials)
                else:
                    server.kill()
                    server = place.serve(**port).__enter__()

        until = time.monotonic() + PATIENCE
        while set(found := statuses(place)) != {"success"}:
            assert time.monotonic() < until, sorted(found)
            time.sleep(0.2)
    finally:
        worker.kill()
        server.kill()

    assert len(found) == count
    over = (place.directory / "over").read_text().split()
    assert len(set(over)) == count
    assert "no problems found" in place.foliot("verify")
