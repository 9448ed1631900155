"""The cost of a million stored schedules that are not due, for the process that waits for them."""

import time

from bench.children import Child, Contender, run
from bench.orders import Order, Result
from bench.places import Places
from bench.roster import (
    SCHEDULES_CEILING_POSTGRES,
    SCHEDULES_CEILING_SQLITE,
    SCHEDULES_POSTGRES,
    SCHEDULES_SQLITE,
)
from bench.samples import Samples, interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table

_COLUMNS = (
    Column("grown", "memory above an empty one, MB", 1),
    Column("memory", "memory, MB", 1),
    Column("idle", "idle CPU, % of a core", 2),
    Column("peek", "wake-up look, µs"),
    Column("add", "added/s"),
)
_DAY = 86_400
_SETTLED = 4
_CEILINGS = (SCHEDULES_CEILING_SQLITE, SCHEDULES_CEILING_POSTGRES)
_FOLIOTS = (SCHEDULES_SQLITE, SCHEDULES_POSTGRES)


def measure(places: Places, scale: Scale) -> list[Table]:
    count = scale.pick(1_000_000, 100_000)
    contenders = (*_CEILINGS, *_FOLIOTS)
    samples: Samples = interleave(contenders, scale.rounds_of(1, 1), lambda each: _measure(each, places, scale, count))
    note = (
        f"{count:,} schedules due tomorrow; the scheduler's process alone, {scale.pick(30, 10)} s at rest; "
        f"{scale.durability}. The look is measured through the storage port, hops included."
    )
    return [Table(title="Hold", note=note, columns=_COLUMNS, samples=samples, ratios=_ratios(), limits=_limits())]


def _measure(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    rest = scale.pick(30, 10)
    with places.fresh(contender.database) as (place, marks):
        order = Order(place=place, marks=marks, count=0, due_at=time.time() // 1 + _DAY, synchronous=scale.synchronous)
        run(contender, "hold", order)
        empty = _at_rest(contender, order, 0)
    with places.fresh(contender.database) as (place, marks):
        order = Order(
            place=place, marks=marks, count=count, due_at=time.time() // 1 + _DAY, synchronous=scale.synchronous
        )
        added = run(contender, "hold", order)
        full = _at_rest(contender, order, rest)
        looked = run(contender, "peek", order)
    return {"grown": full["memory"] - empty["memory"], **full, **added, **looked}


def _at_rest(contender: Contender, order: Order, seconds: int) -> Result:
    with Child(contender, order) as child:
        time.sleep(_SETTLED)
        before = child.cpu_seconds
        time.sleep(seconds)
        child.check()
        used = child.cpu_seconds - before
        return {"memory": child.memory / 1e6, **({"idle": 100 * used / seconds} if seconds else {})}


def _limits() -> dict[tuple[str, str], float]:
    targets = {"grown": 30.0, "idle": 0.3}
    return {(contender.name, metric): limit for contender in _FOLIOTS for metric, limit in targets.items()}


def _ratios() -> list[Ratio]:
    pairs = zip(_FOLIOTS, _CEILINGS, strict=True)
    return [Ratio(name=own.name, over=ceiling.name, metric="peek", at_most=2) for own, ceiling in pairs]
