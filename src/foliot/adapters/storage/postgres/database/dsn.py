"""Reads the DSN of a database.

    postgresql://user:secret@host:5432/database?schema=foliot&pooler=transaction

Two options are Foliot's: `schema`, which contains the tables (`foliot`), and `pooler=transaction`, for a pooler that
assigns a connection for one transaction only. All others are PostgreSQL's own:

    sslmode, target_session_attrs, host ...   passed to the driver
    connect_timeout, sslrootcert=system       translated for the driver
    keepalives, gssencmode=prefer ...         ignored: they change nothing that matters
    channel_binding=require ...               refused: the driver cannot guarantee them
    statement_timeout, search_path ...        sent to the server as settings, which refuses unknown ones
"""

import re
import ssl
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg

from foliot.errors import InvalidInput, suggest

SCHEMA: Final = "foliot"

_SCHEMES: Final = ("postgresql", "postgres")
_MAX_PORT: Final = 65_535
# PostgreSQL takes names of 63 bytes, and the channel of the bell is named after the schema.
_CHANNEL: Final = "_bell"
_NAME: Final = re.compile(rf"[a-z_][a-z0-9_]{{0,{62 - len(_CHANNEL)}}}")
_OPTION: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*=.*")
CONNECT_TIMEOUT: Final = 10.0
"""Seconds, unless the DSN sets it."""

_DRIVERS: Final = frozenset(
    {"host", "port", "dbname", "database", "user", "password", "passfile", "service", "krbsrvname", "gsslib"}
    | {"sslmode", "sslnegotiation", "sslcert", "sslkey", "sslpassword", "sslrootcert", "sslcrl"}
    | {"ssl_min_protocol_version", "ssl_max_protocol_version", "target_session_attrs"}
)
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "sslnegotiation": ("postgres", "direct"),
    "target_session_attrs": ("any", "primary", "standby", "prefer-standby", "read-write", "read-only"),
    "channel_binding": ("disable", "prefer", "require"),
    "gssencmode": ("disable", "prefer", "require"),
    "sslcertmode": ("disable", "allow", "require"),
}
_FILES: Final = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
_LEFT_OUT: Final = frozenset(
    {"keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"}
    | {"sslcompression", "sslsni", "gssdelegation", "load_balance_hosts", "fallback_application_name"}
    | {"client_encoding"}  # the driver always uses UTF-8
)
_GUARANTEES: Final[Mapping[str, str]] = {
    "channel_binding": "Leave it out. With sslmode=verify-full no other server is accepted.",
    "gssencmode": "Leave it out, and encrypt with sslmode=require or verify-full.",
    "sslcertmode": "Leave it out. The server decides in pg_hba.conf whether it requires a certificate.",
    "require_auth": "Leave it out. The server decides in pg_hba.conf how users authenticate.",
    "requirepeer": "Leave it out, and put the socket into a directory that only the server can write to.",
    "sslcrldir": "Put the lists into one file, and name it with sslcrl.",
    "hostaddr": "Write the address as the host.",
    "requiressl": "Write sslmode=require.",
    "replication": "Leave it out.",
}
"""Options that the driver cannot guarantee, and what to do instead."""
_OWN: Final = frozenset({"schema", "pooler"})
_KNOWN: Final = _DRIVERS | _LEFT_OUT | _GUARANTEES.keys() | _OWN | {"connect_timeout", "application_name", "options"}
_KNOWN_BUT_REFUSED: Final = (
    asyncpg.InvalidParameterValueError,
    asyncpg.CantChangeRuntimeParamError,
    asyncpg.InsufficientPrivilegeError,
)
_REFUSALS: Final = (
    *_KNOWN_BUT_REFUSED,
    asyncpg.UndefinedObjectError,
    asyncpg.ProtocolViolationError,  # from a pooler, which accepts only options that it knows
)


class Dsn(NamedTuple):
    url: str
    schema: str
    is_pooled: bool
    connect_timeout: float | None = CONNECT_TIMEOUT

    @property
    def server(self) -> str:
        """Host and database, safe to show: without secrets."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2] or self.options.get("host") or "localhost"
        return f"{host}{parts.path}"

    @property
    def channel(self) -> str:
        """The channel on which processes of this schema notify each other."""
        return f"{self.schema}{_CHANNEL}"

    @property
    def options(self) -> dict[str, str]:
        """Options of PostgreSQL."""
        return dict(parse_qsl(urlsplit(self.url).query))


def parse_dsn(text: str, schema: str | None = None) -> Dsn:
    """Read a DSN. `schema`, when given, overrides the one in the DSN."""
    try:
        parts = urlsplit(text)
    except ValueError:
        raise _unclear() from None
    if parts.scheme not in _SCHEMES:
        raise _refusal(f"it begins with {parts.scheme[:16]!a}")
    _check_certain(text, parts)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    _check_ports(parts.netloc, options.get("port", ""))
    own_schema = options.pop("schema", SCHEMA)
    pooler = options.pop("pooler", "")
    if pooler not in ("", "transaction"):
        raise _refusal(f"pooler {pooler[:32]!a} is not a choice")
    chosen = schema or own_schema
    _check_schema(chosen)
    known, timeout = read_options(options)
    url = urlunsplit(parts._replace(query=urlencode(known, safe="/")))
    return Dsn(url, chosen, pooler == "transaction", timeout)


def _check_certain(text: str, parts: SplitResult) -> None:
    """Refuse ambiguous characters: part of a password with one would be read, and shown, as a host or a database."""
    is_clear = parts.netloc.count("@") <= 1 and "@" not in parts.path + parts.query and "#" not in text
    if not (is_clear and all(_OPTION.fullmatch(option) for option in parts.query.split("&") if option)):
        raise _unclear()


def _check_ports(netloc: str, option: str) -> None:
    """Check ports. There may be several hosts, each with its own port, and ports as an option."""
    hosts = netloc.rpartition("@")[2].split(",")
    ports = [port for host in hosts if (port := host.rpartition("]")[2].partition(":")[2])]
    for port in (*ports, *filter(None, option.split(","))):
        if not (port.isascii() and port.isdecimal() and 1 <= int(port[:6]) <= _MAX_PORT):
            # The port is not shown: it may be part of a password with a slash.
            raise _refusal(f"a port is not 1 to {_MAX_PORT}")


def _check_schema(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"schema {name[:64]!a} is not a valid name",
            hint=f"Use a-z, 0-9 and _, begin with a letter, and take at most {63 - len(_CHANNEL)} characters.",
            field="schema",
        )
    if name.startswith("pg_") or name == "information_schema":
        raise InvalidInput(
            f"schema {name!a} is one of PostgreSQL's own",
            hint="Use a name that does not begin with pg_.",
            field="schema",
        )


def _unclear() -> InvalidInput:
    return InvalidInput(
        "the DSN is not one of PostgreSQL: it cannot be read with certainty",
        hint="Write special characters in user, password and options as %XX: @ as %40, / as %2F, : as %3A, ? as %3F, "
        "# as %23, & as %26, [ as %5B, % as %25.",
        field="dsn",
    )


def _refusal(fact: str) -> InvalidInput:
    # The DSN itself is not shown: it may contain a password.
    return InvalidInput(
        f"the DSN is not one of PostgreSQL: {fact}",
        hint="Write postgresql://user@host/database, with ?pooler=transaction behind a transaction pooler.",
        field="dsn",
    )


# -- options of PostgreSQL


class Options(NamedTuple):
    options: dict[str, str]
    """Options for the driver, which sends unknown ones to the server."""
    connect_timeout: float | None


def read_options(options: Mapping[str, str]) -> Options:
    """Translate options for the driver. Refuse those that it cannot guarantee."""
    # Like the driver, ignore an option without a value.
    given = {name: value for name, value in options.items() if value}
    for name in given.keys() & _CHOICES.keys():
        _check_choice(name, given[name])
    for name in given.keys() & _GUARANTEES.keys():
        _check_guarantee(name, given.pop(name))
    timeout = _seconds(given.pop("connect_timeout", ""))
    if given.get("sslrootcert") == "system":
        given.update(_system_certificates(given.get("sslmode", "verify-full")))
    return Options({name: value for name, value in given.items() if name not in _LEFT_OUT}, timeout)


def check_files(options: Mapping[str, str]) -> None:
    """Refuse a file that cannot be read: the driver would only report that it does not exist."""
    for name in _FILES:
        try:
            if name in options:
                Path(options[name]).open("rb").close()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise _unusable(f"{name} {options[name][:128]!a} cannot be read: {reason}", "Correct the URL.") from None


def refused_option(error: BaseException, options: Iterable[str]) -> InvalidInput | None:
    """Return the error to raise if the server refused one of the options, with a suggestion; else None.

    The server's message may be in any language, but contains the name of the option.
    """
    if not isinstance(error, _REFUSALS):
        return None
    sent = [name for name in options if name not in _DRIVERS]
    named = [name for name in sent if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(error), re.IGNORECASE)]
    if not named:
        return None
    known = () if isinstance(error, _KNOWN_BUT_REFUSED) else _KNOWN
    hint = suggest(named[0], known, otherwise="Leave it out, or correct it. An option is one of libpq, or a setting.")
    return _unusable(f"the server does not take option {named[0][:64]!a}: {error}", hint)


def _check_choice(name: str, value: str) -> None:
    choices = _CHOICES[name]
    if value not in choices:
        hint = suggest(value, choices, otherwise=f"Use {', '.join(choices[:-1])} or {choices[-1]}.")
        raise _unusable(f"{name} {value[:32]!a} is not a choice", hint)


def _check_guarantee(name: str, value: str) -> None:
    is_demand = value == "require" if name in _CHOICES else True
    if is_demand:
        raise _unusable(f"the driver (asyncpg) cannot promise {name}={value[:32]}", _GUARANTEES[name])


def _seconds(text: str) -> float | None:
    if not text:
        return CONNECT_TIMEOUT
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise _unusable(f"connect_timeout {text[:32]!a} is not a number of seconds", "Use a whole number, such as 10.")
    return float(text) if int(text) > 0 else None  # as with libpq: no limit


def _system_certificates(sslmode: str) -> dict[str, str]:
    if sslmode != "verify-full":
        raise _unusable(f"sslrootcert=system is too little with sslmode={sslmode}", "Write sslmode=verify-full.")
    file = ssl.get_default_verify_paths().cafile
    if file is None:
        raise _unusable("this machine has no file of trusted certificates", "Name one with sslrootcert=FILE.")
    return {"sslrootcert": file, "sslmode": sslmode}


def _unusable(fact: str, hint: str) -> InvalidInput:
    return InvalidInput(f"the DSN cannot be used: {fact}", hint=hint, field="dsn")
