"""Ten thousand schedules due at the same moment, all fired durably.

    add all, due at T  ->  start the scheduler  ->  T ... each firing is committed
                                                    |------- drift -------|

The harness watches the database and sees when half, 99 % and all of them are fired. APScheduler, whose schedules live
in its process, notes when each job starts.
"""

import time

from bench.children import Child, ChildFailed, Contender, run
from bench.orders import Order, Result
from bench.places import Database, Places
from bench.roster import (
    APSCHEDULER_MEMORY,
    APSCHEDULER_SQLITE,
    SCHEDULES_CEILING_POSTGRES,
    SCHEDULES_CEILING_SQLITE,
    SCHEDULES_POSTGRES,
    SCHEDULES_SQLITE,
    SERVE_POSTGRES,
    SERVE_SQLITE,
)
from bench.samples import interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table
from bench.watchers import Watcher

_CONTENDERS = (
    SCHEDULES_CEILING_SQLITE,
    SCHEDULES_SQLITE,
    SERVE_SQLITE,
    APSCHEDULER_MEMORY,
    APSCHEDULER_SQLITE,
    SCHEDULES_CEILING_POSTGRES,
    SCHEDULES_POSTGRES,
    SERVE_POSTGRES,
)
_COLUMNS = (
    Column("fire", "fired/s"),
    Column("p50", "drift p50 ms"),
    Column("p99", "drift p99 ms"),
    Column("last", "last ms"),
    Column("add", "added/s"),
)
_LEAD = 12
_HEAD_START = 1.5
_EVERY = 0.004


def measure(places: Places, scale: Scale) -> list[Table]:
    count = 10_000
    samples = interleave(_CONTENDERS, scale.rounds_of(3, 1), lambda each: _measure(each, places, scale, count))
    note = (
        f"{count:,} hourly schedules due at one moment (APScheduler's SQLite store a tenth of them); "
        f"{scale.durability}. Fired means: run stored and schedule moved on, committed; for APScheduler: job started. "
        "The rate counts from the due moment to the last firing."
    )
    return [Table(title="Schedules", note=note, columns=_COLUMNS, samples=samples, ratios=_ratios())]


def _measure(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        due_at = float(int(time.time()) + _LEAD)
        order = Order(
            place=place, marks=marks, count=count, due_at=due_at, slots=scale.slots, synchronous=scale.synchronous
        ).scaled(contender.share)
        if not contender.remaining:
            return run(contender, contender.operation, order)
        added = run(contender, "hold", order)
        with Child(contender, order) as child:
            return {**added, **_watch(contender, order, child)}


def _watch(contender: Contender, order: Order, child: Child) -> Result:
    """Wait until all schedules are fired, and record the progress."""
    if time.time() > order.due_at - _HEAD_START:
        raise ChildFailed(f"{contender.name}: schedules were due before the scheduler had started")
    drifts: dict[str, float] = {}
    with Watcher(contender, order) as watcher:
        time.sleep(order.due_at - time.time())
        while "last" not in drifts:
            fired = order.count - watcher.remaining()
            drift = (time.time() - order.due_at) * 1000
            for name, part in (("p50", 0.5), ("p99", 0.99), ("last", 1.0)):
                if fired >= part * order.count:
                    drifts.setdefault(name, drift)
            child.check()
            time.sleep(_EVERY if contender.database is Database.SQLITE else 2 * _EVERY)
    return {**drifts, "fire": order.count / drifts["last"] * 1000}


def _ratios() -> list[Ratio]:
    sqlite, postgres = SCHEDULES_SQLITE.name, SCHEDULES_POSTGRES.name
    return [
        Ratio(name=sqlite, over=SCHEDULES_CEILING_SQLITE.name, metric="last", at_most=4),
        Ratio(name=postgres, over=SCHEDULES_CEILING_POSTGRES.name, metric="last", at_most=4),
        Ratio(name=sqlite, over=APSCHEDULER_MEMORY.name, metric="fire", at_least=1.5),
        Ratio(name=postgres, over=APSCHEDULER_MEMORY.name, metric="fire", at_least=1.5),
        Ratio(name=sqlite, over=APSCHEDULER_SQLITE.name, metric="fire", at_least=20),
        Ratio(name=SERVE_SQLITE.name, over=APSCHEDULER_MEMORY.name, metric="fire"),
        Ratio(name=sqlite, over=SCHEDULES_CEILING_SQLITE.name, metric="add", at_least=0.2),
        Ratio(name=sqlite, over=APSCHEDULER_MEMORY.name, metric="add", at_least=5),
    ]
