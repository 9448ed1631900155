"""Decompresses response bodies in small pieces: a small body may expand to a huge one."""

import zlib
from collections.abc import Iterator
from typing import Final, Protocol

PIECE: Final = 65_536
"""The largest size of a piece, in bytes."""

_SLICE: Final = 16_384
"""Compressed bytes per step. zlib copies the unread rest after each part and piece, so steps must be small."""
_MOST_PARTS: Final = 1_000
"""A body with more parts is an attack: each part costs as much as some kilobytes, and may be empty."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS
_ZLIB_METHOD: Final = 8
"""The method in the first byte of deflate data with a zlib header."""


class NotDecodable(Exception):
    """The data is not encoded as the response says."""


class Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decompress part of the body and yield pieces. Uses memory for one piece only.

        Yields often, if necessary an empty piece, so that the caller can let other tasks run.
        """
        ...

    def finish(self) -> None:
        """Raise NotDecodable if the body is incomplete."""
        ...


def decoder_for(encoding: str) -> Decoder | None:
    """Return a decoder for a Content-Encoding; None if it is not supported."""
    match encoding.strip().lower():
        case "" | "identity":
            return Plain()
        case "gzip" | "x-gzip":
            return Inflate(_GZIP)
        case "deflate":
            return Inflate(zlib.MAX_WBITS)
    return None


class Plain:
    """No compression."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), PIECE):
            yield data[start : start + PIECE]

    def finish(self) -> None:
        pass


class Inflate:
    """gzip, also in several parts, and deflate, with or without its zlib header: servers send both."""

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
                data = data.lstrip(b"\0")  # some servers pad the end with zeros
                if not data:
                    return
                self._begin_part()
            piece = self._inflate(data)
            yield piece
            data = self._inner.unused_data if self._inner.eof else self._inner.unconsumed_tail
            # After a full piece, zlib may hold more output, even if all input is consumed.
            has_more = bool(data) or (len(piece) == PIECE and not self._inner.eof)

    def finish(self) -> None:
        if self._has_begun and not self._inner.eof:
            raise NotDecodable("the compressed body is incomplete")

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
            raise NotDecodable("the body is not compressed as the response says") from None
