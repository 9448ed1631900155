"""What becomes of the options of a URL that PostgreSQL's own programs understand.

sslmode, target_session_attrs, host ...   the driver knows them too
connect_timeout, sslrootcert=system       said to the driver in its own words
keepalives, gssencmode=prefer ...         left out: nothing is lost without them
channel_binding=require ...               refused: they ask for something that the driver cannot promise
statement_timeout, search_path ...        settings, sent to the server, which says so if it does not know one
"""

import re
import ssl
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import asyncpg

from foliot.errors import InvalidInput, suggest

CONNECT_TIMEOUT: Final = 10.0
"""Seconds that a server has to answer, unless the URL says otherwise."""

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
    | {"client_encoding"}  # the driver speaks UTF-8
)
_PROMISES: Final[Mapping[str, str]] = {
    "channel_binding": "Leave it out. With sslmode=verify-full nobody else can pass for the server.",
    "gssencmode": "Leave it out, and encrypt with sslmode=require or verify-full.",
    "sslcertmode": "Leave it out. Whether it wants a certificate is for the server to say, in pg_hba.conf.",
    "require_auth": "Leave it out. How users prove who they are is for the server to say, in pg_hba.conf.",
    "requirepeer": "Leave it out, and put the socket into a directory that only the server can write to.",
    "sslcrldir": "Put the lists into one file, and name it with sslcrl.",
    "hostaddr": "Write the address as the host.",
    "requiressl": "Write sslmode=require.",
    "replication": "Leave it out.",
}
"""Options that ask for more than the driver does, and what to do instead."""
_OWN: Final = frozenset({"schema", "pooler"})
_KNOWN: Final = _DRIVERS | _LEFT_OUT | _PROMISES.keys() | _OWN | {"connect_timeout", "application_name", "options"}
_KNOWN_BUT_REFUSED: Final = (
    asyncpg.InvalidParameterValueError,
    asyncpg.CantChangeRuntimeParamError,
    asyncpg.InsufficientPrivilegeError,
)
_REFUSALS: Final = (
    *_KNOWN_BUT_REFUSED,
    asyncpg.UndefinedObjectError,
    asyncpg.ProtocolViolationError,  # of a pooler, which passes on only what it knows
)


class Understood(NamedTuple):
    options: dict[str, str]
    """Those for the driver. It sends the ones that it does not know to the server."""
    connect_timeout: float | None


def understand(options: Mapping[str, str]) -> Understood:
    """Take out what the driver does not know; refuse what nobody could keep."""
    # An option without a value says nothing, to the driver neither.
    given = {name: value for name, value in options.items() if value}
    for name in given.keys() & _CHOICES.keys():
        _check_choice(name, given[name])
    for name in given.keys() & _PROMISES.keys():
        _check_promise(name, given.pop(name))
    timeout = _seconds(given.pop("connect_timeout", ""))
    if given.get("sslrootcert") == "system":
        given.update(_trust_of_this_machine(given.get("sslmode", "verify-full")))
    return Understood({name: value for name, value in given.items() if name not in _LEFT_OUT}, timeout)


def check_files(options: Mapping[str, str]) -> None:
    """Refuse a file that cannot be read: the driver says of it only that there is no such file."""
    for name in _FILES:
        try:
            if name in options:
                Path(options[name]).open("rb").close()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise _refusal(f"{name} {options[name][:128]!a} cannot be read: {reason}", "Correct the URL.") from None


def refused_option(error: BaseException, options: Iterable[str]) -> InvalidInput | None:
    """If the server does not take one of the options that it was sent: which, and what was probably meant.

    Its message may be in any language, but has the name of the option in it.
    """
    if not isinstance(error, _REFUSALS):
        return None
    sent = [name for name in options if name not in _DRIVERS]
    named = [name for name in sent if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(error), re.IGNORECASE)]
    if not named:
        return None
    known = () if isinstance(error, _KNOWN_BUT_REFUSED) else _KNOWN
    hint = suggest(named[0], known, otherwise="Leave it out, or correct it. An option is one of libpq, or a setting.")
    return _refusal(f"the server does not take option {named[0][:64]!a}: {error}", hint)


def _check_choice(name: str, value: str) -> None:
    choices = _CHOICES[name]
    if value not in choices:
        hint = suggest(value, choices, otherwise=f"Use {', '.join(choices[:-1])} or {choices[-1]}.")
        raise _refusal(f"{name} {value[:32]!a} is not a choice", hint)


def _check_promise(name: str, value: str) -> None:
    is_demand = value == "require" if name in _CHOICES else True
    if is_demand:
        raise _refusal(f"the driver (asyncpg) cannot promise {name}={value[:32]}", _PROMISES[name])


def _seconds(text: str) -> float | None:
    if not text:
        return CONNECT_TIMEOUT
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise _refusal(f"connect_timeout {text[:32]!a} is no number of seconds", "Use a whole number, such as 10.")
    return float(text) if int(text) > 0 else None  # as with libpq: no limit


def _trust_of_this_machine(sslmode: str) -> dict[str, str]:
    if sslmode != "verify-full":
        raise _refusal(f"sslrootcert=system is too little with sslmode={sslmode}", "Write sslmode=verify-full.")
    file = ssl.get_default_verify_paths().cafile
    if file is None:
        raise _refusal("this machine has no file of trusted certificates", "Name one with sslrootcert=FILE.")
    return {"sslrootcert": file, "sslmode": sslmode}


def _refusal(fact: str, hint: str) -> InvalidInput:
    return InvalidInput(f"the DSN cannot be used: {fact}", hint=hint, field="dsn")
