"""The part of the storage that keeps what runs print. See `ports.storage` for what all verbs promise."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.logs import LogChunk


class LogSummary(NamedTuple):
    """What tells how the log of a run ends."""

    starts: Sequence[Token]
    """The starts of the run that printed anything, in order."""
    first: LogChunk | None
    """The first chunk of the start that was asked about."""
    last: LogChunk | None
    """The last chunk of all."""


class LogStore(Protocol):
    async def append(self, chunks: Sequence[LogChunk]) -> list[Token]:
        """Save chunks; saving one twice is saving it once.

        Tokens that are not current come back, their chunks unsaved.
        """
        ...

    async def read(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        """Chunks of all attempts in order, those after (token, seq)."""
        ...

    async def tail(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        """The last chunks, in order."""
        ...

    async def summary(self, run_id: RunId, token: Token | None) -> LogSummary:
        """The ends of a run's log, and its starts, in one read. `token` is the start that is asked about."""
        ...

    async def kept_from(self) -> Instant | None:
        """Retention has removed chunks of ended runs from before this moment. None: never any, by their age."""
        ...
