"""The cost of a run, and of `foliot verify`, while history grows: the same work beside few and many finished runs.

On PostgreSQL also while another session holds a snapshot from before all of it, so that nothing dead is ever removed.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

from bench.children import Contender, run
from bench.drain import drain
from bench.marks import forget_marks
from bench.orders import Order, Result
from bench.places import Places, old_snapshot
from bench.roster import FOLIOT_POSTGRES, FOLIOT_SQLITE, tuned
from bench.samples import Samples
from bench.scale import Scale
from bench.tables import Column, Ratio, Table
from bench.verify import verify_seconds

_COLUMNS: Final = (
    Column("drain", "drained/s"),
    Column("bulk", "enqueued/s, bulk"),
    Column("cpu", "worker CPU µs a run", 1),
    Column("verify", "foliot verify, s", 2),
)


def measure(places: Places, scale: Scale) -> Iterator[Table]:
    for contender in (FOLIOT_SQLITE, FOLIOT_POSTGRES):
        yield _measure(contender, places, scale)
    yield _measure(FOLIOT_POSTGRES, places, scale, is_watched=True)


def _measure(contender: Contender, places: Places, scale: Scale, *, is_watched: bool = False) -> Table:
    sizes = [1_000, 50_000] if scale.is_quick else [1_000, 1_000_000]
    count = scale.pick(20_000, 5_000)
    samples = Samples()
    for _ in range(scale.rounds_of(1)):
        with places.fresh(contender.database) as (place, marks), old_snapshot(place) if is_watched else nullcontext():
            _grow(contender, contender.order(place, marks, scale, count), sizes, samples, places)
    few, many = map(_name, sizes)
    ratios = [
        Ratio(name=many, over=few, metric="drain", at_least=0.2 if is_watched else 0.8),
        Ratio(name=f"{many}, tuned", over=f"{few}, tuned", metric="drain"),
        Ratio(name=many, over=few, metric="verify", at_most=2),
    ]
    watched = ", under an old snapshot" if is_watched else ""
    note = f"{count:,} no-op runs beside that many finished ones{watched}; {scale.durability}."
    return Table(
        title=f"History, {contender.name}{watched}", note=note, columns=_COLUMNS, samples=samples, ratios=ratios
    )


def _grow(contender: Contender, order: Order, sizes: list[int], samples: Samples, places: Places) -> None:
    finished = 0
    for size in sizes:
        _drain_tuned(contender, replace(order, count=size - finished), places)
        verify = verify_seconds(order)
        samples.add(_name(size), {"verify": verify, **_drain(contender, order, places)})
        samples.add(f"{_name(size)}, tuned", _drain_tuned(contender, order, places))
        finished = size + 2 * order.count


def _drain_tuned(contender: Contender, order: Order, places: Places) -> Result:
    faster = tuned(contender)
    return _drain(faster, replace(order, slots=faster.slots, loop=faster.loop), places)


def _drain(contender: Contender, order: Order, places: Places) -> Result:
    forget_marks(order.marks)
    return {**run(contender, "bulk", order), **drain(contender, order, places)}


def _name(size: int) -> str:
    return f"{size:,} finished"
