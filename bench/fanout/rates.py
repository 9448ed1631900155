"""Items a second: commands beside `xargs -P`, functions beside bare coroutines."""

from dataclasses import replace
from typing import Final

from bench.children import run
from bench.fanout.server import (
    DEFAULT_SLOTS,
    DEFAULT_WIDTH,
    PROGRAM,
    SERVER,
    FanoutContender,
    serving,
    write_items,
)
from bench.orders import Result
from bench.places import Database, Places
from bench.roster import TUNED_SLOTS
from bench.samples import interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table

_COLUMNS: Final = (Column("rate", "items/s"), Column("cpu", "CPU µs an item"))
_AIMS: Final = {4: 0.9, 32: 1.0}
"""Of the rate of xargs, by width."""
_WIDE: Final = 1_000

_FOLIOT: Final = FanoutContender(
    name="Foliot", module="foliot_fanout", database=Database.SQLITE, operation="fanout", program=SERVER
)
_BARE: Final = FanoutContender(name="bare", module="bare_fanout", database=Database.NONE)


def measure_commands(places: Places, scale: Scale) -> Table:
    return _commands(places, scale, scale.pick(2_000, 400))


def measure_functions(places: Places, scale: Scale) -> Table:
    count = scale.pick(5_000, 1_000)
    pairs = [
        *_function_pairs(DEFAULT_WIDTH, DEFAULT_SLOTS),
        *_function_pairs(DEFAULT_SLOTS, DEFAULT_SLOTS),
        *_function_pairs(_WIDE, TUNED_SLOTS, loop="uvloop"),
    ]
    note = (
        f"{count:,} items; children are coroutine functions that do nothing, in the process of `foliot serve`; "
        f"{scale.durability}. By default {DEFAULT_WIDTH} items run at once, and a worker has {DEFAULT_SLOTS} slots. "
        "From the creation of the fanout, before its items are read, to its end; app.map from the call in another "
        "process to its last result. asyncio and uvloop: as many coroutines, a semaphore and asyncio.gather. Tuned is "
        f"uvloop and {TUNED_SLOTS:,} slots. CPU without that of PostgreSQL and of the caller of app.map."
    )
    return _table("Fanout of functions", note, pairs, places, scale, count, digits=4)


def _commands(places: Places, scale: Scale, count: int) -> Table:
    pairs = [pair for width in _AIMS for pair in _command_pairs(width)]
    note = (
        f"{count:,} items in a file; children are `true`; `foliot serve` with {DEFAULT_SLOTS} slots, its default; "
        f"{scale.durability}. From the creation of the fanout, before the file is read, to its end. CPU is that of the "
        "server and its children, or of xargs and its children."
    )
    return _table(f"Fanout of {count:,} commands", note, pairs, places, scale, count)


Pair = tuple[FanoutContender, FanoutContender, float | None]
"""A contender, the one that it is compared with, and the ratio aimed at."""


def _command_pairs(width: int) -> list[Pair]:
    xargs = replace(_BARE, name=f"xargs -P {width}", width=width, operation="xargs")
    foliot = replace(_FOLIOT, name=f"Foliot, {width} at once", width=width, child=PROGRAM)
    return [(foliot, xargs, _AIMS[width]), (replace(foliot, name=f"{foliot.name}, uvloop", loop="uvloop"), xargs, None)]


def _function_pairs(width: int, slots: int, loop: str = "asyncio") -> list[Pair]:
    bare = replace(_BARE, name=f"{loop}, {width} at once", width=width, operation=loop)
    settings = f"{width} at once" if slots == DEFAULT_SLOTS else f"{width} at once, tuned"
    sqlite = replace(_FOLIOT, name=f"Foliot SQLite, {settings}", width=width, slots=slots, loop=loop)
    postgres = replace(sqlite, name=f"Foliot PostgreSQL, {settings}", database=Database.POSTGRES)
    mapped = replace(sqlite, name=f"app.map SQLite, {settings}", operation="map")
    return [(own, bare, None) for own in (sqlite, postgres, mapped)]


def _table(
    title: str, note: str, pairs: list[Pair], places: Places, scale: Scale, count: int, digits: int = 2
) -> Table:
    contenders = {each.name: each for own, base, _ in pairs for each in (own, base)}
    samples = interleave(contenders.values(), scale.rounds_of(2), lambda each: _measure(each, places, scale, count))
    ratios = [
        Ratio(name=own.name, over=base.name, metric="rate", at_least=aim, digits=digits) for own, base, aim in pairs
    ]
    return Table(title=title, note=note, columns=_COLUMNS, samples=samples, ratios=ratios)


def _measure(contender: FanoutContender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, count, width=contender.width)
        write_items(order, count)
        if not contender.program:
            return run(contender, contender.operation, order)
        with serving(contender, order) as server:
            before = server.cpu_seconds_of_all
            result = run(contender, contender.operation, order)
            return {**result, "cpu": (server.cpu_seconds_of_all - before) / count * 1e6}
