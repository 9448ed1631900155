"""Where the database is, as people write it.

    postgresql://user:secret@host:5432/database?schema=foliot&pooler=transaction

Two options are ours: `schema`, where the tables live (`foliot`), and `pooler=transaction`, when a pooler stands in
front that lends a connection for one transaction only. All others are PostgreSQL's own.
"""

import re
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from foliot.adapters.storage.postgres.statements import SCHEMA
from foliot.errors import InvalidInput

_SCHEMES: Final = ("postgresql", "postgres")
_MAX_PORT: Final = 65_535
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class Dsn(NamedTuple):
    url: str
    schema: str
    is_pooled: bool

    @property
    def server(self) -> str:
        """Host and database, for people: it holds no secret."""
        parts = urlsplit(self.url)
        host = dict(parse_qsl(parts.query)).get("host") or parts.netloc.rpartition("@")[2] or "localhost"
        return f"{host}{parts.path}"


def parse_dsn(text: str, schema: str | None = None) -> Dsn:
    """Take our own options out of a DSN. `schema`, when given, goes before what the DSN says."""
    try:
        parts = urlsplit(text)
    except ValueError:
        raise _refusal("it cannot be read") from None
    if parts.scheme not in _SCHEMES:
        raise _refusal(f"it begins with {parts.scheme[:16]!a}")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    _check_ports(parts.netloc, options.get("port", ""))
    own_schema = options.pop("schema", SCHEMA)
    pooler = options.pop("pooler", "")
    if pooler not in ("", "transaction"):
        raise _refusal(f"pooler {pooler[:32]!a} is not a choice")
    chosen = schema or own_schema
    if not _NAME.fullmatch(chosen):
        raise InvalidInput(
            f"schema {chosen[:64]!a} is not a usable name",
            hint="Use a-z, 0-9 and _, and begin with a letter.",
            field="schema",
        )
    return Dsn(urlunsplit(parts._replace(query=urlencode(options, safe="/"))), chosen, pooler == "transaction")


def _check_ports(netloc: str, option: str) -> None:
    """Several hosts may be named, each with a port of its own, and ports again as an option."""
    hosts = netloc.rpartition("@")[2].split(",")
    ports = [port for host in hosts if (port := host.rpartition("]")[2].partition(":")[2])]
    for port in (*ports, *filter(None, option.split(","))):
        if not (port.isascii() and port.isdecimal() and 1 <= int(port[:6]) <= _MAX_PORT):
            # It is not shown: a password with a slash in it would stand here.
            raise _refusal(f"a port is not 1 to {_MAX_PORT}")


def _refusal(fact: str) -> InvalidInput:
    # The DSN itself is not shown: it may hold a password.
    return InvalidInput(
        f"the DSN is not one of PostgreSQL: {fact}",
        hint="Write postgresql://user@host/database, with ?pooler=transaction behind a transaction pooler.",
        field="dsn",
    )
