"""No-op runs drained by one worker process.

    enqueue all  ->  start the worker  ->  first job starts ... last outcome is committed
                                           |--------- measured ---------|

A fast contender drains more, on several new databases if need be, so that other load of the machine affects its figure
as much as that of a slow one.
"""

from collections.abc import Sequence
from statistics import fmean, harmonic_mean
from typing import Final

from bench.children import Child, Contender, run
from bench.orders import Order, Result
from bench.places import Places
from bench.roster import (
    CEILING_POSTGRES,
    CEILING_SLOTS,
    CEILING_SQLITE,
    FOLIOT_POSTGRES,
    FOLIOT_SQLITE,
    GRAPHILE,
    GRAPHILE_LOCAL,
    HUEY,
    PGQUEUER,
    PROCRASTINATE,
    TUNED_SLOTS,
    on_uvloop,
    tuned,
)
from bench.samples import interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table
from bench.watchers import wait_for_mark, wait_until_done

_COLUMNS: Final = (
    Column("drain", "drained/s"),
    Column("cpu", "worker CPU µs a run", 1),
    Column("server", "server CPU µs a run", 1),
)
_CONTENDERS: Final = (
    FOLIOT_SQLITE,
    tuned(FOLIOT_SQLITE),
    CEILING_SQLITE,
    on_uvloop(CEILING_SQLITE),
    HUEY,
    FOLIOT_POSTGRES,
    tuned(FOLIOT_POSTGRES),
    CEILING_POSTGRES,
    on_uvloop(CEILING_POSTGRES),
    PGQUEUER,
    on_uvloop(PGQUEUER),
    GRAPHILE,
    GRAPHILE_LOCAL,
    PROCRASTINATE,
)
_ENOUGH: Final = 2.0
"""Seconds of draining for one figure."""


def measure(places: Places, scale: Scale) -> list[Table]:
    count = scale.pick(100_000, 20_000)
    samples = interleave(_CONTENDERS, scale.rounds_of(3), lambda contender: _measure(contender, places, scale, count))
    note = (
        f"{count:,} no-op runs (slow peers fewer, about as many seconds), one worker process; {scale.durability}. From "
        "the first start to the last committed outcome; huey to its last start, because it keeps no outcome. Foliot "
        f"has 100 slots, tuned {TUNED_SLOTS:,} and uvloop, a ceiling {CEILING_SLOTS:,}."
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
    drained = [_drain_new(contender, places, scale, count)]
    while not scale.is_quick and sum(count * contender.share / each["drain"] for each in drained) < _ENOUGH:
        drained.append(_drain_new(contender, places, scale, count))
    return _over_all(drained)


def _drain_new(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, count)
        run(contender, "bulk", order)
        return drain(contender, order, places)


def _over_all(results: Sequence[Result]) -> Result:
    """Join several measurements of the same count, as if they were one."""
    return {
        metric: (harmonic_mean if metric == "drain" else fmean)([result[metric] for result in results])
        for metric in results[0]
    }


def _ratios() -> list[Ratio]:
    sqlite, postgres = FOLIOT_SQLITE, FOLIOT_POSTGRES
    pairs = [
        (sqlite, CEILING_SQLITE, 0.5),
        (tuned(sqlite), on_uvloop(CEILING_SQLITE), None),
        (sqlite, HUEY, None),
        (postgres, CEILING_POSTGRES, 0.6),
        (tuned(postgres), on_uvloop(CEILING_POSTGRES), None),
        (postgres, PGQUEUER, 3),
        (tuned(postgres), on_uvloop(PGQUEUER), None),
        (postgres, GRAPHILE, None),
        (postgres, GRAPHILE_LOCAL, 1.5),
        (postgres, PROCRASTINATE, None),
    ]
    return [Ratio(name=own.name, over=base.name, metric="drain", at_least=aim) for own, base, aim in pairs]
