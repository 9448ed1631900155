"""Collects items into batches of documents, and enforces the limits of a fanout."""

from typing import Any, Final

from foliot.domain.fanout.item import ItemLimits, encode_text, encode_value
from foliot.errors import InputsRefused, InvalidInput

MOST_ITEMS: Final = 1_000
MOST_BYTES: Final = 1 << 20
"""A batch is full when it has this many items or bytes."""


class Batches:
    """The items of one source, as documents. `take` returns what has been collected."""

    def __init__(self, limits: ItemLimits) -> None:
        self._limits = limits
        self._batch: list[bytes] = []
        self._batch_size = 0
        self.count = 0
        self._size = 0

    @property
    def is_full(self) -> bool:
        return len(self._batch) >= MOST_ITEMS or self._batch_size >= MOST_BYTES

    def add_text(self, item: bytes) -> None:
        """Add an item of text or bytes."""
        self._count(len(item))
        try:
            self._append(encode_text(item))
        except InvalidInput as error:
            raise InputsRefused(f"item {self.count}: {error.message}", hint=error.hint) from None

    def add_value(self, value: Any) -> None:
        """Add an item that is a JSON value."""
        try:
            document = encode_value(value)
        except InvalidInput as error:
            raise InputsRefused(f"item {self.count + 1}: {error.message}", hint=error.hint) from None
        self._count(len(value.encode()) if isinstance(value, str) else len(document))
        self._append(document)

    def add_document(self, document: bytes) -> None:
        """Add an item that is encoded already."""
        self._count(len(document))
        self._append(document)

    def take(self) -> list[bytes]:
        """Return the collected items, and begin the next batch."""
        taken, self._batch, self._batch_size = self._batch, [], 0
        return taken

    def _append(self, document: bytes) -> None:
        self._batch.append(document)
        self._batch_size += len(document)

    def _count(self, size: int) -> None:
        self.count += 1
        self._size += size
        if size > self._limits.item_bytes:
            raise too_long(self.count, self._limits)
        if self.count > self._limits.items:
            raise _beyond(f"there are more than {self._limits.items:,} items", "max_items")
        if self._size > self._limits.total_bytes:
            raise too_much(self._limits)


def too_long(number: int, limits: ItemLimits) -> InputsRefused:
    return _beyond(f"item {number} is longer than {limits.item_bytes:,} bytes", "max_item_size")


def too_much(limits: ItemLimits) -> InputsRefused:
    return _beyond(f"the source has more than {limits.total_bytes:,} bytes", "max_input_size")


def _beyond(fact: str, option: str) -> InputsRefused:
    return InputsRefused(fact, hint=f"Give fewer or smaller items, or raise {option} of the job.")
