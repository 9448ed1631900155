"""What the driver raises, sorted by what it means: try again, refuse the item, or tell the caller.

No type of the driver leaves this package.
"""

from typing import Final

import asyncpg

from foliot.errors import StorageCorrupt, StorageError, StorageUnavailable

BAD_DATA: Final = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
    ValueError,  # the driver could not even write it down: a number that is too large, text that is none
)
"""One item of a batch cannot be stored, and never will be."""

BROKEN: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a backend that was ended between two messages leaves the driver confused
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    OSError,  # TimeoutError among them
)
"""The connection is gone. Whether a commit under way was carried out is not known."""

COLLIDED: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
)
"""Nothing was saved because others were in the way."""

RETRYABLE: Final = BROKEN + COLLIDED


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, RETRYABLE) and not isinstance(error, BAD_DATA)


def translate(error: BaseException, server: str) -> StorageError:
    """The error that says what happened, and what to do. `server` names host and database, never a password."""
    match error:
        case asyncpg.InvalidCatalogNameError():
            return StorageError(
                f"the database at {server} does not exist", hint="Create it with: createdb NAME, or correct the DSN."
            )
        case asyncpg.InvalidAuthorizationSpecificationError():
            return StorageError(
                f"{server} does not let us in: {error}", hint="Check user and password in the DSN, and pg_hba.conf."
            )
        case asyncpg.InsufficientPrivilegeError():
            return StorageError(
                f"{server} denies a right: {error}",
                hint="Grant this user CREATE on the database, where the schema is made. To look at one that is there, "
                "USAGE on the schema and SELECT on its tables are enough.",
            )
        case asyncpg.UndefinedTableError() | asyncpg.UndefinedFunctionError() | asyncpg.UndefinedColumnError():
            return StorageCorrupt(
                f"{server} lacks a part of the schema: {error}", hint="Something was dropped. Restore a backup."
            )
        case asyncpg.TooManyConnectionsError():
            return StorageUnavailable(
                f"{server} has no connection left", hint="Raise max_connections, or use a connection pooler."
            )
        case asyncpg.QueryCanceledError():
            return StorageUnavailable(f"{server} took too long: {error}", hint="Look for locks in pg_stat_activity.")
        case _ if isinstance(error, COLLIDED):
            return StorageUnavailable(
                f"{server} was too busy: {error}", hint="Others hold locks for long. Look into pg_stat_activity."
            )
        case _ if is_retryable(error):
            return StorageUnavailable(
                f"could not reach PostgreSQL at {server}: {_reason(error)}",
                hint="Check that the server runs and that host and port in the DSN are right.",
            )
    return StorageError(f"{server} refused a statement: {error}", hint="Please report this.")


def _reason(error: BaseException) -> str:
    return "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
