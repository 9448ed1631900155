"""Creating a run and reading one, beside an endpoint that does nothing."""

import asyncio
from typing import Final

from bench.api.client import Connection, rate
from bench.api.servers import bare_server, foliot_server, storage_url
from bench.orders import Result
from bench.places import Database, Places
from bench.samples import Samples
from bench.scale import Scale
from bench.tables import Column, Ratio, Table

_COLUMNS: Final = (Column("create", "POST run/s"), Column("get", "GET run/s"))
_BARE: Final = "bare Starlette"
_STORED: Final = "bare Starlette, a row of SQLite"
_NAMES: Final = {Database.SQLITE: "Foliot SQLite", Database.POSTGRES: "Foliot PostgreSQL"}


def measure_requests(places: Places, scale: Scale) -> Table:
    count, samples = scale.pick(8_000, 2_000), Samples()
    for _ in range(scale.rounds_of(3)):
        with places.fresh(Database.NONE) as (_, marks), bare_server(marks) as url:
            samples.add(_BARE, asyncio.run(_rates(url, "/run", "/run", count)))
            samples.add(_STORED, asyncio.run(_rates(url, "/stored-run", "/stored-run", count)))
        for database, name in _NAMES.items():
            with places.fresh(database) as (place, marks), foliot_server(storage_url(place), marks) as url:
                samples.add(name, asyncio.run(_foliot(url, count)))
    ratios = [
        Ratio(name=name, over=_BARE, metric=metric, at_least=0.4)
        for name in _NAMES.values()
        for metric in ("create", "get")
    ]
    note = (
        f"{count:,} requests by 16 connections, each with one request at a time; {scale.durability}. One bare endpoint "
        "has no database; the other reads one row by its key, or commits one row for each request."
    )
    return Table(title="Requests", note=note, columns=_COLUMNS, samples=samples, ratios=ratios)


async def _foliot(url: str, count: int) -> Result:
    connection = await Connection.open(url)
    run = await connection.json("POST", "/api/jobs/noop/run", b"{}")
    connection.close()
    return await _rates(url, "/api/jobs/noop/run", f"/api/runs/{run['id']}", count)


async def _rates(url: str, create: str, get: str, count: int) -> Result:
    await rate(url, "GET", get, b"", count=500)
    return {
        "create": await rate(url, "POST", create, b"{}", count=count),
        "get": await rate(url, "GET", get, b"", count=count),
    }
