"""What the driver raises, sorted by what it means: try again, refuse the item, or tell the caller.

No type of the driver leaves this package.
"""

import ssl
from typing import Final, NamedTuple

import asyncpg

from foliot.errors import StorageCorrupt, StorageError, StorageUnavailable

BAD_DATA: Final = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
    ValueError,  # the driver could not even write it down: a number that is too large, text that is none
)
"""One item of a batch cannot be stored, and never will be."""

_NO_DATA: Final = (
    OSError,  # a certificate that is not right
    asyncpg.ClientConfigurationError,  # one that is not there
)
"""Errors in connecting that are a ValueError as well."""

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

READ_ONLY: Final = asyncpg.ReadOnlySQLTransactionError
"""Nothing was saved because this session may only read. Another one may be allowed to write: this one can be of the
time before a standby was promoted, or before a setting was taken back."""

RETRYABLE: Final = (*BROKEN, *COLLIDED, READ_ONLY)


class _Meaning(NamedTuple):
    kinds: tuple[type[BaseException], ...]
    error: type[StorageError]
    fact: str
    hint: str


_MEANINGS: Final = (
    _Meaning(
        (asyncpg.InvalidCatalogNameError,),
        StorageError,
        "the database at {server} does not exist",
        "Create it with: createdb NAME, or correct the DSN.",
    ),
    _Meaning(
        (asyncpg.InvalidAuthorizationSpecificationError,),
        StorageError,
        "{server} does not let us in: {reason}",
        "Check user and password in the DSN, and pg_hba.conf.",
    ),
    _Meaning(
        (asyncpg.InsufficientPrivilegeError,),
        StorageError,
        "{server} denies a right: {reason}",
        "To serve, this user needs USAGE on the schema and on all its sequences, and SELECT, INSERT, UPDATE and DELETE "
        "on all its tables. To look, USAGE on the schema and SELECT on its tables are enough.",
    ),
    _Meaning(
        (READ_ONLY,),
        StorageUnavailable,
        "{server} may only be read: {reason}",
        "It is a standby, or default_transaction_read_only is set. Name the primary; with several hosts in the DSN, "
        "add target_session_attrs=read-write.",
    ),
    _Meaning(
        (asyncpg.UndefinedTableError, asyncpg.UndefinedFunctionError, asyncpg.UndefinedColumnError),
        StorageCorrupt,
        "{server} lacks a part of the schema: {reason}",
        "Something was dropped. Restore a backup.",
    ),
    _Meaning(
        (asyncpg.TooManyConnectionsError,),
        StorageUnavailable,
        "{server} has no connection left",
        "Raise max_connections, or use a connection pooler.",
    ),
    _Meaning(
        (asyncpg.CannotConnectNowError,),
        StorageUnavailable,
        "{server} takes no connections now: {reason}",
        "Try again when it has started. Its log says what it is doing.",
    ),
    _Meaning(
        (asyncpg.QueryCanceledError,),
        StorageUnavailable,
        "{server} took too long: {reason}",
        "Look for locks in pg_stat_activity.",
    ),
    _Meaning(
        COLLIDED,
        StorageUnavailable,
        "{server} was too busy: {reason}",
        "Others hold locks for long. Look into pg_stat_activity.",
    ),
    _Meaning(
        (asyncpg.TargetServerAttributeNotMatched,),
        StorageUnavailable,
        "no host of {server} is what target_session_attrs asks for",
        "Check which of them is the primary.",
    ),
    _Meaning(
        (ssl.SSLError,),
        StorageUnavailable,
        "could not connect to {server} with TLS: {reason}",
        "Check sslmode, sslrootcert, sslcert and sslkey in the DSN, and the certificate of the server.",
    ),
    _Meaning(
        (asyncpg.ClientConfigurationError,),
        StorageUnavailable,
        "could not prepare a connection to {server}: {reason}",
        "Correct the options of the DSN. Certificates to trust are in the file that sslrootcert names, or with "
        "sslrootcert=system in that of this machine.",
    ),
    _Meaning(
        (asyncpg.DiskFullError,),
        StorageUnavailable,
        "the disk of {server} is full: {reason}",
        "Make room there. What was asked for is done, or tried again, when there is some.",
    ),
    _Meaning(
        BROKEN,
        StorageUnavailable,
        "could not reach PostgreSQL at {server}: {reason}",
        "Check that the server runs and that host and port in the DSN are right.",
    ),
    _Meaning(
        (ValueError,),
        StorageError,
        "could not prepare a connection to {server}: {reason}",
        "Correct the DSN, or the variables of the environment that begin with PG.",
    ),
)
"""The first that fits is the one."""
_NO_TLS: Final = _Meaning(
    (),
    StorageUnavailable,
    "{server} does not speak TLS, which sslmode asks for, or is no PostgreSQL",
    "Check host and port in the DSN. If they are right, turn TLS on there (ssl = on in postgresql.conf). On a "
    "network that you trust, write sslmode=prefer.",
)
_TURNED_AWAY: Final = _Meaning(
    (),
    StorageUnavailable,
    "{server} refused the connection: {reason}",
    "Correct the settings of the server, of this database or of this user. The log of the server says more.",
)
_UNFORESEEN: Final = _Meaning((), StorageError, "{server} refused a statement: {reason}", "Please report this.")
_BROKE: Final = ("the underlying connection is closed", "unexpected connection_lost() call")
"""Words of the driver about itself."""


def is_bad_data(error: BaseException) -> bool:
    return isinstance(error, BAD_DATA) and not isinstance(error, _NO_DATA)


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, RETRYABLE) and not is_bad_data(error)


def translate(error: BaseException, server: str) -> StorageError:
    """The error that says what happened, and what to do. `server` names host and database, never a password."""
    meaning = _NO_TLS if _is_without_tls(error) else _meaning(error)
    return meaning.error(meaning.fact.format(server=server, reason=reason_of(error)), hint=meaning.hint)


def _meaning(error: BaseException) -> _Meaning:
    # What the server calls fatal ends a session, and one that was open has ended in a way that is foreseen.
    is_fatal = isinstance(error, asyncpg.PostgresError) and error.severity_en == "FATAL"
    otherwise = _TURNED_AWAY if is_fatal else _UNFORESEEN
    return next((one for one in _MEANINGS if isinstance(error, one.kinds)), otherwise)


def _is_without_tls(error: BaseException) -> bool:
    """The driver has no type for it."""
    return isinstance(error, ConnectionError) and "rejected SSL upgrade" in str(error)


def reason_of(error: BaseException) -> str:
    """What happened, in a few words: never none, and none of the driver's about itself."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case asyncpg.InternalClientError():
            return "the connection broke"
        case asyncpg.ClientConfigurationError():
            return str(error.args[0])  # without the hint of the driver
    said = str(error) or type(error).__name__
    return "the connection broke" if said.endswith(_BROKE) else said
