"""Packs items into chunks of bounded size to store them, and refuses more than the limits allow."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from foliot.domain.fanout.item import ItemLimits, item_bytes
from foliot.errors import InputsRefused

CHUNK_ITEMS: Final = 1_000
CHUNK_BYTES: Final = 256 * 1024


class ItemChunk(NamedTuple):
    """Some items in order. `first` is the index of the first one; each is a document of `domain.fanout.item`."""

    first: int
    documents: Sequence[bytes]
    is_last: bool = False


class ChunkPacker:
    """Packs items into chunks of bounded size, and refuses more than the limits allow."""

    def __init__(self, limits: ItemLimits) -> None:
        self._limits = limits
        self._documents: list[bytes] = []
        self._size = 0
        self._total = 0
        self._first = 0

    @property
    def count(self) -> int:
        return self._first + len(self._documents)

    def add(self, documents: Sequence[bytes]) -> list[ItemChunk]:
        """Add items, and return the chunks that are full."""
        full: list[ItemChunk] = []
        for document in documents:
            self._check(document)
            if self._documents and (self._size + len(document) > CHUNK_BYTES or len(self._documents) == CHUNK_ITEMS):
                full.append(self._take())
            self._documents.append(document)
            self._size += len(document)
        return full

    def last(self) -> ItemChunk:
        return self._take()._replace(is_last=True)

    def _take(self) -> ItemChunk:
        chunk = ItemChunk(self._first, self._documents)
        self._first += len(self._documents)
        self._documents, self._size = [], 0
        return chunk

    def _check(self, document: bytes) -> None:
        limits = self._limits
        self._total += len(document)
        if self.count >= limits.items:
            raise _beyond(f"there are more than {limits.items} items", "max_items")
        # A document may be longer than its item: quotes, escapes and base64 do not count.
        if len(document) > limits.item_bytes and len(item_bytes(document)) > limits.item_bytes:
            raise _beyond(f"item {self.count} has more than {limits.item_bytes} bytes", "max_item_size")
        if self._total > limits.total_bytes:
            raise _beyond(f"the items have more than {limits.total_bytes} bytes together", "max_input_size")


def _beyond(fact: str, option: str) -> InputsRefused:
    return InputsRefused(fact, hint=f"Give fewer or smaller items, or raise {option}.")
