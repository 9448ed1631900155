"""No-op runs drained by one worker process.

    enqueue all  ->  start the worker  ->  first job starts ... last outcome is committed
                                           |--------- measured ---------|

Enqueueing is measured on the way: in bulk, and by 100 callers who each await one run before the next.
"""

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
"""One run a call is so much slower than a thousand that a tenth of them tells as much."""


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
    """Start a worker on what is enqueued and wait until all of it is done."""
    with Child(contender, order) as child:
        began = wait_for_mark(order, "first", child)
        idle, server_idle = child.cpu_seconds, places.server_seconds(contender.database)
        # Asking the database how much is left costs it the more, the more is done: nobody asks before the last start.
        wait_for_mark(order, "last", child)
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
        order = _order(place, marks, scale, count // _CALLERS_SHARE)
        results = dict(run(contender, "callers", order))
    with places.fresh(contender.database) as (place, marks):
        order = _order(place, marks, scale, count)
        results.update(run(contender, "bulk", order))
        results.update(drain(contender, order, places))
    return results


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
