"""From enqueue to start for an ordinary job, idle and beside a running fanout."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bench.children import Child, ChildFailed, deadline, run
from bench.fanout.server import DEFAULT_SLOTS, DEFAULT_WIDTH, PROGRAM, SERVER, FanoutContender, serving, write_items
from bench.fanout.state import FanoutReader, reading
from bench.orders import Result
from bench.places import Database, Places
from bench.roster import TUNED_SLOTS
from bench.samples import interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table

_COLUMNS: Final = (Column("p50", "p50 ms", 2), Column("p95", "p95 ms", 2))
_ITEMS: Final = 500_000
"""More than can run during the measurement. It is an error if all of them have."""
_IDLE: Final = FanoutContender(name="idle", module="foliot_fanout", database=Database.SQLITE, program=SERVER)
_BESIDE: Final = (
    replace(_IDLE, name=f"beside commands, {DEFAULT_WIDTH} at once", child=PROGRAM),
    replace(_IDLE, name=f"beside functions, {DEFAULT_WIDTH} at once"),
    replace(_IDLE, name=f"beside functions, {DEFAULT_SLOTS} at once", width=DEFAULT_SLOTS),
    replace(
        _IDLE,
        name=f"beside functions, {DEFAULT_SLOTS} at once, tuned",
        width=DEFAULT_SLOTS,
        slots=TUNED_SLOTS,
        loop="uvloop",
    ),
)


def measure(places: Places, scale: Scale) -> Table:
    count = scale.pick(200, 50)
    samples = interleave((_IDLE, *_BESIDE), scale.rounds_of(2), lambda each: _measure(each, places, scale, count))
    note = (
        f"{count} runs of an ordinary job, one every 20 ms, enqueued by another process; `foliot serve` with "
        f"{DEFAULT_SLOTS} slots, its default, on SQLite, synchronous={scale.synchronous}; tuned with uvloop and "
        f"{TUNED_SLOTS:,} slots. The fanout has the same priority and the same worker; with {DEFAULT_SLOTS} at once it "
        "can use every slot. The commands are `true`, the functions do nothing."
    )
    return Table(
        title="An ordinary job beside a fanout", note=note, columns=_COLUMNS, samples=samples, ratios=_ratios()
    )


def _measure(contender: FanoutContender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, count, width=contender.width)
        write_items(order, _ITEMS)
        with serving(contender, order) as server:
            if contender is _IDLE:
                return run(contender, "latency", order)
            run(contender, "start", order)
            with reading(place) as fanout:
                _wait_for_children(fanout, server)
                result = run(contender, "latency", order)
                if fanout.read().is_over:
                    raise ChildFailed(f"{contender.name}: the fanout ended too early")
            return result


def _wait_for_children(fanout: FanoutReader, server: Child) -> None:
    until = deadline()
    while not fanout.read().ended:
        server.check()
        if time.monotonic() > until:
            raise ChildFailed("a fanout did not start")
        time.sleep(0.05)


def _ratios() -> Sequence[Ratio]:
    pairs = itertools.product(_BESIDE, ("p50", "p95"))
    return [Ratio(name=each.name, over=_IDLE.name, metric=metric, at_most=2) for each, metric in pairs]
