"""Where the items of a fanout come from: a source to resolve, items that were given, or the failed items of another."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from foliot.domain.fanout.item import ItemLimits, encode_value
from foliot.domain.fanout.spec import FanoutFields
from foliot.domain.ids import RunId
from foliot.domain.instant import Millis
from foliot.errors import InvalidRun

_JSON_TYPES: Final = {dict: "an object", int: "a number", float: "a number", bool: "true or false"}


class ItemSource(NamedTuple):
    """The source of the items of one fanout: exactly one of the first three, or items that are stored already."""

    uri: str | None = None
    """To be resolved by the resolver of its scheme."""
    documents: tuple[bytes, ...] | None = None
    rerun_of: RunId | None = None
    limits: ItemLimits = ItemLimits()
    window: Millis = Millis(0)


def source_of(fields: FanoutFields) -> ItemSource:
    """Return the source of the items. Raise InvalidRun if given items are neither a list nor text."""
    return ItemSource(
        uri=fields.inputs_from,
        documents=None if fields.items is None else _documents(fields.items),
        rerun_of=None if fields.rerun_of is None else RunId(fields.rerun_of),
        limits=ItemLimits(fields.max_items, fields.max_item_size, fields.max_input_size),
        window=Millis(fields.window),
    )


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text. Other separators that `str.splitlines` knows may be part of an item."""
    return (line.removesuffix("\r") for line in text.split("\n"))


def _documents(items: Any) -> tuple[bytes, ...]:
    match items:
        case str():
            return tuple(encode_value(line) for line in _lines(items) if line.strip())
        case list() | tuple():
            return tuple(map(encode_value, items))
        case _:
            raise InvalidRun(
                f"the items are {_JSON_TYPES.get(type(items), 'a value')}, not a list and not text",
                hint="Let the step before print a JSON array, or one item per line.",
                field="items",
            )
