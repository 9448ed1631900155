"""Input and output of a child process: one operation in, one line of JSON out."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final, Self

Result = Mapping[str, float]
Operation = Callable[["Order"], Result | None]
AsyncOperation = Callable[["Order"], Coroutine[Any, Any, Result | None]]

_VARIABLE: Final = "FOLIOT_BENCH_ORDER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The context of one operation, the same for every contender."""

    place: str
    """A database file, or the DSN of a PostgreSQL database."""
    marks: str
    """A directory for the moments that only the child can measure (see `bench.marks`)."""
    count: int
    slots: int = 100
    """How many runs may run concurrently, if a contender has such a setting."""
    loop: str = "asyncio"
    """The event loop of a contender in Python: asyncio or uvloop."""
    seconds: float = 1.0
    """How long a measurement takes that counts calls."""
    width: int = 4
    """How many items of a fanout may run concurrently."""
    synchronous: str = "FULL"
    """SQLite's durability. PostgreSQL always commits synchronously."""
    due_at: float = 0.0
    """The time (epoch seconds) at which all schedules are due."""

    @classmethod
    def given(cls) -> Self:
        """Return the order that this process was started with."""
        return cls(**json.loads(os.environ[_VARIABLE]))

    def environment(self) -> dict[str, str]:
        """Return the variables for a process that reads this order."""
        return {**os.environ, _VARIABLE: json.dumps(asdict(self))}

    @property
    def url(self) -> str:
        """The database as Foliot writes it."""
        if self.place.startswith("postgresql"):
            return self.place
        return f"sqlite:///{self.place}?synchronous={self.synchronous.lower()}"


def obey_async(operations: Mapping[str, AsyncOperation]) -> None:
    """Execute the named coroutine function, on the event loop of the order."""
    obey({name: partial(_on_loop, operation) for name, operation in operations.items()})


def _on_loop(operation: AsyncOperation, order: Order) -> Result | None:
    with asyncio.Runner(loop_factory=_loop_factory(order.loop)) as runner:
        return runner.run(operation(order))


def _loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    if name == "asyncio":
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop


def obey(operations: Mapping[str, Operation]) -> None:
    """Execute the operation named on the command line, and print its result."""
    result: Any = operations[sys.argv[1]](Order.given())
    if result is not None:
        print(json.dumps(result), flush=True)
