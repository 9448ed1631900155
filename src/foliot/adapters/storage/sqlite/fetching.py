"""Rows of a statement, also where text in them is not UTF-8.

SQLite keeps whatever bytes it was given as text, and the driver reads nothing of a row with such text. So the database
is asked again, for the bytes, and those that are no text are written out (`\\xff`). A document with that in it is none,
and is told of as any other that cannot be read.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import apsw

Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]

_PAIR: Final = "iif(typeof(?) = 'text', NULL, ?), iif(typeof(?) = 'text', CAST(? AS BLOB), NULL)"
"""A value that is no text, and the bytes of one that is."""


def fetch_all(connection: apsw.Connection, sql: str, values: Values) -> list[Row]:
    try:
        return connection.execute(sql, values).fetchall()
    except UnicodeDecodeError:
        return _spelt_out(connection, sql, values)


def _spelt_out(connection: apsw.Connection, sql: str, values: Values) -> list[Row]:
    """Only for what reads: no statement that writes gives back text that it was not given."""
    cursor = connection.execute(sql, values)
    names = [f"c{number}" for number, _ in enumerate(cursor.get_description())]
    cursor.close()
    pairs = ", ".join(_PAIR.replace("?", name) for name in names)
    # The names are ours, and the statement is that of a .sql file.
    asked = f"WITH given ({', '.join(names)}) AS (\n{sql}\n) SELECT {pairs} FROM given"  # noqa: S608
    return [_read(row) for row in connection.execute(asked, values)]


def _read(row: Sequence[Any]) -> Row:
    pairs: Iterable[tuple[Any, bytes | None]] = zip(row[::2], row[1::2], strict=True)
    return tuple(value if text is None else text.decode(errors="backslashreplace") for value, text in pairs)
