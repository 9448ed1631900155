"""What a child process is told, and how it answers: one operation in, one line of JSON out."""

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
    """One operation's context, the same for every contender."""

    place: str
    """A database file, or the DSN of a PostgreSQL database."""
    marks: str
    """A directory for the moments that only the child can see (see `bench.marks`)."""
    count: int
    slots: int = 500
    """How many runs may be under way at once, where a contender has such a setting."""
    synchronous: str = "FULL"
    """SQLite's durability. PostgreSQL always commits synchronously."""
    due_at: float = 0.0
    """The moment (epoch seconds) at which all schedules are due."""

    @classmethod
    def given(cls) -> Self:
        """The order that this process was started with."""
        return cls(**json.loads(os.environ[_VARIABLE]))

    def environment(self) -> dict[str, str]:
        """The variables of a process that is to find this order."""
        return {**os.environ, _VARIABLE: json.dumps(asdict(self))}

    def scaled(self, share: float) -> Self:
        return replace(self, count=max(1, int(self.count * share)))


def obey(operations: Mapping[str, Operation]) -> None:
    """Carry out the operation that the command line names, and print its result."""
    result: Any = operations[sys.argv[1]](Order.given())
    if result is not None:
        print(json.dumps(result), flush=True)
