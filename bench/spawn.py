"""Processes a second: the shell runner beside `xargs -P`, asyncio's subprocess and the bare system calls.

    python bench/spawn.py [--count 1000] [--rounds 5]

The methods run interleaved, so that a slow minute of the machine affects all of them; compare the ratios to xargs. On a
busy machine the rates say who is scheduled first; the processor time spent on each process says what a way costs.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from foliot.adapters.runners.shell import ShellRunner
from foliot.domain.ids import RunId
from foliot.domain.run.logs import Stream
from foliot.ports.runner import Attempt

TRUE = "/bin/true"
Way = Callable[[int, int], None]


class Silence:
    """A log that keeps nothing."""

    def write(self, stream: Stream, data: bytes) -> None:
        pass

    async def drain(self) -> None:
        pass

    def truncated(self, seen: int, stored: int) -> None:
        pass


def by_xargs(count: int, at_once: int) -> None:
    words = b"x\0" * count
    command = ["xargs", "-0", "-n", "1", "-P", str(at_once), TRUE]
    subprocess.run(command, input=words, check=True)


def by_asyncio(count: int, at_once: int) -> None:
    async def one(_: int) -> None:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(TRUE, stdout=pipe, stderr=pipe, start_new_session=True)
        await process.communicate()

    asyncio.run(spread(one, count, at_once))


def by_system_calls(count: int, at_once: int) -> None:
    """Use posix_spawn and a pidfd: no pipes, no search for leftover processes."""

    async def one(_: int) -> None:
        loop = asyncio.get_running_loop()
        pid = os.posix_spawn(TRUE, [TRUE], {}, setsid=True)  # noqa: ASYNC221 - short, and what is measured
        pidfd = os.pidfd_open(pid)
        ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(pidfd, ended.set_result, None)
        await ended
        loop.remove_reader(pidfd)
        os.close(pidfd)
        os.waitpid(pid, 0)  # noqa: ASYNC222 - it has ended

    asyncio.run(spread(one, count, at_once))


def by_runner(count: int, at_once: int, **spec: object) -> None:
    runner, log = ShellRunner(), Silence()

    async def one(number: int) -> None:
        attempt = Attempt(RunId(f"bench-{number}"), "bench", 1, None, spec or {"argv": [TRUE]}, {}, log)
        await runner.run(attempt)

    asyncio.run(spread(one, count, at_once))


async def spread(one: Callable[[int], Awaitable[None]], count: int, at_once: int) -> None:
    numbers = iter(range(count))

    async def lane() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(lane() for _ in range(at_once)))


WAYS: dict[str, Way] = {
    "xargs -P": by_xargs,
    "posix_spawn + pidfd, bare": by_system_calls,
    "shell runner": by_runner,
    "... in a directory": partial(by_runner, argv=[TRUE], working_dir="/"),
    "... by sh -c": partial(by_runner, command="true"),
    "... with a limit": partial(by_runner, argv=[TRUE], limits={"files": 64}),
    "asyncio subprocess": by_asyncio,
}
if os.geteuid() == 0:
    WAYS["... as another user"] = partial(by_runner, argv=[TRUE], user="daemon")


class Sample(NamedTuple):
    rate: float
    """Processes a second."""
    cpu: float
    """Seconds of processor time per process, including that of the parent."""


def measure(count: int, at_once: int, rounds: int) -> dict[str, list[Sample]]:
    samples: dict[str, list[Sample]] = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, way in WAYS.items():
            began, busy = time.perf_counter(), sum(os.times()[:4])
            way(count, at_once)
            took, cpu = time.perf_counter() - began, sum(os.times()[:4]) - busy
            samples[name].append(Sample(count / took, cpu / count))
    return samples


def report(samples: dict[str, list[Sample]]) -> None:
    xargs = samples["xargs -P"]
    for name, found in samples.items():
        rate, cpu = (statistics.median(column) for column in zip(*found, strict=True))
        ratio = statistics.median(own.rate / base.rate for own, base in zip(found, xargs, strict=True))
        lowest, highest = min(found).rate, max(found).rate
        print(f"  {name:28}{rate:>7,.0f}/s  {ratio:4.2f} of xargs", end="")
        print(f"  ({lowest:,.0f}-{highest:,.0f}/s)  {cpu * 1e6:5,.0f} us of processor time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for at_once in (4, 32):
        print(f"{at_once} at once")
        report(measure(options.count, at_once, options.rounds))


if __name__ == "__main__":
    main()
