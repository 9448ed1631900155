"""Commands a second: `foliot worker` beside `xargs -P`.

enqueue all  ->  start the worker  ->  first run starts ... last outcome is committed
                                       |---------- measured ---------|
"""

from dataclasses import replace
from typing import Final

from bench.children import Child, Contender, run
from bench.fanout.server import write_items
from bench.orders import Result
from bench.places import Database, Places
from bench.roster import FOLIOT_SQLITE, on_uvloop
from bench.samples import interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table
from bench.watchers import wait_for_mark, wait_until_empty

_COLUMNS: Final = (Column("rate", "commands/s"), Column("cpu", "CPU µs a command"))
_AIMS: Final = {4: 0.9, 16: 1.0, 32: 1.0}
"""Of the rate of xargs, by the number of commands at once."""


def _xargs(width: int) -> Contender:
    return Contender(
        name=f"xargs -P {width}", module="bare_fanout", database=Database.NONE, operation="xargs", slots=width
    )


def _foliot(width: int) -> Contender:
    return replace(FOLIOT_SQLITE, name=f"Foliot, {width} slots", slots=width)


def _foliot_on_uvloop(width: int) -> Contender:
    return on_uvloop(_foliot(width))


def measure(places: Places, scale: Scale) -> list[Table]:
    count = scale.pick(2_000, 400)
    contenders = [make(width) for width in _AIMS for make in (_foliot, _foliot_on_uvloop, _xargs)]
    samples = interleave(contenders, scale.rounds_of(3), lambda each: _measure(each, places, scale, count))
    note = (
        f"{count:,} times `true`; `foliot worker` on SQLite, synchronous={scale.synchronous}, from the first start to "
        "the last committed outcome. CPU is that of the worker and its children, or of xargs and its children. By "
        "default a worker has 100 slots."
    )
    return [Table(title="Commands", note=note, columns=_COLUMNS, samples=samples, ratios=_ratios())]


def _measure(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, count, width=contender.slots)
        if not contender.program:
            write_items(order, count)
            return run(contender, contender.operation, order)
        run(contender, "commands", order)
        with Child(contender, order) as worker:
            began, busy = wait_for_mark(order, "first", worker), worker.cpu_seconds_of_all
            took = wait_until_empty(contender, order, worker) - began
            return {"rate": count / took, "cpu": (worker.cpu_seconds_of_all - busy) / count * 1e6}


def _ratios() -> list[Ratio]:
    own = [
        Ratio(name=_foliot(width).name, over=_xargs(width).name, metric="rate", at_least=aim)
        for width, aim in _AIMS.items()
    ]
    faster = [Ratio(name=_foliot_on_uvloop(width).name, over=_xargs(width).name, metric="rate") for width in _AIMS]
    return [*own, *faster]
