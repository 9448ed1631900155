"""A server with nothing to do: without schedules, and with a million of them that are not due; and `foliot verify`."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.children import Child, Contender, run
from bench.orders import Order, Result
from bench.places import Places
from bench.roster import SERVE_POSTGRES, SERVE_SQLITE, on_uvloop
from bench.samples import Samples, interleave
from bench.scale import Scale
from bench.tables import Column, Table
from bench.verify import verify_seconds

_DAY: Final = 86_400
_IDLE_COLUMNS: Final = (
    Column("memory", "memory, MB", 1),
    Column("private", "without pages of files, MB", 1),
    Column("idle", "CPU, % of a core", 2),
)
_HOLD_COLUMNS: Final = (
    Column("grown", "memory above an empty one, MB", 1),
    Column("idle", "CPU, % of a core", 2),
    Column("start", "CPU s at the start", 2),
    Column("bytes", "bytes on disk a schedule"),
    Column("bulk", "added/s, bulk"),
)
_VERIFY_COLUMNS: Final = (Column("empty", "empty, s", 2), Column("full", "with schedules, s", 2))
_NO_APP: Final = "-m foliot serve --config={marks}/foliot.toml --loop={loop} --log-level=warning"
"""A server with a file that names only its database: an application would need memory of its own."""
_FOLIOTS: Final = tuple(replace(each, program=_NO_APP) for each in (SERVE_SQLITE, SERVE_POSTGRES))
_MOST_BYTES: Final = {_FOLIOTS[0].name: 250.0}


def measure(places: Places, scale: Scale) -> Iterator[Table]:
    idle = _idle(places, scale)
    yield idle
    yield _hold(places, scale, idle.samples)
    yield _verify(places, scale)


def _idle(places: Places, scale: Scale) -> Table:
    rest = scale.pick(10, 3)
    rows = [row for each in _FOLIOTS for row in (each, on_uvloop(each))]
    samples = interleave(rows, 1, lambda each: _serve(each, places, scale, 0, rest))
    note = (
        f"`foliot serve` without schedules and runs, {rest} s at rest. Memory is the resident memory of its process. "
        "Pages of files, such as the interpreter, are shared with other processes."
    )
    limits = {(each.name, "memory"): 35.0 for each in _FOLIOTS}
    return Table(title="Idle server", note=note, columns=_IDLE_COLUMNS, samples=samples, limits=limits)


def _hold(places: Places, scale: Scale, idle: Samples) -> Table:
    count, rest = scale.pick(1_000_000, 50_000), scale.pick(20, 3)

    def measure_one(contender: Contender) -> Result:
        full = _serve(contender, places, scale, count, rest)
        [memory], [size] = (idle.of(contender.name, metric) for metric in ("memory", "size"))
        return {**full, "grown": full["memory"] - memory, "bytes": (full["size"] - size) / count}

    samples = interleave(_FOLIOTS, 1, measure_one)
    note = (
        f"{count:,} schedules due tomorrow; `foliot serve`, {rest} s at rest; {scale.durability}. CPU at the start is "
        f"that of the first {_settling(scale)} s, of the server and of PostgreSQL."
    )
    limits = {(each.name, "grown"): 30.0 for each in _FOLIOTS} | {(each.name, "idle"): 0.3 for each in _FOLIOTS}
    limits |= {(name, "bytes"): most for name, most in _MOST_BYTES.items()}
    return Table(title="Many schedules", note=note, columns=_HOLD_COLUMNS, samples=samples, limits=limits)


def _serve(contender: Contender, places: Places, scale: Scale, count: int, rest: int) -> Result:
    """Add schedules, run a server, and let it rest."""
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, count, due_at=time.time() // 1 + _DAY)
        added = run(contender, "hold", order)
        size = places.size(place)
        (Path(marks) / "foliot.toml").write_text(f"[storage]\nurl = {json.dumps(order.url)}\n")
        with Child(contender, order) as child:
            before = places.server_seconds(contender.database)
            time.sleep(_settling(scale))
            start = child.cpu_seconds + places.server_seconds(contender.database) - before
            settled = child.cpu_seconds
            time.sleep(rest)
            child.check()
            idle = 100 * (child.cpu_seconds - settled) / rest
            memory = {"memory": child.memory / 1e6, "private": child.private_memory / 1e6}
            return {**added, **memory, "size": size, "start": start, "idle": idle}


def _settling(scale: Scale) -> int:
    """Return the seconds after which a started server is expected to be at rest."""
    return scale.pick(8, 3)


def _verify(places: Places, scale: Scale) -> Table:
    count = scale.pick(10_000, 2_000)
    samples = interleave(_FOLIOTS, scale.rounds_of(2), lambda each: _verified(each, places, scale, count))
    note = f"{count:,} schedules that are not due, so that nothing is reported. The command, with its start."
    limits = {(each.name, "full"): 1.0 for each in _FOLIOTS}
    return Table(title="foliot verify", note=note, columns=_VERIFY_COLUMNS, samples=samples, limits=limits)


def _verified(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    def seconds(place: str, marks: str, number: int) -> float:
        order: Order = contender.order(place, marks, scale, number, due_at=time.time() // 1 + _DAY)
        run(contender, "hold", order)
        return verify_seconds(order)

    with places.fresh(contender.database) as (place, marks):
        empty = seconds(place, marks, 0)
        return {"empty": empty, "full": seconds(place, marks, count)}
