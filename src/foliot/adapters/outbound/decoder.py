"""Undoing the compression of an answer, a little at a time: what is small may hide something huge."""

import zlib
from collections.abc import Iterator
from typing import Final, Protocol

PIECE: Final = 65_536
"""Bytes that a piece has at most."""

_SLICE: Final = 16_384
"""Bytes that are undone at once. What is left behind each part and each piece is copied, so it must not be much."""
_MOST_PARTS: Final = 1_000
"""A body in more parts is made to keep us busy: each costs as much as some kilobytes, and may hold nothing."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS
_ZLIB_METHOD: Final = 8
"""In the first byte of deflate with a header."""


class NotDecodable(Exception):
    """The data is not what the answer says it is."""


class Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """What this much of the answer stands for, in pieces. No more memory is used than for one of them.

        After little work there is a piece, be it an empty one: so others can have their turn.
        """
        ...

    def finish(self) -> None:
        """NotDecodable, if something is missing at the end."""
        ...


def decoder_for(encoding: str) -> Decoder | None:
    """A decoder for a Content-Encoding; None for one that we do not know."""
    match encoding.strip().lower():
        case "" | "identity":
            return Plain()
        case "gzip" | "x-gzip":
            return Inflate(_GZIP)
        case "deflate":
            return Inflate(zlib.MAX_WBITS)
    return None


class Plain:
    """Nothing to undo."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), PIECE):
            yield data[start : start + PIECE]

    def finish(self) -> None:
        pass


class Inflate:
    """gzip, also in several parts, and deflate, with its header or without, as servers send both."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._inner = zlib.decompressobj(window)
        self._has_begun = False
        self._parts = 1

    def feed(self, data: bytes) -> Iterator[bytes]:
        if data and not self._has_begun:
            self._begin(data[0])
        for start in range(0, len(data), _SLICE):
            yield from self._feed(data[start : start + _SLICE])

    def _feed(self, data: bytes) -> Iterator[bytes]:
        has_more = True
        while has_more:
            if self._inner.eof:
                data = data.lstrip(b"\0")  # some servers fill up with zeros behind the end
                if not data:
                    return
                self._begin_part()
            piece = self._inflate(data)
            yield piece
            data = self._inner.unused_data if self._inner.eof else self._inner.unconsumed_tail
            # A full piece may have left something inside, even when all data is consumed.
            has_more = bool(data) or (len(piece) == PIECE and not self._inner.eof)

    def finish(self) -> None:
        if self._has_begun and not self._inner.eof:
            raise NotDecodable("the compressed body is not complete")

    def _begin(self, first: int) -> None:
        self._has_begun = True
        if self._window == zlib.MAX_WBITS and first & 0x0F != _ZLIB_METHOD:
            self._window = _RAW
            self._inner = zlib.decompressobj(_RAW)

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise NotDecodable(f"the compressed body has more than {_MOST_PARTS:,} parts")
        self._inner = zlib.decompressobj(self._window)

    def _inflate(self, data: bytes) -> bytes:
        try:
            return self._inner.decompress(data, PIECE)
        except zlib.error:
            raise NotDecodable("the body is not compressed as the answer says") from None
