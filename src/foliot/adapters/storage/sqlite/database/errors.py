"""Translates errors of SQLite into errors of `foliot.errors`: no type of the driver leaves this package."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import disk_usage
from typing import Final

import apsw

from foliot.errors import StorageCorrupt, StorageError, StorageUnavailable

UNSTORABLE: Final = (apsw.ConstraintError, OverflowError, UnicodeEncodeError)
"""Errors of one item of a batch, not of the database."""
_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_ROOM: Final = 64 << 10
"""Bytes. A disk with less free space counts as full."""
_HINTS: Final[tuple[tuple[type[apsw.Error], str, str], ...]] = (
    (apsw.BusyError, "is locked by another process", "Find the process with: fuser FILE. It may be a backup tool."),
    (apsw.LockedError, "is locked by another process", "Find the process with: fuser FILE. It may be a backup tool."),
    (apsw.FullError, "cannot grow: the disk is full", "Free some space; nothing that was saved is lost."),
    (apsw.ReadOnlyError, "cannot be written", "Give this user the right to write the file and its directory."),
    (apsw.PermissionsError, "cannot be written", "Give this user the right to write the file and its directory."),
    (apsw.CantOpenError, "could not be opened", "Check that the directory exists and that this user may write there."),
    (apsw.IOError, "could not be read or written", "Check the disk, its mount and the system log."),
    (apsw.ConnectionClosedError, "is closed", "Open the storage again."),
    (apsw.NoMemError, "needs more memory than there is", "Give the process more memory, or use smaller batches."),
)


def translate(error: apsw.Error, path: Path) -> StorageError:
    """Return the error that describes what happened to the database at `path`, with a hint."""
    if isinstance(error, _DAMAGED):
        return damaged(path, error)
    # On a full disk the index of the write-ahead log cannot be created, which SQLite reports as an I/O error.
    is_full = isinstance(error, apsw.IOError) and _is_full(path.parent)
    for kind, fact, hint in _HINTS:
        if isinstance(error, kind) or (is_full and kind is apsw.FullError):
            return StorageUnavailable(f"the database {path} {fact}", hint=hint)
    return StorageError(
        f"the database {path} refused a statement: {error}",
        hint="Something other than Foliot may have changed it: foliot verify names the rows that cannot be read. "
        "If there are none, please report this.",
    )


def _is_full(directory: Path) -> bool:
    with suppress(OSError):
        return disk_usage(directory).free < _ROOM
    return False


def damaged(path: Path, error: apsw.Error) -> StorageCorrupt:
    if isinstance(error, apsw.NotADBError):
        return StorageCorrupt(f"{path} is not a SQLite database", hint="Check the path; the file was left as it is.")
    return StorageCorrupt(
        f"the database {path} is damaged: {error}",
        hint="Stop all processes, keep a copy of the file, then restore a backup or try: sqlite3 FILE .recover",
    )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path) from error
    except OSError as error:
        raise StorageUnavailable(
            f"the database {path} could not be opened: {error.strerror or error}",
            hint="Check that the directory exists and that this user may write there.",
        ) from error
