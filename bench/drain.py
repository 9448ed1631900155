"""No-op runs drained by one worker process.

    enqueue all  ->  start the worker  ->  first job starts ... last outcome is committed
                                           |--------- measured ---------|

Enqueueing is measured too: in bulk, and by 100 callers that each await one run before the next.

All contenders drain the same backlog. A fast one repeats it, each time on a new database, for some seconds, so that
other load of the machine affects its figure as much as that of a slow one.
"""

from collections.abc import Sequence
from statistics import fmean, harmonic_mean

from bench.children import Child, Contender, run
from bench.orders import Order, Result
from bench.places import Places
from bench.roster import (
    CEILING_POSTGRES,
    CEILING_SQLITE,
    FOLIOT_POSTGRES,
    FOLIOT_SQLITE,
    HUEY,
    ON_POSTGRES,
    ON_SQLITE,
    PGQUEUER,
    PROCRASTINATE,
)
from bench.samples import interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table
from bench.watchers import wait_for_mark, wait_until_done

_COLUMNS = (
    Column("drain", "drained/s"),
    Column("cpu", "worker CPU µs a run", 1),
    Column("server", "server CPU µs a run", 1),
    Column("bulk", "enqueued/s, bulk"),
    Column("callers", "enqueued/s, 100 callers"),
)
_CALLERS_SHARE = 10
"""One run per call is much slower than a thousand, so a tenth of them is enough."""
_ENOUGH = 4.0
"""Seconds of draining for one figure."""
_RATES = ("drain", "bulk")


def measure(places: Places, scale: Scale) -> list[Table]:
    count = scale.pick(50_000, 10_000)
    samples = interleave(
        (*ON_SQLITE, *ON_POSTGRES), scale.rounds_of(5), lambda contender: _measure(contender, places, scale, count)
    )
    note = (
        f"{count:,} no-op runs for each, one worker process, {scale.slots} at once where it can be set; "
        f"{scale.durability}. From the first start to the last committed outcome; huey to its last start, for it keeps "
        "no outcome."
    )
    return [Table(title="Drain", note=note, columns=_COLUMNS, samples=samples, ratios=_ratios())]


def drain(contender: Contender, order: Order, places: Places) -> Result:
    """Start a worker on the enqueued runs and wait until all of them are done."""
    with Child(contender, order) as child:
        began = wait_for_mark(order, "first", child)
        idle, server_idle = child.cpu_seconds, places.server_seconds(contender.database)
        ended = wait_until_done(contender, order, child)
        used = child.cpu_seconds - idle
        server_used = places.server_seconds(contender.database) - server_idle
    return {
        "drain": order.count / (ended - began),
        "cpu": used / order.count * 1e6,
        **({"server": server_used / order.count * 1e6} if server_used else {}),
    }


def _measure(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        called = run(contender, "callers", _order(place, marks, scale, count // _CALLERS_SHARE))
    drained = [_drain_new(contender, places, scale, count)]
    while not scale.is_quick and sum(count / result["drain"] for result in drained) < _ENOUGH:
        drained.append(_drain_new(contender, places, scale, count))
    return {**called, **_over_all(drained)}


def _drain_new(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = _order(place, marks, scale, count)
        return {**run(contender, "bulk", order), **drain(contender, order, places)}


def _over_all(results: Sequence[Result]) -> Result:
    """Join several measurements of the same count, as if they were one."""
    return {
        metric: (harmonic_mean if metric in _RATES else fmean)([result[metric] for result in results])
        for metric in results[0]
    }


def _order(place: str, marks: str, scale: Scale, count: int) -> Order:
    return Order(place=place, marks=marks, count=count, slots=scale.slots, synchronous=scale.synchronous)


def _ratios() -> list[Ratio]:
    sqlite, postgres = FOLIOT_SQLITE.name, FOLIOT_POSTGRES.name
    return [
        Ratio(name=sqlite, over=CEILING_SQLITE.name, metric="drain", at_least=0.30),
        Ratio(name=sqlite, over=HUEY.name, metric="drain", at_least=3),
        Ratio(name=postgres, over=CEILING_POSTGRES.name, metric="drain", at_least=0.45),
        Ratio(name=postgres, over=PGQUEUER.name, metric="drain", at_least=3),
        Ratio(name=postgres, over=PROCRASTINATE.name, metric="drain", at_least=100),
        Ratio(name=postgres, over=CEILING_POSTGRES.name, metric="bulk", at_least=0.4),
        Ratio(name=postgres, over=PGQUEUER.name, metric="bulk", at_least=1.5),
        Ratio(name=sqlite, over=CEILING_SQLITE.name, metric="callers", at_least=0.5),
        Ratio(name=sqlite, over=HUEY.name, metric="callers", at_least=3),
    ]
