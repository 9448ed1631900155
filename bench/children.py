"""Contenders at work in processes of their own."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from bench import processes
from bench.orders import Order, Result
from bench.places import Database

_PATIENCE = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A module in `bench.contenders` whose operations can be measured, and how to look at its database."""

    name: str
    module: str
    database: Database
    remaining: str = ""
    """Counts what is not finished (or not fired by {due}). Empty: the contender's own marks tell."""
    operation: str = "work"
    """What its long-running process does."""
    program: str = ""
    """Arguments of the interpreter for that process, where it is no operation of the module but the real thing."""
    share: float = 1.0
    """The part of the count that a slow contender gets, to end within the hour."""

    def command(self, operation: str) -> list[str]:
        return [sys.executable, "-m", f"bench.contenders.{self.module}", operation]

    def process(self, order: Order) -> list[str]:
        """The command of its long-running process."""
        program = self.program.format(slots=order.slots).split()
        return [sys.executable, *program] if program else self.command(self.operation)


class ChildFailed(Exception):
    """A contender's process ended badly, or did not end."""


def run(contender: Contender, operation: str, order: Order) -> Result:
    """Carry out one operation to its end."""
    done = subprocess.run(
        contender.command(operation),
        env=order.environment(),
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode:
        raise ChildFailed(f"{contender.name} {operation}: {_last_words(done.stderr)}")
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
        """Raise if the process is gone."""
        if self._process.poll() is not None:
            raise ChildFailed(f"{self._name} ended: {_last_words(self._errors.read_text())}")

    @property
    def cpu_seconds(self) -> float:
        """Processor time used so far, by all its threads."""
        return processes.cpu_seconds(self._process.pid)

    @property
    def memory(self) -> int:
        """Resident bytes."""
        return processes.memory(self._process.pid)


def _last_words(errors: str) -> str:
    return " / ".join(errors.strip().splitlines()[-3:])


def deadline(seconds: float = _PATIENCE) -> float:
    return time.monotonic() + seconds
