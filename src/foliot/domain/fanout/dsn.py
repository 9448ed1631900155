"""DSNs: the databases that fanouts may read, registered under a name by an administrator.

sqlite:////srv/shop.db                     a file, opened read-only
postgresql://reader:password@db/shop       a server

Errors never contain a DSN: it may hold a password.
"""

from typing import Final

from foliot.domain.file_url import parse_file_url
from foliot.errors import InvalidInput, suggest

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"
_ENGINES: Final = {"sqlite": SQLITE, "postgresql": POSTGRESQL, "postgres": POSTGRESQL}
_LONGEST: Final = 4_096


def engine_of(dsn: str) -> str:
    """Return the kind of the database. Raise InvalidInput if the text is not a DSN."""
    scheme, separator, place = dsn.partition("://")
    if not separator or scheme not in _ENGINES:
        hint = suggest(scheme if separator else "", _ENGINES, otherwise="Use sqlite:////path or postgresql://...")
        raise InvalidInput("the DSN names no known database", hint=hint, field="dsn")
    if len(dsn) > _LONGEST or any(ord(character) < 32 for character in dsn):
        hint = "Write it on one line."
        raise InvalidInput("the DSN is too long, or contains a control character", hint=hint, field="dsn")
    if _ENGINES[scheme] == POSTGRESQL:
        if not place.strip("/"):
            hint = "Write postgresql://user:password@host/database."
            raise InvalidInput("the DSN names no server and no database", hint=hint, field="dsn")
        return POSTGRESQL
    if not sqlite_path(dsn).startswith("/"):
        hint = "Use four slashes: sqlite:////srv/shop.db."
        raise InvalidInput("the DSN does not name an absolute path", hint=hint, field="dsn")
    return SQLITE


def sqlite_path(dsn: str) -> str:
    """Return the file that a DSN of SQLite names."""
    path, query = parse_file_url(dsn)
    if query:
        raise InvalidInput("the DSN of a file has no options", hint="Leave out the question mark.", field="dsn")
    return path
