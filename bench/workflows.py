"""Executions: the time from one step to the next beside that of a bare commit, and a wide fan-in.

    python -m bench.workflows [--steps 40] [--wide 1000] [--rounds 3]

On SQLite with synchronous=FULL, scheduler and worker in one process. Steps are functions that do nothing. A transition
is the finish of one step, the settling of its execution, and the claim of the next one.
"""

import argparse
import asyncio
import secrets
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import apsw

from foliot import Foliot, Workflow
from foliot.adapters.clock import SystemClock
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.ids import IdSource
from foliot.wiring import build_services


def main() -> None:
    options = _parse()
    print(f"{'':28}{'ms a step':>12}{'commits a step':>16}{'commit ms':>12}{'ratio':>8}")
    for name, build, size in (
        (f"{options.steps} steps in a row", chain, options.steps),
        (f"{options.wide} wide, then one", fan_in, options.wide),
    ):
        rounds = [asyncio.run(_measure(build(size), size)) for _ in range(options.rounds)]
        step, commits, commit = (statistics.median(values) for values in zip(*rounds, strict=True))
        print(f"{name:28}{step:12.2f}{commits:16.2f}{commit:12.2f}{step / commit:8.2f}")


def chain(size: int) -> Workflow:
    """Return a workflow of consecutive steps."""
    flow = Workflow("flow")
    for number in range(size):
        step = flow.step(f"s{number}", _nothing)
        if number:
            step.after(f"s{number - 1}")
    return flow


def fan_in(size: int) -> Workflow:
    """Return a workflow of parallel steps, and one step that waits for all of them."""
    flow = Workflow("flow")
    for number in range(size):
        flow.step(f"s{number}", _nothing)
    last = flow.step("last", _nothing)
    for number in range(size):
        last.after(f"s{number}")
    return flow


async def _nothing() -> None:
    pass


async def _measure(flow: Workflow, size: int) -> tuple[float, float, float]:
    """Return milliseconds and commits per step, and the milliseconds of a bare commit."""
    with tempfile.TemporaryDirectory(prefix="foliot-bench-") as directory:
        commit = _commit_time(Path(directory) / "bare.db")
        passed: Counter[str] = Counter()
        clock = SystemClock()
        storage = await SqliteStorage.open(
            Path(directory) / "flow.db", clock=clock, faults=lambda point: passed.update([point])
        )
        app = Foliot(clock=clock)
        app.workflow(flow)
        done = asyncio.Event()
        app.on_workflow_complete(lambda execution: done.set())
        await app.open(build_services(storage, clock, IdSource(lambda: secrets.randbits(80))))
        node = await app.node()
        await node.start()
        passed.clear()
        began = time.perf_counter()
        await app.workflows.start("flow")
        await done.wait()
        elapsed = (time.perf_counter() - began) * 1000
        commits = sum(count for point, count in passed.items() if point.endswith(".before_commit"))
        await node.stop()
        await app.close()
    return elapsed / size, commits / size, commit


def _commit_time(path: Path) -> float:
    """Return the median of a hundred commits of one row."""
    connection = apsw.Connection(str(path))
    list(connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x)"))
    times = []
    for number in range(100):
        began = time.perf_counter()
        list(connection.execute(f"BEGIN IMMEDIATE; INSERT INTO t VALUES ({number}); COMMIT"))
        times.append(time.perf_counter() - began)
    connection.close()
    return statistics.median(times) * 1000


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.workflows", description="Executions beside bare commits.")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--wide", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
