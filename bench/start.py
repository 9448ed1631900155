"""The time of an import, and from the start of a process to its first job."""

import compileall
import subprocess
import sys
import time
from pathlib import Path

import bench
import foliot
from bench.children import Child, Contender, run
from bench.orders import Result
from bench.places import Places
from bench.roster import (
    CEILING_POSTGRES,
    CEILING_SQLITE,
    FOLIOT_POSTGRES,
    FOLIOT_SQLITE,
    GRAPHILE,
    HUEY,
    PGQUEUER,
    PROCRASTINATE,
    tuned,
)
from bench.samples import Samples, interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table
from bench.watchers import wait_for_mark

_IMPORTS = ("import asyncio", "import foliot", "from foliot import Foliot", "import huey", "import pgqueuer")
_TIMER = "import time; began = time.perf_counter(); {}; print(time.perf_counter() - began)"
_CONTENDERS = (
    FOLIOT_SQLITE,
    tuned(FOLIOT_SQLITE),
    CEILING_SQLITE,
    HUEY,
    FOLIOT_POSTGRES,
    tuned(FOLIOT_POSTGRES),
    CEILING_POSTGRES,
    PGQUEUER,
    GRAPHILE,
    PROCRASTINATE,
)


def measure(places: Places, scale: Scale) -> list[Table]:
    # Compile: pip compiled the other packages when it installed them.
    for package in (foliot, bench):
        compileall.compile_dir(Path(str(package.__file__)).parent, quiet=1)
    return [_imports(scale), _first_jobs(places, scale)]


def _imports(scale: Scale) -> Table:
    samples = Samples()
    for _ in range(scale.pick(15, 5)):
        for statement in _IMPORTS:
            samples.add(statement, {"import": _seconds(statement) * 1000})
    ratios = [
        Ratio(name="import foliot", over="import asyncio", metric="import", at_most=1.5),
        Ratio(name="from foliot import Foliot", over="import asyncio", metric="import"),
    ]
    note = "Inside a fresh interpreter, from before the statement to after it."
    columns = [Column("import", "ms", 1)]
    return Table(title="Import", note=note, columns=columns, samples=samples, ratios=ratios)


def _seconds(statement: str) -> float:
    command = [sys.executable, "-c", _TIMER.format(statement)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _first_jobs(places: Places, scale: Scale) -> Table:
    samples = interleave(_CONTENDERS, scale.rounds_of(3), lambda each: _first_job(each, places, scale))
    note = f"From starting a worker's process to the start of the job that waits for it; {scale.durability}."
    limits = {(FOLIOT_SQLITE.name, "start"): 0.35, (FOLIOT_POSTGRES.name, "start"): 0.45}
    columns = [Column("start", "s", 3)]
    return Table(title="Start to first job", note=note, columns=columns, samples=samples, limits=limits)


def _first_job(contender: Contender, places: Places, scale: Scale) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, 1)
        run(contender, "bulk", order)
        began = time.monotonic()
        with Child(contender, order) as child:
            return {"start": wait_for_mark(order, "first", child) - began}
