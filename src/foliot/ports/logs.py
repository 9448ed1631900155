"""The part of the storage that keeps what runs print. See `ports.storage` for what all verbs promise."""

from collections.abc import Sequence
from typing import Protocol

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.logs import LogChunk


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

    async def kept_from(self) -> Instant | None:
        """Retention has removed chunks of ended runs from before this moment. None: never any, by their age."""
        ...
