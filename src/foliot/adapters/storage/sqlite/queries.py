"""Queries of a SQLite file: each is read in one transaction of a reader."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.reads import AllWorkers, Ask, PageOfRuns, Query, Read
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.shared.stored_queries import StoredQueries
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.run_listing import page_query, page_values

P = ParamSpec("P")
T = TypeVar("T")

_FILES: Final = (
    *("jobs", "schedules", "ledger", "run_listing", "endings", "trees", "workflows", "workers", "logs"),
    "queries",
)


def _load() -> Mapping[str, str]:
    queries: dict[str, str] = {}
    for name in _FILES:
        queries |= load_queries(Path(__file__).parent / "sql" / f"{name}.sql")
    return queries


SQL: Final = _load()


class SqliteQueries(StoredQueries):
    """Fills `ports.queries.Queries`."""

    def __init__(self, access: Access) -> None:
        super().__init__(access.project)
        self._reader = access.reader
        self._clock = access.clock
        self._project = access.project

    async def _read(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        return await self._reader.read(lambda session: self._drive(session, read(*arguments, **options)))

    def _drive(self, session: Session, read: Read[T]) -> T:
        try:
            ask = next(read)
            while True:
                ask = read.send(self._rows(session, ask))
        except StopIteration as done:
            answer: T = done.value
            return answer

    def _rows(self, session: Session, ask: Ask) -> list[Row]:
        match ask:
            case Query(name, values):
                return session.rows(SQL[name], [encode(one) if isinstance(one, list) else one for one in values])
            case PageOfRuns(only):
                return session.rows(page_query(only, "page_ids"), page_values(self._project, only))
            case AllWorkers():
                return session.rows(SQL["all_workers"], (self._clock.boot_id, self._clock.elapsed()))
