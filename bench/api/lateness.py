"""How late the ticks of a server are decided, alone and beside requests."""

import asyncio
import json
import time
from datetime import UTC, datetime
from typing import Final

from bench.api.client import Connection
from bench.api.servers import foliot_server, storage_url
from bench.orders import Result
from bench.places import Database, Places
from bench.samples import Samples, percentile
from bench.scale import Scale
from bench.tables import Column, Ratio, Table
from foliot import Foliot

_COLUMNS: Final = (
    Column("rate", "requests/s"),
    Column("p50", "late p50 ms", 1),
    Column("p99", "late p99 ms", 1),
    Column("last", "latest ms", 1),
)
_RATE: Final = 500
_CONNECTIONS: Final = 20
_SCHEDULES: Final = 20
_ALONE: Final = "no requests"
_READING: Final = f"{_RATE} requests/s that read a run"
_CREATING: Final = f"{_RATE} requests/s that create a run"


def measure_lateness(places: Places, scale: Scale) -> Table:
    samples, seconds = Samples(), scale.pick(20, 5)
    for _ in range(scale.rounds_of(3)):
        for name in (_ALONE, _READING, _CREATING):
            with places.fresh(Database.SQLITE) as (place, marks):
                storage = storage_url(place)
                with foliot_server(storage, marks, roles="scheduler,api") as url:
                    samples.add(name, asyncio.run(_lateness(storage, url, name, seconds)))
    ratios = [Ratio(name=one, over=_ALONE, metric="p99") for one in (_READING, _CREATING)]
    note = (
        f"{_SCHEDULES} schedules that fire each second, for {seconds} seconds, in one process that is scheduler and "
        f"server, without a worker; SQLite. Late is from the time at which a tick should fire to its row in the ledger."
    )
    return Table(title="Ticks beside requests", note=note, columns=_COLUMNS, samples=samples, ratios=ratios)


async def _lateness(storage: str, url: str, name: str, seconds: int) -> Result:
    connection = await Connection.open(url, limit=1 << 24)
    run = await connection.json("POST", "/api/jobs/noop/run", b'{"delay": 3600}')
    async with Foliot(storage) as app:
        for number in range(_SCHEDULES):
            await app.schedules.upsert(job_id="noop", schedule_id=f"often-{number}", every=1, overlap="allow")
    await asyncio.sleep(2)  # the first ticks find the schedules
    since = datetime.now(UTC)
    began, count = time.perf_counter(), 0
    if name == _ALONE:
        await asyncio.sleep(seconds)
    else:
        is_reading = name == _READING
        path, body = (f"/api/runs/{run['id']}", b"") if is_reading else ("/api/jobs/noop/run", b'{"delay": 3600}')
        count = await _requests(url, "GET" if is_reading else "POST", path, body, seconds)
    took = time.perf_counter() - began
    late = await _late(connection, since)
    connection.close()
    return {"rate": count / took, "p50": percentile(late, 0.5), "p99": percentile(late, 0.99), "last": max(late)}


async def _requests(url: str, method: str, path: str, body: bytes, seconds: int) -> int:
    """Send requests at a fixed rate, and return how many were answered. A connection that is behind catches up."""
    opened = [await Connection.open(url) for _ in range(_CONNECTIONS)]
    until = time.perf_counter() + seconds

    async def work(connection: Connection, first: float) -> int:
        request, count, due = connection.request(method, path, body), 0, first
        while due < until:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            connection.send(request)
            status, content = await connection.answer()
            assert status < 300, content
            count += 1
            due += _CONNECTIONS / _RATE
        connection.close()
        return count

    now = time.perf_counter()
    return sum(await asyncio.gather(*(work(one, now + nth / _RATE) for nth, one in enumerate(opened))))


async def _late(connection: Connection, since: datetime) -> list[float]:
    """Return by how many milliseconds each tick since then was late."""
    found: list[float] = []
    cursor = ""
    while True:
        query = f"/api/ticks?limit=1000&outcome=ran&since={since.strftime('%Y-%m-%dT%H:%M:%SZ')}{cursor}"
        status, content = await connection.ask("GET", query)
        assert status == 200, content
        page = json.loads(content)
        for tick in page["items"]:
            planned, decided = (datetime.fromisoformat(tick[key]) for key in ("fire_at", "created_at"))
            found.append((decided - planned).total_seconds() * 1_000)
        if page["next"] is None:
            return found
        cursor = f"&cursor={page['next']}"
