"""Builders for attempts, a log in memory, and a reader of the process table that shares no code with the runners."""

import asyncio
import itertools
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from foliot.adapters.runners.shell import ShellRunner
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Failure, Success
from foliot.domain.run.run import Tick
from foliot.ports.runner import Attempt, LogSink

FORKING = "(n=0; while [ $n -lt 200 ]; do sleep {word} & n=$((n+1)); done) & exec sleep {word}"
"""A command that forks until its limit stops it, and at most 200 times."""

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a job another user")

_numbers = itertools.count(1)


class ListLog:
    """Keeps everything that is written, in order."""

    def __init__(self) -> None:
        self.written: list[tuple[Stream, bytes]] = []
        self.sizes: tuple[int, int] | None = None
        """Bytes seen and stored, if the output was truncated."""

    def write(self, stream: Stream, data: bytes) -> None:
        self.written.append((stream, data))

    async def drain(self) -> None:
        pass

    def truncated(self, seen: int, stored: int) -> None:
        self.sizes = (seen, stored)

    def text(self, stream: Stream) -> bytes:
        return b"".join(data for name, data in self.written if name == stream)


def unique() -> str:
    """Return a word that no other test uses: a run id, or a number of seconds for `sleep`."""
    return f"600.{os.getpid()}{next(_numbers)}"


def an_attempt(
    command: str | None = None,
    *,
    log: LogSink | None = None,
    run_id: str | None = None,
    number: int = 1,
    payload: object = None,
    environment: Mapping[str, str] | None = None,
    tick: Tick | None = None,
    scheduled_for: Instant | None = None,
    written: Mapping[str, object] | None = None,
    **spec: object,
) -> Attempt:
    words = {} if command is None else {"command": command}
    return Attempt(
        run_id=RunId(run_id or unique()),
        job_id="a-job",
        number=number,
        payload=payload,
        spec={**words, **spec},
        environment=environment or {},
        log=log or ListLog(),
        tick=tick,
        scheduled_for=scheduled_for,
        written=written or {},
    )


async def run(command: str | None = None, **given: object) -> Success | Failure:
    runner = ShellRunner()
    return await runner.run(an_attempt(command, **given))  # type: ignore[arg-type]


async def output_of(command: str | None = None, **given: object) -> bytes:
    log = ListLog()
    await run(command, log=log, **given)
    return log.text("stdout")


async def survive_fork_bomb(word: str, **given: object) -> int:
    """Run a fork bomb with a limit of 20 processes, cancel it, and return the highest number of processes seen."""
    running = asyncio.create_task(run(FORKING.format(word=word), limits={"processes": 20}, **given))
    await until(lambda: len(living(word)) >= 15)
    most = max(len(living(word)) for _ in range(50))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    return most


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition is true, also on a busy machine."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.002)


def living(word: str) -> list[int]:
    """Return processes, except zombies, with this word in their command line or environment."""
    return [pid for pid in _pids() if word.encode() in _read(pid, "cmdline") + _read(pid, "environ")]


def listed(word: str) -> list[int]:
    """Return processes with this word in their command line, as every user of the machine can list them."""
    return [pid for pid in _pids() if word.encode() in _read(pid, "cmdline")]


def sleeping(word: str) -> list[int]:
    """Return processes that execute `sleep` now. Their parents before exec, such as setsid, have the word as well."""
    return [pid for pid in _pids() if _read(pid, "cmdline") == f"sleep\0{word}\0".encode()]


def carrying(variable: str) -> list[int]:
    """Return living processes with this variable in their environment."""
    return [pid for pid in _pids() if variable.encode() in _read(pid, "environ").split(b"\0")]


def zombies() -> list[int]:
    """Return dead children that were not reaped, except those that earlier tests left (`forget_zombies`)."""
    return [pid for pid in _pids() if pid not in _FORGOTTEN and _stat(pid)[:2] == ["Z", str(os.getpid())]]


_FORGOTTEN: set[int] = set()


def forget_zombies() -> None:
    """Ignore the zombies that exist now."""
    _FORGOTTEN.clear()
    _FORGOTTEN.update(zombies())


def open_descriptors() -> set[str]:
    return {entry.name for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()}


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> list[str]:
    """Return the fields of a stat file after the name: state, parent and so on."""
    return _read(pid, "stat").decode(errors="replace").rpartition(")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
