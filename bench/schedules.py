"""Ten thousand schedules due at the same moment, counted to the start of the job; and adding schedules.

    add all, due at T  ->  start the server  ->  T ... each job starts
                                                 |----- drift -----|

The jobs note when they start, in Foliot's server as in the process of APScheduler.
"""

import json
import time
from pathlib import Path
from typing import Final

from bench.children import Child, ChildFailed, Contender, deadline, run
from bench.orders import Order, Result
from bench.places import Places
from bench.roster import APSCHEDULER_MEMORY, APSCHEDULER_SQLITE, SERVE_POSTGRES, SERVE_SQLITE, tuned
from bench.samples import interleave, percentile
from bench.scale import Scale
from bench.tables import Column, Ratio, Table

_CONTENDERS: Final = (
    SERVE_SQLITE,
    tuned(SERVE_SQLITE),
    SERVE_POSTGRES,
    tuned(SERVE_POSTGRES),
    APSCHEDULER_MEMORY,
    APSCHEDULER_SQLITE,
)
_COLUMNS: Final = (
    Column("fire", "fired/s"),
    Column("p50", "drift p50 ms"),
    Column("p99", "drift p99 ms"),
    Column("last", "last ms"),
    Column("add", "added/s, one by one"),
    Column("bulk", "added/s, bulk"),
)
_COUNT: Final = 10_000
_ADDED: Final = 500
_LEAD: Final = 6
"""Seconds from adding to the due moment: enough for adding all schedules and for starting the server."""
_LONGER_LEAD: Final = 30
"""The same on a busy machine, if the first was too short."""
_HEAD_START: Final = 1.5
_DAY: Final = 86_400


def measure(places: Places, scale: Scale) -> list[Table]:
    samples = interleave(_CONTENDERS, scale.rounds_of(2), lambda each: _measure(each, places, scale))
    note = (
        f"{_COUNT:,} hourly schedules due at one moment (APScheduler's SQLite store a tenth of them); `foliot serve`; "
        f"{scale.durability}. Fired means that the job has started. The rate counts from the due moment to the last "
        f"start. One by one: {_ADDED} calls of `app.schedules.upsert` or `add_job`, one after another, to a database "
        "without schedules. In bulk: 1,000 schedules per call; APScheduler has no such call."
    )
    return [Table(title="Schedules", note=note, columns=_COLUMNS, samples=samples, ratios=_ratios())]


def _measure(contender: Contender, places: Places, scale: Scale) -> Result:
    if not contender.program:
        with places.fresh(contender.database) as (place, marks):
            order = contender.order(place, marks, scale, _COUNT, due_at=_moment(_LEAD))
            return run(contender, contender.operation, order)
    with places.fresh(contender.database) as (place, marks):
        added = run(contender, "add", contender.order(place, marks, scale, _ADDED, due_at=_moment(_DAY)))
    try:
        return {**added, **_fire(contender, places, scale, _LEAD)}
    except _StartedLate:
        return {**added, **_fire(contender, places, scale, _LONGER_LEAD)}


class _StartedLate(ChildFailed):
    """The schedules were due before the server had started."""


def _fire(contender: Contender, places: Places, scale: Scale, lead: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, _COUNT, due_at=_moment(lead))
        held = run(contender, "hold", order)
        with Child(contender, order) as server:
            return {**held, **_wait_for_starts(contender, order, server)}


def _moment(seconds: int) -> float:
    return float(int(time.time()) + seconds)


def _wait_for_starts(contender: Contender, order: Order, server: Child) -> Result:
    """Wait until all jobs have started."""
    if time.time() > order.due_at - _HEAD_START:
        raise _StartedLate(f"{contender.name}: schedules were due before the server had started")
    path, until = Path(order.marks) / "moments", deadline()
    while not path.exists():
        server.check()
        if time.monotonic() > until:
            raise ChildFailed(f"{contender.name}: not all schedules have fired")
        time.sleep(0.05)
    return drifts(json.loads(path.read_text()), order)


def drifts(moments: list[float], order: Order) -> Result:
    """Return how long after the due moment the jobs started."""
    late = [(moment - order.due_at) * 1000 for moment in moments]
    last = max(late)
    return {
        "fire": order.count / last * 1000,
        "p50": percentile(late, 0.5),
        "p99": percentile(late, 0.99),
        "last": last,
    }


def _ratios() -> list[Ratio]:
    sqlite, postgres = SERVE_SQLITE.name, SERVE_POSTGRES.name
    memory, stored = APSCHEDULER_MEMORY.name, APSCHEDULER_SQLITE.name
    return [
        Ratio(name=sqlite, over=memory, metric="fire", at_least=1.5),
        Ratio(name=postgres, over=memory, metric="fire", at_least=1.5),
        Ratio(name=tuned(SERVE_SQLITE).name, over=memory, metric="fire"),
        Ratio(name=tuned(SERVE_POSTGRES).name, over=memory, metric="fire"),
        Ratio(name=sqlite, over=stored, metric="fire"),
        Ratio(name=sqlite, over=memory, metric="bulk", at_least=3),
        Ratio(name=postgres, over=memory, metric="bulk", at_least=3),
        Ratio(name=sqlite, over=stored, metric="add"),
    ]
