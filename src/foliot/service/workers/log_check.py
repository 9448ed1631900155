"""Checks the output that remote workers send: in order, each piece once, and not more than a limit.

The position of each attempt is kept in memory. If it does not fit, the stored output decides: another server may have
saved the pieces before.
"""

from collections.abc import Sequence
from typing import Final

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.logs import LogChunk
from foliot.domain.work.message import LogPiece
from foliot.errors import LogRefused, LogRepeated, LogTooLarge
from foliot.ports.queries import Queries

MOST_OF_ATTEMPT: Final = 256 << 20
"""Bytes of output of one attempt that a server accepts. Runners of Foliot keep much less."""
_ATTEMPTS: Final = 10_000
"""How many positions are kept."""


class LogCheck:
    """The positions of the logs of remote attempts, shared by all principals."""

    def __init__(self, queries: Queries, *, most: int = MOST_OF_ATTEMPT) -> None:
        self._queries = queries
        self._most = most
        self._positions: dict[Token, tuple[int, int]] = {}
        """The next number, and the bytes so far."""

    async def fresh(self, run_id: RunId, token: Token, pieces: Sequence[LogPiece], now: Instant) -> list[LogChunk]:
        """Return the pieces to save, without those at the beginning that were saved before. Raise LogRefused, and save
        nothing, if they do not follow the saved ones, or if all of them were saved before."""
        if not pieces:
            return []
        next_seq, size = self._positions.get(token, (None, 0))
        if next_seq is None or pieces[0].seq != next_seq:
            next_seq = await self._stored_position(run_id, token)
        first = pieces[0].seq
        if [piece.seq for piece in pieces] != list(range(first, first + len(pieces))):
            raise LogRefused("the numbers of the pieces are not in order", next_seq)
        new = [piece for piece in pieces if piece.seq >= next_seq]
        if not new:
            raise LogRepeated("this output was saved before", next_seq)
        if new[0].seq > next_seq:
            raise LogRefused(f"piece {new[0].seq} does not follow piece {next_seq - 1}", next_seq)
        chunks = [_chunk(run_id, token, piece, now) for piece in new]
        size += sum(len(chunk.data) for chunk in chunks)
        if size > self._most:
            raise LogTooLarge(self._most, next_seq)
        self._positions.pop(token, None)  # the latest is the last to be forgotten
        self._positions[token] = next_seq + len(new), size
        if len(self._positions) > _ATTEMPTS:
            del self._positions[next(iter(self._positions))]
        return chunks

    def next_seq(self, token: Token) -> int:
        return self._positions.get(token, (0, 0))[0]

    def forget(self, token: Token) -> None:
        """Drop a position: the pieces may not have been saved, or the attempt has ended."""
        self._positions.pop(token, None)

    async def _stored_position(self, run_id: RunId, token: Token) -> int:
        last = await self._queries.tail_log(run_id, limit=1)
        return last[-1].seq + 1 if last and last[-1].token == token else 0


def _chunk(run_id: RunId, token: Token, piece: LogPiece, now: Instant) -> LogChunk:
    at = now if piece.at is None else Instant(min(piece.at, now))
    return LogChunk(run_id, token, piece.seq, at, piece.stream, piece.data or piece.text.encode("utf-8", "replace"))
