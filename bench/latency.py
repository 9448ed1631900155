"""Pick-up: from the call that enqueues to the start of the job, one run every 20 ms, nothing else to do."""

from dataclasses import replace
from typing import Final

from bench.children import Child, Contender, run
from bench.orders import Result
from bench.places import Database, Places
from bench.roster import CEILING_POSTGRES, CEILING_SQLITE, WORKER, tuned
from bench.samples import interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table

_COLUMNS: Final = (Column("p50", "p50 ms", 2), Column("p99", "p99 ms", 2))
_CEILING_SQLITE: Final = replace(CEILING_SQLITE, operation="latency")
_CEILING_POSTGRES: Final = replace(CEILING_POSTGRES, operation="latency")
_SQLITE: Final = Contender(
    name="Foliot SQLite", module="foliot_latency", database=Database.SQLITE, operation="together"
)
_POSTGRES: Final = replace(_SQLITE, name="Foliot PostgreSQL", database=Database.POSTGRES)


def _apart(contender: Contender) -> Contender:
    return replace(contender, name=f"{contender.name}, two processes", operation="apart", program=WORKER)


_CONTENDERS: Final = (
    _SQLITE,
    _apart(_SQLITE),
    tuned(_apart(_SQLITE)),
    _CEILING_SQLITE,
    _POSTGRES,
    _apart(_POSTGRES),
    tuned(_apart(_POSTGRES)),
    _CEILING_POSTGRES,
)


def measure(places: Places, scale: Scale) -> list[Table]:
    count = scale.pick(200, 50)
    samples = interleave(_CONTENDERS, scale.rounds_of(2), lambda each: _measure(each, places, scale, count))
    note = f"{count} runs, one every 20 ms; caller and worker in one process unless said otherwise; {scale.durability}."
    ratios = [
        Ratio(name=_SQLITE.name, over=_CEILING_SQLITE.name, metric="p50", at_most=2),
        Ratio(name=_POSTGRES.name, over=_CEILING_POSTGRES.name, metric="p50", at_most=2),
    ]
    return [Table(title="From enqueue to start", note=note, columns=_COLUMNS, samples=samples, ratios=ratios)]


def _measure(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, count)
        if not contender.program:
            return run(contender, contender.operation, order)
        with Child(contender, order):
            return run(contender, contender.operation, order)
