"""Items: what a fanout gives to its children, each as a JSON document.

    text                 a JSON string
    bytes, not UTF-8     {"item_base64": "..."}
    any other JSON       as it is: a number, an object, a list

The document is the payload of the child. Processes get it in an environment variable: text and bytes as they are, any
other document as JSON.
"""

import base64
import binascii
import re
from collections.abc import Callable
from fnmatch import translate
from typing import Any, Final, NamedTuple

import msgspec

from foliot.errors import InvalidInput

BASE64: Final = "item_base64"


def item_key(index: int) -> str:
    """Return the key of a child in its fanout. Keys sort like their indices."""
    return f"{index:07}"


class ItemLimits(NamedTuple):
    """How much a fanout accepts. An input beyond a limit fails the fanout before any child exists."""

    items: int = 1_000_000
    item_bytes: int = 64 * 1024
    total_bytes: int = 1 << 30


def encode_text(item: bytes) -> bytes:
    """Return an item of text or bytes as a document. Raise InvalidInput if no process could get it."""
    if b"\0" in item:
        raise InvalidInput(
            f"item {item[:64]!a} contains a NUL byte",
            hint="Environment variables cannot contain NUL. Encode the item, for example as base64.",
            field="items",
        )
    try:
        return msgspec.json.encode(item.decode())
    except UnicodeDecodeError:
        return msgspec.json.encode({BASE64: base64.b64encode(item).decode()})


def encode_value(value: Any) -> bytes:
    """Return an item that is a JSON value as a document."""
    if isinstance(value, str):
        return encode_text(value.encode())
    return msgspec.json.encode(value)


def item_bytes(document: bytes) -> bytes:
    """Return the item as processes get it."""
    value = msgspec.json.decode(document)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and value.keys() == {BASE64} and isinstance(value[BASE64], str):
        try:
            return base64.b64decode(value[BASE64], validate=True)
        except binascii.Error:
            pass  # a JSON object that happens to have this key
    return document


def item_text(document: bytes) -> str:
    """Return the item as it is shown to people. Bytes that are not UTF-8 are escaped."""
    return item_bytes(document).decode(errors="backslashreplace")


def item_matcher(pattern: str | None, text: str | None = None) -> Callable[[bytes], bool]:
    """Return a function that tells whether the text of an item is `text`, or matches a pattern with * ? and [...].
    Without both: any item."""
    if text is not None:
        return lambda document: item_text(document) == text
    if pattern is None:
        return lambda document: True
    matches = re.compile(translate(pattern)).match
    return lambda document: matches(item_text(document)) is not None
