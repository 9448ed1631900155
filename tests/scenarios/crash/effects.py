"""Effects of jobs: one line for each start and each end, appended in one write.

The order of the lines does not depend on a clock.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from foliot.domain.ids import RunId

SHELL_NOTE = "printf '%s %s %s %s %s\\n' {what} $FOLIOT_RUN_ID $FOLIOT_ATTEMPT $$ $(date +%s%3N) >> \"$CRASH_EFFECTS\""


class Effect(NamedTuple):
    what: str
    run_id: RunId
    attempt: int
    pid: int
    at: int
    """Milliseconds since the epoch."""


class Interval(NamedTuple):
    """One attempt from start to end, as positions in the file. Without an end it was killed or failed."""

    run_id: RunId
    attempt: int
    pid: int
    begin: int
    end: int | None
    at: int


@contextmanager
def effect(path: Path, run_id: str, attempt: int) -> Iterator[None]:
    """Record the start, and the end unless the block raises."""
    note(path, "begin", run_id, attempt)
    yield
    note(path, "end", run_id, attempt)


def note(path: Path, what: str, run_id: str, attempt: int) -> None:
    line = f"{what} {run_id} {attempt} {os.getpid()} {time.time_ns() // 1_000_000}\n"
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def shell_note(what: str) -> str:
    """Return a shell command that does the same."""
    return SHELL_NOTE.format(what=what)


def read_effects(path: Path) -> list[Effect]:
    if not path.exists():
        return []
    words = (line.split() for line in path.read_text().splitlines())
    return [Effect(what, RunId(run_id), int(attempt), int(pid), int(at)) for what, run_id, attempt, pid, at in words]


def intervals(effects: list[Effect]) -> list[Interval]:
    """Pair starts with ends. A process may run the same attempt twice if it was given back."""
    found: list[Interval] = []
    for place, seen in enumerate(effects):
        if seen.what == "begin":
            found.append(Interval(seen.run_id, seen.attempt, seen.pid, place, None, seen.at))
        else:
            opened = next(i for i in reversed(range(len(found))) if _is_of(found[i], seen))
            found[opened] = found[opened]._replace(end=place)
    return found


def _is_of(interval: Interval, seen: Effect) -> bool:
    return (interval.run_id, interval.attempt, interval.pid) == (seen.run_id, seen.attempt, seen.pid)
