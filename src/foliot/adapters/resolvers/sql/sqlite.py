"""Reads a column from a SQLite file, in a thread.

The file is opened read-only, and an authorizer permits nothing but reading: no ATTACH, no PRAGMA, no extension.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, TypeVar

import apsw

from foliot.domain.fanout.dsn import sqlite_path
from foliot.errors import InputsRefused, InputsUnavailable, shortened

Result = TypeVar("Result")

_ROWS: Final = 500
_STEPS: Final = 10_000
"""The deadline is checked after this many instructions of SQLite."""
_BUSY: Final = 5_000
_LONGEST_VALUE: Final = 64 << 20
_PERMITTED: Final = frozenset({apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_RECURSIVE})
_FORBIDDEN_FUNCTIONS: Final = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})


async def read_column(dsn: str, query: str, seconds: float) -> AsyncGenerator[Sequence[Any]]:
    """Yield the values of the first column."""
    connection = await _opened(sqlite_path(dsn))
    try:
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        rows = await _run(connection, lambda: _execute(connection, query))
        while column := await _run(connection, lambda: [row[0] for row in islice(rows, _ROWS)]):
            yield column
    finally:
        connection.close(True)


async def _opened(path: str) -> apsw.Connection:
    opening = asyncio.create_task(asyncio.to_thread(_open, path))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close)
        raise


def _close(opening: asyncio.Task[apsw.Connection]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close(True)


def _open(path: str) -> apsw.Connection:
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error:
        hint = "It must exist on the machine of the coordinator, and its account must be able to read it."
        raise InputsUnavailable("the database file could not be opened", hint=hint) from None
    connection.set_busy_timeout(_BUSY)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.authorizer = _authorize
    return connection


def _authorize(code: int, first: str | None, second: str | None, *_: object) -> int:
    if code in _PERMITTED:
        return apsw.SQLITE_OK
    if code == apsw.SQLITE_FUNCTION and second not in _FORBIDDEN_FUNCTIONS:
        return apsw.SQLITE_OK
    if code == apsw.SQLITE_PRAGMA and first == "data_version":
        return apsw.SQLITE_OK  # full-text indexes read it
    return apsw.SQLITE_DENY


def _execute(connection: apsw.Connection, query: str) -> apsw.Cursor:
    cursor = connection.cursor()
    statements = 0

    def trace(*_: object) -> bool:
        nonlocal statements
        statements += 1
        return statements == 1

    cursor.exec_trace = trace
    return cursor.execute(query)


async def _run(connection: apsw.Connection, call: Callable[[], Result]) -> Result:
    """Call a function in a thread. If this is cancelled, the query is interrupted, and the thread has ended."""
    calling = asyncio.create_task(asyncio.to_thread(call))
    try:
        return await asyncio.shield(calling)
    except asyncio.CancelledError:
        connection.interrupt()
        with suppress(Exception):
            await asyncio.wait((calling,))
            calling.exception()
        raise
    except apsw.Error as error:
        raise _refused(error) from None


def _refused(error: apsw.Error) -> InputsRefused | InputsUnavailable:
    match error:
        case apsw.InterruptError():
            return InputsUnavailable(
                "the query took too long", hint="Add an index, or raise inputs_timeout in [fanout]."
            )
        case apsw.AuthError() | apsw.ReadOnlyError():
            return InputsRefused("the query does more than read", hint="Use SELECT, without PRAGMA and ATTACH.")
        case apsw.ExecTraceAbort():
            return InputsRefused("there is more than one statement", hint="Write one query.")
        case apsw.BusyError() | apsw.LockedError() | apsw.IOError() | apsw.CantOpenError():
            return InputsUnavailable("the database file could not be read", hint="Another program may be using it.")
        case apsw.NotADBError() | apsw.CorruptError():
            return InputsRefused("the file is not a SQLite database, or is damaged", hint="Correct the DSN.")
    return InputsRefused(f"the query failed: {shortened(str(error))}", hint="Run it with the tools of the database.")
