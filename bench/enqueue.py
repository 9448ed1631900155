"""Runs enqueued: one awaited call after another, by 100 callers at the same time, and in bulk.

The bare commit is the ceiling of the first: two rows in one transaction, without a thread or an event loop on SQLite,
and one statement on one connection on PostgreSQL.
"""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Final

from bench.children import Contender, run
from bench.orders import Result
from bench.places import Places
from bench.roster import (
    CEILING_POSTGRES,
    CEILING_SQLITE,
    FOLIOT_POSTGRES,
    FOLIOT_SQLITE,
    GRAPHILE,
    HUEY,
    PGQUEUER,
    PROCRASTINATE,
    on_uvloop,
)
from bench.samples import interleave
from bench.scale import Scale
from bench.second_process import second_process
from bench.tables import Column, Ratio, Table

_COLUMNS: Final = (
    Column("single", "one after another/s"),
    Column("callers", "100 callers/s"),
    Column("bulk", "in bulk/s"),
)


@dataclass(frozen=True, slots=True)
class _Row:
    """A contender and its operations here."""

    contender: Contender
    operations: tuple[str, ...] = ("single", "callers", "bulk")
    is_watched: bool = False

    @property
    def name(self) -> str:
        return f"{self.contender.name}{', a second process reads' if self.is_watched else ''}"


_BARE_SQLITE: Final = replace(CEILING_SQLITE, name="bare commit SQLite")
_BARE_POSTGRES: Final = replace(CEILING_POSTGRES, name="bare commit PostgreSQL")
_FOLIOT_SQLITE_UVLOOP: Final = on_uvloop(FOLIOT_SQLITE)
_FOLIOT_POSTGRES_UVLOOP: Final = on_uvloop(FOLIOT_POSTGRES)
_WATCHED: Final = _Row(FOLIOT_SQLITE, ("single", "callers"), is_watched=True)
_ON_SQLITE: Final = (
    _Row(FOLIOT_SQLITE),
    _Row(_FOLIOT_SQLITE_UVLOOP),
    _WATCHED,
    _Row(_BARE_SQLITE),
    _Row(HUEY, ("single",)),
)
_ON_POSTGRES: Final = (
    _Row(FOLIOT_POSTGRES),
    _Row(_FOLIOT_POSTGRES_UVLOOP),
    _Row(_BARE_POSTGRES),
    _Row(on_uvloop(_BARE_POSTGRES)),
    _Row(PGQUEUER),
    _Row(on_uvloop(PGQUEUER)),
    _Row(GRAPHILE),
    _Row(PROCRASTINATE),
)
_BULK: Final = 20_000
_SECONDS: Final = 0.5
"""Short, and more rounds: the speed of a disk changes from second to second."""


def measure(places: Places, scale: Scale) -> list[Table]:
    rows = (*_ON_SQLITE, *_ON_POSTGRES)
    samples = interleave(rows, scale.rounds_of(5), lambda row: _measure(row, places, scale))
    note = (
        f"Each figure counts for {_SECONDS:g} s; in bulk 1,000 runs per call. {scale.durability}. huey has "
        "neither a bulk call nor callers that await; 100 callers of pgqueuer and graphile-worker share a pool of "
        "connections."
    )
    return [Table(title="Enqueue", note=note, columns=_COLUMNS, samples=samples, ratios=_ratios())]


def _measure(row: _Row, places: Places, scale: Scale) -> Result:
    result: dict[str, float] = {}
    contender = row.contender
    for operation in row.operations:
        with places.fresh(contender.database) as (place, marks):
            order = contender.order(place, marks, scale, scale.pick(_BULK, _BULK // 4), seconds=_SECONDS)
            with second_process(order) if row.is_watched else nullcontext():
                result |= run(contender, operation, order)
    return result


def _ratios() -> list[Ratio]:
    sqlite, postgres = FOLIOT_SQLITE.name, FOLIOT_POSTGRES.name
    return [
        Ratio(name=sqlite, over=_BARE_SQLITE.name, metric="single", at_least=0.7),
        Ratio(name=sqlite, over=HUEY.name, metric="single", at_least=1),
        Ratio(name=_WATCHED.name, over=sqlite, metric="single"),
        Ratio(name=_FOLIOT_SQLITE_UVLOOP.name, over=_BARE_SQLITE.name, metric="single"),
        Ratio(name=postgres, over=_BARE_POSTGRES.name, metric="single", at_least=0.7),
        Ratio(name=postgres, over=PGQUEUER.name, metric="single", at_least=1),
        Ratio(name=postgres, over=GRAPHILE.name, metric="single"),
        Ratio(name=_FOLIOT_POSTGRES_UVLOOP.name, over=on_uvloop(PGQUEUER).name, metric="single"),
        Ratio(name=sqlite, over=_BARE_SQLITE.name, metric="callers"),
        Ratio(name=postgres, over=_BARE_POSTGRES.name, metric="callers"),
        Ratio(name=sqlite, over=_BARE_SQLITE.name, metric="bulk"),
        Ratio(name=postgres, over=PGQUEUER.name, metric="bulk"),
    ]
