"""Queries of a PostgreSQL database: each is read in one read-only transaction."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from foliot.adapters.storage.postgres.database import Database, Snapshot
from foliot.adapters.storage.postgres.runs import page_statement
from foliot.adapters.storage.shared.reads import AllWorkers, Ask, PageOfRuns, Query, Read
from foliot.adapters.storage.shared.stored_queries import StoredQueries

P = ParamSpec("P")
T = TypeVar("T")


class PostgresQueries(StoredQueries):
    """Fills `ports.queries.Queries`."""

    def __init__(self, database: Database, project: str) -> None:
        super().__init__(project)
        self._database = database
        self._project = project

    async def _read(self, read: Callable[P, Read[T]], *arguments: P.args, **options: P.kwargs) -> T:
        return await self._database.snapshot(lambda snapshot: self._drive(snapshot, read(*arguments, **options)))

    async def _drive(self, snapshot: Snapshot, read: Read[T]) -> T:
        try:
            ask = next(read)
            while True:
                ask = read.send(await self._rows(snapshot, ask))
        except StopIteration as done:
            answer: T = done.value
            return answer

    async def _rows(self, snapshot: Snapshot, ask: Ask) -> list[Any]:
        match ask:
            case Query(name, values):
                return await snapshot.rows(name, *values)
            case PageOfRuns(only):
                return await snapshot.rows(*page_statement(self._project, only))
            case AllWorkers():
                return await snapshot.rows("all_workers", None)
