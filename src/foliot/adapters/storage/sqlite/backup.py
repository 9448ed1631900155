"""Copies both files of a storage at one moment, while other processes continue to write.

    main   ====[locked]====== copied ==>     While the main file is locked, no token is assigned. So every chunk in the
    logs   ======|=========== copied ==>     log file belongs to an attempt in the copy of the main file, and a server
    on
                 both snapshots              the copies never assigns a token that already has output.

A copy gets its name only when it is complete and checked, so a file with that name is a valid backup.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from foliot.adapters.storage.sqlite.database.errors import damaged, translated
from foliot.adapters.storage.sqlite.database.schema import open_any_version
from foliot.adapters.storage.sqlite.storage import parse_url
from foliot.errors import InvalidInput, StorageMissing

Progress = Callable[[int, int], None]
"""Called with the number of copied pages of a file, and the number of all its pages."""

_PAGES: Final = 1_000
"""Pages copied per step."""
_LOGS: Final = "-logs"
_BESIDE: Final = ("", "-wal", "-shm", "-journal")


class _Copy(NamedTuple):
    source: Path
    target: Path
    unfinished: Path

    @classmethod
    def of(cls, source: Path, target: Path) -> "_Copy":
        return cls(source, target, target.with_name(f".{target.name}.{os.getpid()}"))


async def back_up(url: str, target: Path, progress: Progress) -> list[Path]:
    """Copy the database that a URL names to `target`, and its logs beside it. Returns the new files.

    In a directory the copy is named after the database and the time.
    """
    return await asyncio.to_thread(_back_up, parse_url(url).path.resolve(), target, progress)


def _back_up(source: Path, target: Path, progress: Progress) -> list[Path]:
    if not source.exists():
        raise StorageMissing(f"at {source}")
    if target.is_dir():
        target /= f"{source.stem}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{source.suffix}"
    _refuse_existing(target)
    copies = [_Copy.of(source, target), _Copy.of(_logs_of(source), _logs_of(target))]
    copies = [copy for copy in copies if copy.source.exists()]
    with _snapshots(copies) as snapshots:
        try:
            for copy, snapshot in zip(copies, snapshots, strict=True):
                _copy(copy, snapshot, progress)
            _refuse_existing(target)
            # The main file last: the log file is useless without it.
            for copy in reversed(copies):
                copy.unfinished.rename(copy.target)
        finally:
            for copy in copies:
                copy.unfinished.unlink(missing_ok=True)
    return [copy.target for copy in copies]


def _logs_of(path: Path) -> Path:
    return Path(f"{path}{_LOGS}")


def _refuse_existing(target: Path) -> None:
    """Refuse existing files. SQLite would use a write-ahead log beside a copy as the log of that copy."""
    names = [Path(f"{file}{rest}") for file in (target, _logs_of(target)) for rest in _BESIDE]
    for name in names:
        if name.exists():
            raise InvalidInput(
                f"{name} exists", hint="Name another file: existing files are not overwritten.", field="path"
            )


@contextmanager
def _snapshots(copies: list[_Copy]) -> Iterator[list[apsw.Connection]]:
    """Yield connections that read all files at one moment."""
    with ExitStack() as stack:
        opened = [stack.enter_context(closing(open_any_version(copy.source))) for copy in copies]
        if opened[0].pragma("user_version") == 0:
            raise StorageMissing(f"in {copies[0].source}")
        lock = stack.enter_context(closing(open_any_version(copies[0].source)))
        with translated(copies[0].source):
            lock.execute("BEGIN IMMEDIATE")
        for copy, connection in zip(copies, opened, strict=True):
            with translated(copy.source):
                connection.execute("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        lock.execute("ROLLBACK")
        yield opened


def _copy(copy: _Copy, snapshot: apsw.Connection, progress: Progress) -> None:
    with translated(copy.target):
        os.close(os.open(copy.unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with closing(apsw.Connection(str(copy.unfinished), flags=apsw.SQLITE_OPEN_READWRITE)) as made:
            _copy_pages(made, snapshot, progress)
            _check(made, copy.source)


def _copy_pages(made: apsw.Connection, snapshot: apsw.Connection, progress: Progress) -> None:
    with made.backup("main", snapshot, "main") as pages:
        while not pages.done:
            pages.step(_PAGES)
            progress(pages.page_count - pages.remaining, pages.page_count)


def _check(made: apsw.Connection, source: Path) -> None:
    try:
        found = made.pragma("quick_check", 1)
    except apsw.CorruptError as error:
        raise damaged(source, error) from error
    if found != "ok":
        raise damaged(source, apsw.CorruptError(str(found).replace("\n", " ")))
