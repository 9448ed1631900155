"""Executes statements on a connection, and returns rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from foliot.adapters.storage.shared.sql import load_statements

Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]

SQL: Final = load_statements(Path(__file__).parent.parent / "sql")
"""Every statement of this package by its name."""
_PAIR: Final = "iif(typeof(?) = 'text', NULL, ?), iif(typeof(?) = 'text', CAST(? AS BLOB), NULL)"
"""A value that is not text, and the bytes of a value that is."""


class Session:
    """Statements on one connection. The SQL comes from .sql files, values are always bound."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """Return all rows, including those with text that is not UTF-8."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except UnicodeDecodeError:
            return self._escaped_rows(sql, values)

    def row(self, sql: str, values: Values = ()) -> Row | None:
        """Return the first row, or None."""
        found = self.rows(sql, values)
        return found[0] if found else None

    def value(self, sql: str, values: Values = ()) -> Any:
        """Return the first column of the first row, or None."""
        found = self.rows(sql, values)
        return found[0][0] if found else None

    def column(self, sql: str, values: Values = ()) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self.rows(sql, values)]

    def grouped(self, sql: str, values: Values = ()) -> dict[Any, list[Row]]:
        """Return the rows by their first column, without it."""
        found: dict[Any, list[Row]] = {}
        for key, *rest in self.rows(sql, values):
            found.setdefault(key, []).append(tuple(rest))
        return found

    def run(self, sql: str, values: Values = ()) -> int:
        """Execute a statement. Returns how many rows changed."""
        self._connection.execute(sql, values)
        return self._connection.changes()

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Execute a statement once for each row of values. Returns how many rows changed."""
        before = self._connection.total_changes()
        self._connection.executemany(sql, rows)
        return self._connection.total_changes() - before

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Roll back everything done inside if it raises."""
        self._connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO part; RELEASE part")
            raise
        self._connection.execute("RELEASE part")

    @contextmanager
    def snapshot(self) -> Iterator["Session"]:
        """Read everything inside from one state of the database."""
        self._connection.execute("BEGIN")
        try:
            yield self
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _escaped_rows(self, sql: str, values: Values) -> list[Row]:
        r"""Return the rows of a query, with bytes that are not text escaped (`\xff`).

        SQLite stores any bytes as text, and the driver cannot read a row with such text. The bytes are selected
        instead. A document with an escaped byte cannot be decoded, and is reported like any unreadable one.
        """
        cursor = self._connection.execute(sql, values)
        names = [f"c{number}" for number, _ in enumerate(cursor.get_description())]
        cursor.close()
        pairs = ", ".join(_PAIR.replace("?", name) for name in names)
        # The names are generated above, and the statement is from a .sql file.
        asked = f"WITH given ({', '.join(names)}) AS (\n{sql}\n) SELECT {pairs} FROM given"  # noqa: S608
        return [
            tuple(
                value if text is None else text.decode(errors="backslashreplace")
                for value, text in zip(row[::2], row[1::2], strict=True)
            )
            for row in self._connection.execute(asked, values)
        ]
