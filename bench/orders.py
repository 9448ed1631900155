"""Input and output of a child process: one operation in, one line of JSON out."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Self

Result = Mapping[str, float]
Operation = Callable[["Order"], Result | None]

_VARIABLE: Final = "FOLIOT_BENCH_ORDER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The context of one operation, the same for every contender."""

    place: str
    """A database file, or the DSN of a PostgreSQL database."""
    marks: str
    """A directory for the moments that only the child can measure (see `bench.marks`)."""
    count: int
    slots: int = 500
    """How many runs may run concurrently, if a contender has such a setting."""
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

    def scaled(self, share: float) -> Self:
        return replace(self, count=max(1, int(self.count * share)))


def obey(operations: Mapping[str, Operation]) -> None:
    """Execute the operation named on the command line, and print its result."""
    result: Any = operations[sys.argv[1]](Order.given())
    if result is not None:
        print(json.dumps(result), flush=True)
