"""Splits the bytes of a source into items, piece by piece: memory is needed for one item, not for the source.

lines         one item for each line that is not blank; CRLF and LF end a line; with `comments`, lines that begin
              with # are left out
JSON lines    one JSON value for each line that is not blank
JSON array    one item for each element
"""

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final

import msgspec

from foliot.adapters.resolvers.batches import Batches, too_long, too_much
from foliot.domain.fanout.item import ItemLimits
from foliot.domain.run.payload import MAX_LEVELS, check_depth
from foliot.errors import InputsRefused

_BOM: Final = b"\xef\xbb\xbf"
_LONGEST_ESCAPE: Final = 6
"""A character of a JSON string may need this many bytes: \\u00e9."""
_SCANNED: Final = 16_384
"""Smaller pieces are collected first, so that the beginning of an item is not scanned for each byte that arrives."""

# A string, or a character that structures the array. A lone quote is a string whose end has not arrived.
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{},"]', re.DOTALL)
_BLANK: Final = b" \t\r\n"


class TextFormat(ABC):
    """Finds items in a stream of bytes, and adds them to batches."""

    def __init__(self, limits: ItemLimits) -> None:
        self.batches = Batches(limits)
        self._limits = limits
        self._rest = b""
        self._received = 0
        self._pending: list[bytes] = []
        self._pending_size = 0

    def feed(self, piece: bytes) -> None:
        """Add a part of the source."""
        self._received += len(piece)
        if self._received > self._limits.total_bytes:
            raise too_much(self._limits)
        self._pending.append(piece)
        self._pending_size += len(piece)
        if self._pending_size >= _SCANNED:
            self._scan(self._joined())

    def finish(self) -> None:
        """Add the last items. Raise InputsRefused if the source is not complete."""
        self._scan(self._joined())
        self._end()

    def _joined(self) -> bytes:
        is_first = self._received == self._pending_size
        data = b"".join(self._pending)
        self._pending, self._pending_size = [], 0
        return data.removeprefix(_BOM) if is_first else data

    @abstractmethod
    def _scan(self, data: bytes) -> None:
        """Find items in the rest of the last call and in `data`."""

    @abstractmethod
    def _end(self) -> None:
        """Use the rest of the last call: nothing follows."""

    def _keep(self, rest: bytes, longest: int) -> None:
        """Keep the beginning of an item for the next call."""
        if len(rest) > longest:
            raise too_long(self.batches.count + 1, self._limits)
        self._rest = rest


class Lines(TextFormat):
    """One item for each line."""

    def __init__(self, limits: ItemLimits, *, comments: bool) -> None:
        super().__init__(limits)
        self._comments = comments

    def _scan(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)
        self._keep(rest, self._limits.item_bytes + 1)  # a carriage return may follow

    def _end(self) -> None:
        self._line(self._rest)

    def _line(self, line: bytes) -> None:
        item = line.removesuffix(b"\r")
        if item.strip() and not (self._comments and item.startswith(b"#")):
            self._add(item)

    def _add(self, item: bytes) -> None:
        self.batches.add_text(item)


class JsonLines(Lines):
    """One JSON value for each line."""

    def __init__(self, limits: ItemLimits) -> None:
        super().__init__(limits._replace(item_bytes=limits.item_bytes * _LONGEST_ESCAPE), comments=False)
        self.batches = Batches(limits)

    def _add(self, item: bytes) -> None:
        self.batches.add_value(_decode(item, self.batches.count + 1))


class JsonArray(TextFormat):
    """One item for each element of a JSON array."""

    def __init__(self, limits: ItemLimits) -> None:
        super().__init__(limits)
        self._depth = 0
        self._position = 0
        """How far `_rest` has been scanned."""
        self._is_over = False
        self._expects_element = False
        """Whether a comma was read, so that another element must follow."""

    def _scan(self, data: bytes) -> None:
        data = self._rest + data
        start = 0
        position = self._position
        while (token := _TOKEN.search(data, position)) is not None:
            if token[0] == b'"':
                break
            start = self._token(data, start, token)
            position = token.end()
        scanned = len(data) if token is None else token.start()
        if (not self._depth or self._is_over) and data[start:].strip(_BLANK):
            raise _not_an_array()
        self._position = scanned - start
        self._keep(data[start:], self._limits.item_bytes * _LONGEST_ESCAPE + _SCANNED)

    def _token(self, data: bytes, start: int, token: re.Match[bytes]) -> int:
        """Use one token. Return where the current element begins."""
        sign = token[0]
        if self._is_over or (not self._depth and (sign != b"[" or data[start : token.start()].strip(_BLANK))):
            raise _not_an_array()
        if sign in (b"[", b"{"):
            self._depth += 1
            return token.end() if self._depth == 1 else start
        if sign in (b"]", b"}"):
            self._depth -= 1
            return start if self._depth else self._close(data[start : token.start()], sign, token.end())
        if sign == b"," and self._depth == 1:
            self._element(data[start : token.start()])
            self._expects_element = True
            return token.end()
        return start

    def _close(self, last: bytes, sign: bytes, end: int) -> int:
        if sign != b"]":
            raise _not_an_array()
        if last.strip(_BLANK) or self._expects_element:
            self._element(last)
        self._is_over = True
        return end

    def _element(self, text: bytes) -> None:
        self.batches.add_value(_decode(text, self.batches.count + 1))

    def _end(self) -> None:
        if not self._is_over:
            raise _not_an_array()


async def batches_of(pieces: AsyncGenerator[bytes], text: TextFormat) -> AsyncGenerator[Sequence[bytes]]:
    """Yield the items of a source in batches."""
    async with aclosing(pieces):
        async for piece in pieces:
            text.feed(piece)
            if text.batches.is_full:
                yield text.batches.take()
    text.finish()
    if rest := text.batches.take():
        yield rest


def _decode(text: bytes, number: int) -> Any:
    try:
        value = msgspec.json.decode(text)
        if isinstance(value, list | dict):
            check_depth(value)
    except RecursionError:
        raise InputsRefused(f"item {number} is nested deeper than {MAX_LEVELS} levels", hint="Flatten it.") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InputsRefused(f"item {number} is not JSON", hint="Look for a missing comma or quote before it.") from None
    return value


def _not_an_array() -> InputsRefused:
    return InputsRefused("the source is not a complete JSON array", hint='Write ["first", "second"].')
