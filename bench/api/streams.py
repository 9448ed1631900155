"""Lines of a log that is printed while clients follow it, to one client and to 50."""

import asyncio
import time
from typing import Final

from bench.api.client import Connection
from bench.api.servers import foliot_server, storage_url
from bench.orders import Result
from bench.places import Database, Places
from bench.samples import Samples
from bench.scale import Scale
from bench.tables import Column, Ratio, Table
from foliot import Foliot
from foliot.domain.ids import RunId
from foliot.domain.instant import HOUR
from foliot.domain.run.lease import Claim, Finish
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Status
from foliot.service.services import Services
from foliot.testing.builders import a_worker

_COLUMNS: Final = (Column("lines", "lines delivered/s"),)
_AIM: Final = {1: 50_000, 50: 300_000}
_FRAME: Final = b"data: {"
_LINES: Final = 200
"""Lines of one piece, as a job that prints a lot has them."""


def measure_streams(places: Places, scale: Scale) -> Table:
    samples, lines = Samples(), scale.pick(100_000, 20_000)
    for _ in range(scale.rounds_of(3)):
        for clients in _AIM:
            with places.fresh(Database.SQLITE) as (place, marks), foliot_server(storage_url(place), marks) as url:
                samples.add(_name(clients), asyncio.run(_delivered(storage_url(place), url, clients, lines)))
    for clients, aim in _AIM.items():
        samples.add(f"aim, {_name(clients)}", {"lines": aim})
    ratios = [Ratio(name=_name(one), over=f"aim, {_name(one)}", metric="lines", at_least=1) for one in _AIM]
    note = f"{lines:,} lines of 60 characters, printed by another process as fast as they are saved; SQLite."
    return Table(title="Streams", note=note, columns=_COLUMNS, samples=samples, ratios=ratios)


def _name(clients: int) -> str:
    return "one client" if clients == 1 else f"{clients} clients"


async def _delivered(storage: str, url: str, clients: int, lines: int) -> Result:
    async with Foliot(storage) as app:
        services = await app.open()
        claim = await _started(services)
        following = [asyncio.create_task(_follow(url, claim.run_id)) for _ in range(clients)]
        await asyncio.sleep(1)  # all clients wait for the first line
        began = time.perf_counter()
        await _print(services, claim, lines)
        counts = await asyncio.gather(*following)
        took = time.perf_counter() - began
    assert counts == [lines] * clients, counts
    return {"lines": lines * clients / took}


async def _started(services: Services) -> Claim:
    run_id = await services.runs.enqueue("noop")
    worker = a_worker()
    await services.storage.work.register(worker, HOUR)
    [claim] = (await services.storage.work.claim(worker.id, ["default"], 1, only=[RunId(run_id)])).claims
    assert (await services.runs.get(run_id)).status is Status.RUNNING
    return claim


async def _print(services: Services, claim: Claim, lines: int) -> None:
    piece = b"".join(b"line %06d of the output of a job that prints a lot of it..\n" % one for one in range(_LINES))
    work, now = services.storage.work, services.clock.now()
    for first in range(0, lines // _LINES, 10):
        chunks = [LogChunk(claim.run_id, claim.token, first + one, now, "stdout", piece) for one in range(10)]
        await work.append_log(chunks)
    await work.finish([Finish(claim.run_id, claim.worker_id, claim.token, Success())])


async def _follow(url: str, run_id: str) -> int:
    """Return how many lines of standard output a stream has until it ends."""
    connection = await Connection.open(url)
    connection.send(connection.request("GET", f"/api/runs/{run_id}/log", headers="Accept: text/event-stream\r\n"))
    count, tail = 0, b""
    while b"event: end" not in tail:
        found = await connection.reader.read(1 << 18)
        assert found, "the stream has ended early"
        known, tail = tail[-16:], tail[-16:] + found
        count += tail.count(_FRAME) - known.count(_FRAME)
    connection.close()
    return count - 1  # the end is a frame, too
