"""Reads a column from a PostgreSQL server, with a cursor in a read-only transaction.

A role that is a superuser is refused: it could read the files of the server in a query that changes nothing.
"""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import Any, Final

import asyncpg

from foliot.domain.secrets import public_error
from foliot.errors import InputsRefused, InputsUnavailable, shortened

_ROWS: Final = 500
_CONNECT: Final = 10.0
_CLOSE: Final = 5.0
_DRIVER: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, ValueError)
_NO_SUPERUSER: Final = (
    "Register a role that may only read: CREATE ROLE reader LOGIN; GRANT SELECT ON targets TO reader;"
)


async def read_column(dsn: str, query: str, seconds: float) -> AsyncGenerator[Sequence[Any]]:
    """Yield the values of the first column."""
    connection = await _connected(dsn)
    try:
        # Nothing rolls it back: that would wait for the server, and closing the connection has the same effect.
        await connection.transaction(readonly=True).start()
        await connection.execute(f"SET LOCAL statement_timeout = {max(1, round(seconds * 1_000))}")
        if await connection.fetchval("SELECT current_setting('is_superuser')") == "on":
            raise InputsRefused("the role is a superuser, which may do more than read", hint=_NO_SUPERUSER)
        rows = await connection.cursor(query)
        while column := [row[0] for row in await rows.fetch(_ROWS)]:
            yield column
    except _DRIVER as error:
        raise _refused(error) from None
    except IndexError:
        raise InputsRefused("the query has no column", hint="Name the column with the items.") from None
    finally:
        await _close(connection)


async def _connected(dsn: str) -> "asyncpg.Connection[Any]":
    try:
        connection: asyncpg.Connection[Any] = await asyncpg.connect(
            dsn, timeout=_CONNECT, statement_cache_size=0, server_settings={"application_name": "foliot"}
        )
    except _DRIVER as error:
        hint = "Try the DSN with psql on the machine of the coordinator."
        raise InputsUnavailable(f"could not connect: {_reason(error)}", hint=hint) from None
    return connection


def _reason(error: Exception) -> str:
    """Return why there is no connection. The text of the error may contain parts of the DSN."""
    match error:
        case asyncpg.InvalidAuthorizationSpecificationError():
            return "the server refused the user or the password"
        case asyncpg.InvalidCatalogNameError():
            return "the database does not exist"
        case asyncpg.PostgresError():
            return f"the server refused it ({error.sqlstate})"
        case TimeoutError():
            return f"no answer within {_CONNECT:g} s"
        case OSError() if error.errno:
            return os.strerror(error.errno).lower() if error.errno > 0 else "the host could not be found"
        case ValueError() | asyncpg.InterfaceError():
            return "the DSN is not valid"
    return "the connection was closed"


def _refused(error: Exception) -> InputsRefused | InputsUnavailable:
    match error:
        case asyncpg.QueryCanceledError():
            return InputsUnavailable(
                "the query took too long", hint="Add an index, or raise inputs_timeout in [fanout]."
            )
        case asyncpg.ReadOnlySQLTransactionError():
            return InputsRefused("the query does more than read", hint="Use SELECT.")
        case asyncpg.PostgresError() if not (error.sqlstate or "").startswith(("08", "53", "57")):
            message = shortened(public_error(str(error)).partition("\n")[0])
            return InputsRefused(f"the query failed: {message}", hint="Run it with psql and the role of the DSN.")
    return InputsUnavailable("the connection to the server was lost", hint="Look at the log of the server.")


async def _close(connection: "asyncpg.Connection[Any]") -> None:
    """Close the connection, which ends a query that still runs. A server that does not answer is not waited for."""
    with suppress(*_DRIVER):
        await connection.close(timeout=_CLOSE)
