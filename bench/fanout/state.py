"""How far a fanout is, read from its database while a server executes it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

import apsw

from foliot.domain.fanout.progress import Progress

_STATE = "SELECT progress, ended_at FROM trees WHERE job_id = 'fanout'"


class FanoutState(NamedTuple):
    ended: int
    """How many children have ended and are counted."""
    is_over: bool


class FanoutReader:
    """Reads the state of the only fanout of the job `fanout`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def read(self) -> FanoutState:
        row = self._connection.execute(_STATE).fetchone()
        if row is None:
            return FanoutState(0, is_over=False)
        progress, ended_at = row
        return FanoutState(Progress.read(str(progress).encode()).counts.ended, is_over=ended_at is not None)


@contextmanager
def reading(place: str) -> Iterator[FanoutReader]:
    """Open a SQLite database for reading."""
    with closing(apsw.Connection(place, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(5_000)
        yield FanoutReader(connection)
