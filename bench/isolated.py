"""Milliseconds of one isolated Python call: from a warm interpreter, without one, and what Python itself takes.

    python -m bench.isolated [--count 30] [--rounds 3]

One call at a time, with a pause before each in which a warm interpreter gets ready; the methods run in turns. Processor
time is that of all processes, starting the next warm interpreter included.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from bench.spawn import Silence
from foliot.adapters.runners.function import Handler
from foliot.adapters.runners.isolated import IsolatedCalls, WarmPool
from foliot.adapters.runners.python import PythonRunner
from foliot.domain.ids import RunId
from foliot.ports.runner import Attempt

TASKS = """
def nothing(): pass
def echo(value): return value
async def coroutine(): pass
"""
READY = 0.15
"""Seconds. Enough for a warm interpreter to get ready."""

Method = Callable[[], Awaitable[object]]


class Sample(NamedTuple):
    wall: float
    cpu: float


async def by_python(statement: str) -> None:
    await asyncio.to_thread(subprocess.run, [sys.executable, "-P", "-c", statement], check=True)


def by_runner(runner: PythonRunner, payload: object = None, **spec: object) -> Method:
    async def call() -> None:
        attempt = Attempt(RunId("bench"), "bench", 1, payload, spec, {}, Silence())
        outcome = await runner.run(attempt)
        assert type(outcome).__name__ == "Success", outcome

    return call


def methods(directory: str) -> dict[str, Method]:
    handlers = {"nothing": Handler.of(lambda: None)}
    warm = PythonRunner(handlers, threads=1)
    cold = PythonRunner(handlers, threads=1, isolated=IsolatedCalls(warm_pool=WarmPool(size=0)))
    where = {"working_dir": directory}
    return {
        "python -c pass": lambda: by_python("pass"),
        "python -c 'what the stub imports'": lambda: by_python("import _socket, ctypes, json"),
        "in process, in a thread": by_runner(warm, handler="nothing"),
        "isolated, warm": by_runner(warm, call="tasks:nothing", **where),
        "... with keywords and a result": by_runner(warm, {"value": 1}, call="tasks:echo", **where),
        "... a coroutine": by_runner(warm, call="tasks:coroutine", **where),
        "isolated, cold": by_runner(cold, call="tasks:nothing", **where),
    }


async def measure(count: int, rounds: int) -> dict[str, list[Sample]]:
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "tasks.py").write_text(TASKS)
        chosen = methods(directory)
        samples: dict[str, list[Sample]] = {name: [] for name in chosen}
        for method in chosen.values():
            await method()
        for _ in range(rounds):
            for name, method in chosen.items():
                samples[name] += [await one(method) for _ in range(count)]
        return samples


async def one(method: Method) -> Sample:
    await asyncio.sleep(READY)
    began, busy = time.perf_counter(), sum(os.times()[:4])
    await method()
    took = time.perf_counter() - began
    await asyncio.sleep(READY)
    return Sample(took, sum(os.times()[:4]) - busy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for name, found in asyncio.run(measure(options.count, options.rounds)).items():
        walls = sorted(sample.wall * 1000 for sample in found)
        cpu = statistics.mean(sample.cpu * 1000 for sample in found)
        print(f"  {name:36}{walls[0]:7.1f} best {statistics.median(walls):7.1f} median", end="")
        print(f"{walls[len(walls) * 9 // 10]:7.1f} 90% {cpu:7.1f} ms of processor time")


if __name__ == "__main__":
    main()
