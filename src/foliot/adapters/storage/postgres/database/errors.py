"""Classifies errors of the driver: retry, refuse the item, or raise an error of Foliot.

No type of the driver leaves this package.
"""

import asyncio
import logging
import random
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeVar

import asyncpg

from foliot.errors import StorageCorrupt, StorageError, StorageUnavailable

log = logging.getLogger(__name__)

T = TypeVar("T")

BAD_DATA: Final = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
    ValueError,  # the driver could not encode it: a number that is too large, text that is not UTF-8
)
"""This item of a batch can never be stored."""

_CONNECTING: Final = (
    OSError,  # a wrong certificate
    asyncpg.ClientConfigurationError,  # a missing certificate
)
"""Errors of connecting that are also a ValueError."""

BROKEN: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the driver raises it when a backend ended between two messages
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    OSError,  # TimeoutError among them
)
"""The connection is broken. It is not known whether a commit in progress was carried out."""

COLLIDED: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
)
"""Nothing was saved, because of other transactions."""

READ_ONLY: Final = asyncpg.ReadOnlySQLTransactionError
"""Nothing was saved, because this session is read-only. A new session may be allowed to write: this one may have been
opened before a standby was promoted, or before a setting was changed."""

RETRYABLE: Final = (*BROKEN, *COLLIDED, READ_ONLY)
_PAUSES: Final = (0.02, 0.1, 0.3, 0.6, 1.0)
"""Seconds between two tries, before jitter."""
_WORTH_A_WARNING: Final = 1.0
"""Seconds. A longer wait that failed is logged."""


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
        "Check user and password in the URL, and pg_hba.conf.",
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
        "It is a standby, or default_transaction_read_only is set. Name the primary; with several hosts in the URL, "
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
        "Check sslmode, sslrootcert, sslcert and sslkey in the URL, and the certificate of the server.",
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
        "Make room there. Foliot tries again.",
    ),
    _Meaning(
        BROKEN,
        StorageUnavailable,
        "could not reach PostgreSQL at {server}: {reason}",
        "Check that the server runs and that host and port in the URL are right.",
    ),
    _Meaning(
        (ValueError,),
        StorageError,
        "could not prepare a connection to {server}: {reason}",
        "Correct the URL, or the variables of the environment that begin with PG.",
    ),
)
"""The first match is used."""
_NO_TLS: Final = _Meaning(
    (),
    StorageUnavailable,
    "{server} does not speak TLS, which sslmode asks for, or is no PostgreSQL",
    "Check host and port in the URL. If they are right, turn TLS on there (ssl = on in postgresql.conf). On a "
    "network that you trust, write sslmode=prefer.",
)
_REFUSED: Final = _Meaning(
    (),
    StorageUnavailable,
    "{server} refused the connection: {reason}",
    "Correct the settings of the server, of this database or of this user. The log of the server says more.",
)
_UNEXPECTED: Final = _Meaning((), StorageError, "{server} refused a statement: {reason}", "Please report this.")
_BROKE: Final = ("the underlying connection is closed", "unexpected connection_lost() call")
"""How messages of the driver about a broken connection end."""


def is_bad_data(error: BaseException) -> bool:
    return isinstance(error, BAD_DATA) and not isinstance(error, _CONNECTING)


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, RETRYABLE) and not is_bad_data(error)


def translate(error: BaseException, server: str) -> StorageError:
    """Return the error to raise, with a hint. `server` names host and database, never a password."""
    # The driver has no type for a server that refuses TLS.
    is_without_tls = isinstance(error, ConnectionError) and "rejected SSL upgrade" in str(error)
    meaning = _NO_TLS if is_without_tls else _meaning(error)
    return meaning.error(meaning.fact.format(server=server, reason=reason_of(error)), hint=meaning.hint)


def _meaning(error: BaseException) -> _Meaning:
    # A fatal error ends a session. Errors that end an open session are listed above; the others refuse a new one.
    is_fatal = isinstance(error, asyncpg.PostgresError) and error.severity_en == "FATAL"
    otherwise = _REFUSED if is_fatal else _UNEXPECTED
    return next((one for one in _MEANINGS if isinstance(error, one.kinds)), otherwise)


def reason_of(error: BaseException) -> str:
    """Return a short description of what happened; never empty."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case asyncpg.InternalClientError():
            return "the connection broke"
        case asyncpg.ClientConfigurationError():
            return str(error.args[0])  # without the hint of the driver
    text = str(error) or type(error).__name__
    return "the connection broke" if text.endswith(_BROKE) else text


async def retry(once: Callable[[], Awaitable[T]], may_repeat: Callable[[BaseException], bool]) -> T:
    """Call `once` until it succeeds, with growing pauses, as long as a retry may help. Raises the last error."""
    pauses = list(_PAUSES)
    slow: dict[str, object] = {}
    while True:
        began = time.monotonic()
        try:
            answer = await once()
        except Exception as error:
            if not (pauses and is_retryable(error) and may_repeat(error)):
                raise
            waited = time.monotonic() - began
            if waited > _WORTH_A_WARNING:
                slow = {"after_seconds": round(waited, 1), "error": reason_of(error)}
        else:
            if slow:
                # Only if a retry helped: the caller of a call that failed reports the outage.
                log.warning("storage_retried", extra=slow)
            return answer
        await asyncio.sleep(pauses.pop(0) * random.uniform(0.5, 1.5))  # noqa: S311 - spreads load, no security
