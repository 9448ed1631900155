"""The SQL of this package, and the migrations that bring a schema up to date.

The files are written for the schema `foliot`, so that they can be executed unchanged. A query may contain another one
as {its_name}, so that text common to several statements is written once. An array parameter is sent as text
(`values.literal`), so that the driver neither inspects its items nor looks up array types on each connection.

Each migration is one transaction under a lock that ends with it. If two nodes start together, the second one waits and
finds the migration applied. A database that is newer than this code is refused.
"""

import logging
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import asyncpg

from foliot.adapters.storage.postgres.database.dsn import SCHEMA, Dsn
from foliot.adapters.storage.shared.sql import load_migrations, load_statements
from foliot.errors import SchemaTooNew, SchemaTooOld, StorageError, StorageMissing

log = logging.getLogger(__name__)

_PACKAGE: Final = Path(__file__).parent.parent
_ARRAY: Final = re.compile(r"(\$\d+)::((?:text|bigint|int|boolean)\[\])")
_OWN_SCHEMA: Final = re.compile(rf"\b{SCHEMA}\.")

# With SQL_ASCII the server stores any bytes unchanged, including UTF-8.
_ENCODINGS: Final = ("UTF8", "SQL_ASCII")
_LONGEST_STEP: Final = 86_400.0
"""Seconds. A migration may read a large table, or wait for a backup of it."""
_NO_TIMEOUTS: Final = "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0"
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended('foliot schema ' || $1, 0))"
_HAS_META: Final = "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'meta')"
_VERSION: Final = "SELECT value::int FROM foliot.meta WHERE key = 'schema_version'"
_SET_VERSION: Final = """
INSERT INTO foliot.meta (key, value) VALUES ('schema_version', $1)
ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
# A database restored into another server may contain events with higher numbers than its transactions will assign.
_LIFT_EVENTS: Final = """
UPDATE foliot.meta SET value = (newest.number - newest.xid + 1)::text
FROM (SELECT coalesce(max(seq) / 16, 0) AS number, pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xid
      FROM foliot.events) AS newest
WHERE key = 'event_base' AND newest.number >= newest.xid + value::bigint
"""


@cache
def statements(schema: str = SCHEMA) -> Mapping[str, str]:
    """Return every statement by its name."""
    written = load_statements(_PACKAGE / "sql")
    return {name: in_schema(_ARRAY.sub(r"\1::text::\2", text), schema) for name, text in written.items()}


def migrations(schema: str = SCHEMA) -> Mapping[int, str]:
    """Return every migration by its number."""
    return {number: in_schema(text, schema) for number, text in load_migrations(_PACKAGE / "migrations").items()}


def in_schema(text: str, schema: str) -> str:
    return text if schema == SCHEMA else _OWN_SCHEMA.sub(f'"{schema}".', text)


def check_encoding(connection: "asyncpg.Connection[Any]", place: Dsn) -> None:
    """Refuse a database whose encoding lacks characters: error messages of runs may contain any character."""
    encoding = connection.get_settings().server_encoding
    if encoding not in _ENCODINGS:
        raise StorageError(
            f"the database at {place.server} is encoded in {encoding}, which lacks characters",
            hint="Create another one with: createdb --encoding=UTF8 --template=template0 NAME. "
            "pg_dump and pg_restore bring over what is in this one.",
        )


async def migrate(connection: "asyncpg.Connection[Any]", place: Dsn) -> int:
    """Apply the missing migrations and return the version reached."""
    schema = place.schema
    steps = migrations(schema)
    newest = max(steps)
    version = await _version(connection, schema)
    if 0 < version < newest:
        log.info("schema_upgrade", extra={"from": version, "to": newest})
    while version < newest:
        try:
            version = await _apply_next(connection, schema, steps)
        except asyncpg.InsufficientPrivilegeError as error:
            raise StorageError(
                f"{place.server} does not let this user make the tables: {error}",
                hint="Run foliot migrate once as a user with CREATE on the database, who then owns the tables, or as "
                "their owner. Others need no more than USAGE on the schema and its sequences, and SELECT, INSERT, "
                "UPDATE and DELETE on its tables.",
            ) from error
    if version > newest:
        raise SchemaTooNew(found=version, supported=newest)
    await connection.execute(in_schema(_LIFT_EVENTS, schema))
    return version


async def _apply_next(connection: "asyncpg.Connection[Any]", schema: str, steps: Mapping[int, str]) -> int:
    """Apply the next migration, unless another process has done so, and return the version reached."""
    async with connection.transaction():
        await connection.execute(_NO_TIMEOUTS)
        await connection.execute(_LOCK, schema, timeout=_LONGEST_STEP)
        version = await _version(connection, schema)
        if version < max(steps):
            version += 1
            if version == 1:
                await connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
            await connection.execute(steps[version], timeout=_LONGEST_STEP)
            await connection.execute(in_schema(_SET_VERSION, schema), str(version))
    return version


async def check_version(connection: "asyncpg.Connection[Any]", place: Dsn) -> None:
    """Refuse a schema that is missing or has another version. Changes nothing, and needs only the right to read."""
    newest = max(migrations(place.schema))
    version = await _version(connection, place.schema)
    if version == 0:
        raise StorageMissing(f"in schema {place.schema} at {place.server}")
    if version < newest:
        raise SchemaTooOld(found=version, needed=newest)
    if version > newest:
        raise SchemaTooNew(found=version, supported=newest)


async def _version(connection: "asyncpg.Connection[Any]", schema: str) -> int:
    # Not to_regclass: it may answer from what this session cached before it waited for the lock.
    if not await connection.fetchval(_HAS_META, schema):
        return 0
    return await connection.fetchval(in_schema(_VERSION, schema)) or 0
