"""Every list and count beside a thousand runs and beside a million."""

import asyncio
import time
from collections.abc import Iterator
from statistics import median
from typing import Final

from bench.api.client import Connection
from bench.api.servers import foliot_server, storage_url
from bench.places import Database, Places
from bench.samples import Samples
from bench.scale import Scale
from bench.tables import Column, Table
from foliot import Foliot
from foliot.domain.instant import HOUR
from foliot.domain.run.lease import Finish
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.testing.builders import a_worker

_FIRST: Final = 1_000
"""The runs of the small measurement."""
_BATCH: Final = 10_000
_FIRST_BATCH: Final = 100
"""How many runs are created, claimed and finished at once. A batch is one event, so that the oldest events, which the
first page has, are the same in both measurements."""
_CALLS: Final = 30
_FAILURE: Final = Failure("it failed", Reason.EXCEPTION)
_NO_LISTS: Final = (
    *("/api/events", "/api/verify", "/api/doctor", "/api/docs", "/api/openapi.json", "/healthz"),
    *("/api/explain", "/api/me", "/api/version", "/api/events/page"),
)
"""Streams, audits of everything, pages that read nothing, and those that are asked for with parameters."""
_QUERIES: Final = (
    "/api/events/page?limit=10",
    "/api/runs?job_id=noop",
    "/api/runs?status=failed",
    "/api/jobs/noop/runs",
    "/api/jobs/noop/page",
)


def measure_growth(places: Places, scale: Scale) -> Iterator[Table]:
    for database, name in ((Database.SQLITE, "Foliot SQLite"), (Database.POSTGRES, "Foliot PostgreSQL")):
        yield _measure(database, name, places, [_FIRST, scale.pick(1_000_000, 50_000)])


def _measure(database: Database, name: str, places: Places, sizes: list[int]) -> Table:
    samples, found = Samples(), {}
    with places.fresh(database) as (place, marks):
        finished = 0
        for size in sizes:
            with foliot_server(storage_url(place), marks):
                pass  # it has put the job
            asyncio.run(_fill(storage_url(place), size - finished, _FIRST_BATCH if size == _FIRST else _BATCH))
            finished = size
            with foliot_server(storage_url(place), marks) as url:
                found[size] = asyncio.run(_times(url))
    few, many = sizes
    for path, before in found[few].items():
        after = found[many][path]
        samples.add(path, {"few": before, "many": after, "growth": after / before})
    times = Column("few", f"ms, {few:,} runs", 2), Column("many", f"ms, {many:,} runs", 2)
    columns = (*times, Column("growth", "growth", 2))
    note = f"The median of {_CALLS} requests, one at a time, beside that many ended runs."
    limits = {(path, "growth"): 2.0 for path in found[few]}
    return Table(
        title=f"Lists, {name}",
        note=note,
        columns=columns,
        samples=samples,
        limits=limits,
    )


async def _fill(storage: str, count: int, batch: int) -> None:
    """Create runs and end them, one in ten as failed."""
    async with Foliot(storage) as app:
        services = await app.open()
        work, worker = services.storage.work, a_worker(slots=batch)
        await work.register(worker, HOUR)
        for first in range(0, count, batch):
            await services.runs.enqueue_many("noop", [None] * min(batch, count - first))
            while claims := (await work.claim(worker.id, ["default"], batch)).claims:
                await work.finish(
                    [
                        Finish(
                            one.run_id,
                            one.worker_id,
                            one.token,
                            Success() if nth % 10 else Failure("it failed", Reason.EXCEPTION),
                        )
                        for nth, one in enumerate(claims)
                    ]
                )
        await work.retire(worker.id)


async def _times(url: str) -> dict[str, float]:
    """Return the milliseconds of each list."""
    connection = await Connection.open(url, limit=1 << 24)
    document = await connection.json("GET", "/api/openapi.json")
    newest = (await connection.json("GET", "/api/runs?limit=1"))["items"][0]["id"]
    paths = [*_lists(document), *_QUERIES, f"/api/runs/{newest}/page"]
    times = {path.replace(newest, "RUN"): await _median(connection, path) for path in paths}
    connection.close()
    return times


def _lists(document: dict[str, dict[str, dict[str, dict[str, list[dict[str, object]]]]]]) -> list[str]:
    return [
        path
        for path, methods in document["paths"].items()
        if "get" in methods
        and "{" not in path
        and path not in _NO_LISTS
        and not any(one["required"] for one in methods["get"]["parameters"])
    ]


async def _median(connection: Connection, path: str) -> float:
    await connection.json("GET", path) if path != "/metrics" else await connection.ask("GET", path)
    times = []
    for _ in range(_CALLS):
        began = time.perf_counter()
        status, content = await connection.ask("GET", path)
        times.append((time.perf_counter() - began) * 1_000)
        assert status == 200, (path, content)
    return median(times)
