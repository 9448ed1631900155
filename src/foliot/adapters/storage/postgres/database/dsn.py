"""Where the database is, as people write it.

    postgresql://user:secret@host:5432/database?schema=foliot&pooler=transaction

Two options are ours: `schema`, where the tables live (`foliot`), and `pooler=transaction`, when a pooler stands in
front that lends a connection for one transaction only. All others are PostgreSQL's own: see `options`.
"""

import re
from typing import Final, NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from foliot.adapters.storage.postgres.options import CONNECT_TIMEOUT, understand
from foliot.adapters.storage.postgres.statements import SCHEMA
from foliot.errors import InvalidInput

_SCHEMES: Final = ("postgresql", "postgres")
_MAX_PORT: Final = 65_535
# PostgreSQL takes names of 63 bytes, and the channel of the bell is named after the schema.
_CHANNEL: Final = "_bell"
_NAME: Final = re.compile(rf"[a-z_][a-z0-9_]{{0,{62 - len(_CHANNEL)}}}")
_OPTION: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*=.*")


class Dsn(NamedTuple):
    url: str
    schema: str
    is_pooled: bool
    connect_timeout: float | None = CONNECT_TIMEOUT

    @property
    def server(self) -> str:
        """Host and database, for people: it holds no secret."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2] or self.options.get("host") or "localhost"
        return f"{host}{parts.path}"

    @property
    def channel(self) -> str:
        """Where processes on this schema hear of one another."""
        return f"{self.schema}{_CHANNEL}"

    @property
    def options(self) -> dict[str, str]:
        """Those of PostgreSQL."""
        return dict(parse_qsl(urlsplit(self.url).query))


def parse_dsn(text: str, schema: str | None = None) -> Dsn:
    """Take our own options out of a DSN. `schema`, when given, goes before what the DSN says."""
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
    understood, timeout = understand(options)
    url = urlunsplit(parts._replace(query=urlencode(understood, safe="/")))
    return Dsn(url, chosen, pooler == "transaction", timeout)


def _check_certain(text: str, parts: SplitResult) -> None:
    """Refuse what may have been meant otherwise: a password with such a character in it would be read as a host or a
    database, and shown as one."""
    is_clear = parts.netloc.count("@") <= 1 and "@" not in parts.path + parts.query and "#" not in text
    if not (is_clear and all(_OPTION.fullmatch(option) for option in parts.query.split("&") if option)):
        raise _unclear()


def _check_ports(netloc: str, option: str) -> None:
    """Several hosts may be named, each with a port of its own, and ports again as an option."""
    hosts = netloc.rpartition("@")[2].split(",")
    ports = [port for host in hosts if (port := host.rpartition("]")[2].partition(":")[2])]
    for port in (*ports, *filter(None, option.split(","))):
        if not (port.isascii() and port.isdecimal() and 1 <= int(port[:6]) <= _MAX_PORT):
            # It is not shown: a password with a slash in it would stand here.
            raise _refusal(f"a port is not 1 to {_MAX_PORT}")


def _check_schema(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"schema {name[:64]!a} is not a usable name",
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
    # The DSN itself is not shown: it may hold a password.
    return InvalidInput(
        f"the DSN is not one of PostgreSQL: {fact}",
        hint="Write postgresql://user@host/database, with ?pooler=transaction behind a transaction pooler.",
        field="dsn",
    )
