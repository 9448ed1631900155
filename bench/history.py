"""The cost of a run while history grows: the same work on an empty database and beside many finished runs.

On PostgreSQL also while somebody holds a snapshot from before all of it, so that nothing dead is ever removed.
"""

from contextlib import nullcontext
from dataclasses import replace

from bench.children import Contender, run
from bench.drain import drain
from bench.marks import forget_marks
from bench.orders import Order
from bench.places import Places, old_snapshot
from bench.roster import FOLIOT_POSTGRES, FOLIOT_SQLITE
from bench.samples import Samples
from bench.scale import Scale
from bench.tables import Column, Ratio, Table

_COLUMNS = (Column("drain", "drained/s"), Column("bulk", "enqueued/s, bulk"), Column("cpu", "worker CPU µs a run", 1))


def measure(places: Places, scale: Scale) -> list[Table]:
    tables = [_measure(contender, places, scale) for contender in (FOLIOT_SQLITE, FOLIOT_POSTGRES)]
    return [*tables, _measure(FOLIOT_POSTGRES, places, scale, is_watched=True)]


def _measure(contender: Contender, places: Places, scale: Scale, *, is_watched: bool = False) -> Table:
    sizes = [0, 20_000, 100_000] if scale.is_quick else [0, 100_000, 1_000_000]
    count = scale.pick(50_000, 10_000)
    samples = Samples()
    for _ in range(scale.rounds_of(2, 1)):
        with places.fresh(contender.database) as (place, marks), old_snapshot(place) if is_watched else nullcontext():
            order = Order(place=place, marks=marks, count=count, slots=scale.slots, synchronous=scale.synchronous)
            _grow(contender, order, sizes, samples, places)
    first, *others = map(_name, sizes)
    at_least = 0.2 if is_watched else 0.8
    ratios = [Ratio(name=name, over=first, metric="drain", at_least=at_least) for name in others]
    watched = ", under an old snapshot" if is_watched else ""
    note = f"{count:,} no-op runs beside that many finished ones{watched}; {scale.durability}."
    return Table(
        title=f"History, {contender.name}{watched}", note=note, columns=_COLUMNS, samples=samples, ratios=ratios
    )


def _grow(contender: Contender, order: Order, sizes: list[int], samples: Samples, places: Places) -> None:
    finished = 0
    for size in sizes:
        if size > finished:
            filling = replace(order, count=size - finished)
            _drain(contender, filling, places)
            finished = size
        samples.add(_name(size), _drain(contender, order, places))
        finished += order.count


def _drain(contender: Contender, order: Order, places: Places) -> dict[str, float]:
    forget_marks(order.marks)
    return {**run(contender, "bulk", order), **drain(contender, order, places)}


def _name(size: int) -> str:
    return f"{size:,} finished"
