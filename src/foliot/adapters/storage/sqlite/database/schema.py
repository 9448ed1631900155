"""Opens a Foliot database of a known version, and migrates it to the newest version.

A file is recognized by its application id; its schema version is SQLite's `user_version`. Migrations are numbered
scripts. All missing ones are applied in one immediate transaction, so two processes that start together apply them
once.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from foliot.adapters.storage.shared.sql import load_migrations
from foliot.adapters.storage.sqlite.database.connection import connect, wait_for_lock
from foliot.adapters.storage.sqlite.database.errors import translated
from foliot.errors import SchemaTooNew, SchemaTooOld, StorageCorrupt, StorageMissing, StorageUnavailable

APPLICATION_ID: Final = 0x466F6C69
"""The letters "Foli"."""
_SCRIPTS: Final = Path(__file__).parent.parent / "migrations"
MAIN: Final = load_migrations(_SCRIPTS / "main")
LOGS: Final = load_migrations(_SCRIPTS / "logs")
_SMALL_CACHE_KIB: Final = 1_024
_WAL_LEFTOVER: Final = 64 * 1024 * 1024


def open_file(
    path: Path, migrations: Mapping[int, str], *, synchronous: str, cache_kib: int, create: bool = True
) -> apsw.Connection:
    """Return a connection to the database at `path`, which is created or migrated if necessary.

    Without `create`, a file that would have to be created or migrated is refused and left unchanged.
    """
    with translated(path):
        if create:
            _create_file(path)
        elif not path.exists():
            raise StorageMissing(f"at {path}")
        _refuse_hard_links(path)
        try:
            connection = connect(path, synchronous=synchronous, cache_kib=cache_kib)
        except apsw.ReadOnlyError as error:
            if create:
                raise
            raise _needs_server(path) from error
        with _closed_on_error(connection):
            _check_owner(connection, path)
            if not create:
                _check_version(connection, path, max(migrations))
            _use_write_ahead_log(connection, path)
            _migrate(connection, path, migrations)
    return connection


def open_any_version(path: Path) -> apsw.Connection:
    """Return a connection to a Foliot database of any version. Does not change the file or read its tables."""
    with translated(path):
        _refuse_hard_links(path)
        connection = connect(path, synchronous="FULL", cache_kib=_SMALL_CACHE_KIB)
        with _closed_on_error(connection):
            _check_owner(connection, path)
    return connection


@contextmanager
def _closed_on_error(connection: apsw.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _create_file(path: Path) -> None:
    """Create a private file: SQLite would use the umask, but jobs and their output are private."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise StorageUnavailable(f"{path} is a directory", hint="Name a file inside it.")
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _refuse_hard_links(path: Path) -> None:
    """Refuse a file with several hard links, unless this link is the one in use.

    The latest writes are in a write-ahead log that is named after the file. Opened by another link, the log would not
    be found, and a second one would be created: the two would corrupt the file.
    """
    if path.stat().st_nlink > 1 and not Path(f"{path}-wal").exists():
        raise StorageUnavailable(
            f"the database {path} has a second hard link, which would corrupt it",
            hint="Stop all processes, remove one of the two (find them with: find DIRECTORY -samefile FILE), and make "
            "it a symbolic link, with: ln -s. Copies are made with: foliot backup",
        )


def _needs_server(path: Path) -> StorageUnavailable:
    """Return the error for a user who may not write the file: SQLite can read it only while a server has it open."""
    # Opened as immutable, the file could be read. But another process may begin to write meanwhile, and then the result
    # would be wrong.
    return StorageUnavailable(
        f"the database {path} cannot be read by a user without the right to write it, unless a server is running",
        hint="SQLite has to write beside the file. Read it while a server runs, or as a user who may write to the file "
        "and its directory, or copy the file.",
    )


def _check_owner(connection: apsw.Connection, path: Path) -> None:
    # Tables and id of a new file are created in one transaction. Read in this order, tables without the id belong to
    # another program, even while another process creates the file.
    has_tables = _has_tables(connection)
    owner = connection.pragma("application_id")
    if owner == APPLICATION_ID or (owner == 0 and not has_tables):
        return
    raise StorageCorrupt(
        f"{path} is a SQLite database of another program", hint="Name a new file. This one was not changed."
    )


def _has_tables(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall())


def _check_version(connection: apsw.Connection, path: Path, newest: int) -> None:
    found = _version(connection, newest)
    if found == 0:
        raise StorageMissing(f"in {path}")
    if found < newest:
        raise SchemaTooOld(found=found, needed=newest)


def _use_write_ahead_log(connection: apsw.Connection, path: Path) -> None:
    mode = _set_wal_mode(connection)
    if mode != "wal":
        raise StorageUnavailable(
            f"the database {path} cannot use a write-ahead log",
            hint="Put the file on a local disk: network file systems lack what it needs.",
        )
    connection.pragma("journal_size_limit", _WAL_LEFTOVER)


def _set_wal_mode(connection: apsw.Connection) -> str:
    """Set the journal mode, and return the one that the file has now.

    If several processes create one file, one of them changes its mode, and the others get a busy error immediately:
    SQLite does not call the busy handler here.
    """
    asked = 0
    while True:
        try:
            return str(connection.pragma("journal_mode", "wal"))
        except apsw.BusyError:
            if not wait_for_lock(asked):
                raise
        asked += 1


def _migrate(connection: apsw.Connection, path: Path, migrations: Mapping[int, str]) -> None:
    newest = max(migrations)
    if _version(connection, newest) == newest:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again under the lock: another process may have migrated meanwhile.
        found = _version(connection, newest)
        if found == 0:
            _check_owner(connection, path)
        for number in range(found + 1, newest + 1):
            connection.execute(migrations[number])
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", newest)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: apsw.Connection, newest: int) -> int:
    found = int(connection.pragma("user_version"))
    if found > newest:
        raise SchemaTooNew(found=found, supported=newest)
    return found
