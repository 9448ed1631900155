"""The cost of a large fanout while it runs: memory of the server with its worker, and the size of the database."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.children import Child, ChildFailed, deadline, run
from bench.fanout.server import DEFAULT_SLOTS, SERVER, FanoutContender, serving, write_items
from bench.fanout.state import FanoutState, reading
from bench.orders import Result
from bench.places import Database, Places
from bench.samples import Samples
from bench.scale import Scale
from bench.tables import Column, Table

_COLUMNS: Final = (
    Column("memory", "memory, MB", 1),
    Column("peak", "peak memory, MB", 1),
    Column("database", "database, MB", 1),
    Column("log", "write-ahead log, MB", 1),
    Column("seconds", "after s", 1),
    Column("rate", "items/s so far"),
)
_PARTS: Final = (0.01, 0.5, 1.0)
_EVERY: Final = 0.02
_LONGEST: Final = 4 * 3600.0
"""Seconds. A million items (`--items`) take minutes, and much longer on a busy machine."""
_FOLIOT: Final = FanoutContender(
    name="Foliot",
    module="foliot_fanout",
    database=Database.SQLITE,
    program=SERVER,
    width=DEFAULT_SLOTS,
    slots=DEFAULT_SLOTS,
)


def measure(places: Places, scale: Scale) -> Table:
    count = scale.items or scale.pick(200_000, 10_000)
    samples = Samples()
    for _ in range(scale.rounds_of(1)):
        _measure(places, scale, count, samples)
    note = (
        f"{count:,} items in a file; children are coroutine functions that do nothing, {_FOLIOT.width} at once; "
        f"`foliot serve` with its default of {_FOLIOT.slots} slots on SQLite, synchronous={scale.synchronous}. Memory "
        "is that of the server's process: scheduler, coordinator and worker. The database is its file and that of the "
        "logs. The time counts from the start of the fanout, before the file is read."
    )
    return Table(title="Growth of a large fanout", note=note, columns=_COLUMNS, samples=samples)


def _measure(places: Places, scale: Scale, count: int, samples: Samples) -> None:
    with places.fresh(_FOLIOT.database) as (place, marks):
        order = _FOLIOT.order(place, marks, scale, count, width=_FOLIOT.width)
        write_items(order, count)
        with serving(_FOLIOT, order) as server:
            samples.add("before", _sizes(server, place))
            began = time.monotonic()
            run(_FOLIOT, "start", order)
            parts = list(_PARTS)
            for state in _states(server, place):
                while parts and (state.is_over if parts[0] == 1 else state.ended >= parts[0] * count):
                    seconds = time.monotonic() - began
                    timing = {"seconds": seconds, "rate": state.ended / seconds}
                    samples.add(f"{parts.pop(0):.0%} ended", {**_sizes(server, place), **timing})


def _states(server: Child, place: str) -> Iterator[FanoutState]:
    """Yield how far the fanout is, until it is over."""
    until = deadline(_LONGEST)
    with reading(place) as fanout:
        state = fanout.read()
        while not state.is_over:
            server.check()
            if time.monotonic() > until:
                raise ChildFailed("a fanout did not end")
            time.sleep(_EVERY)
            state = fanout.read()
            yield state


def _sizes(server: Child, place: str) -> Result:
    files = {path.name: path.stat().st_size for path in Path(place).parent.glob("bench.db*") if path.is_file()}
    logs = sum(size for name, size in files.items() if name.endswith("-wal"))
    shared = sum(size for name, size in files.items() if name.endswith("-shm"))
    return {
        "memory": server.memory / 1e6,
        "peak": server.peak_memory / 1e6,
        "database": (sum(files.values()) - logs - shared) / 1e6,
        "log": logs / 1e6,
    }
