"""Payloads and outputs: JSON, of bounded size and depth.

The payload of a run is stored unchanged or refused. The result of a function may contain types that JSON does not have;
these are converted to the closest JSON type: a set to a list, a datetime to text, subclasses of text and numbers to
plain text and numbers. Values without a close JSON type, such as bytes and NaN, are refused everywhere.
"""

from collections.abc import Iterable
from math import isfinite
from operator import index
from typing import Any, Final

import msgspec

from foliot.errors import InvalidRun, shown

MAX_BYTES: Final = 1 << 20
MAX_LEVELS: Final = 200
"""How deep lists and objects may be nested.

Python's own limit is between 500 and 10,000, depending on its version and the depth of the caller. Without a fixed
limit, one process could accept a value that another cannot read.
"""
UNREADABLE: Final = (msgspec.MsgspecError, TypeError, ValueError, RecursionError)
"""Errors raised when a stored document that another program has written is decoded."""
_BYTES: Final = (bytes, bytearray, memoryview)


def encode_payload(value: Any, *, what: str = "payload") -> bytes | None:
    """Return a value as JSON. None: no payload."""
    return _encode(value, what, is_result=False)


def encode_result(value: Any) -> bytes | None:
    """Return the result of a function as JSON, converted to the closest JSON types. None: no output."""
    return _encode(value, "output", is_result=True)


def check_document(document: bytes, what: str) -> None:
    """Raise InvalidRun if a document of another program is not JSON, or is too large or too deep."""
    if len(document) > MAX_BYTES:
        raise _too_large(what, len(document))
    try:
        check_depth(msgspec.json.decode(document))
    except RecursionError:
        raise too_deep(what) from None
    except UNREADABLE as error:
        raise InvalidRun(f"the {what} is not JSON: {error}", hint="Send one JSON document.", field=what) from None


def _encode(value: Any, what: str, *, is_result: bool) -> bytes | None:
    if value is None:
        return None
    try:
        _check_json(value, is_result, MAX_LEVELS)
        encoded = _ENCODER.encode(value)
    except RecursionError:
        raise too_deep(what) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidRun(
            f"the {what} is not JSON: {error}",
            hint="Use dicts with text keys, lists, text, numbers, booleans and None.",
            field=what,
        ) from None
    if len(encoded) > MAX_BYTES:
        raise _too_large(what, len(encoded))
    return encoded


def _too_large(what: str, size: int) -> InvalidRun:
    return InvalidRun(
        f"the {what} has {size} bytes, more than {MAX_BYTES}",
        hint="Store it elsewhere and pass a reference to it.",
        field=what,
    )


def too_deep(what: str) -> InvalidRun:
    return InvalidRun(
        f"the {what} is nested deeper than {MAX_LEVELS} levels",
        hint="Use fewer levels, and no list or dict that contains itself.",
        field=what,
    )


def check_depth(tree: Any) -> None:
    """Raise RecursionError, as Python itself does for deeper values, if nesting exceeds MAX_LEVELS."""
    layer = [tree]
    for _ in range(MAX_LEVELS + 1):
        layer = [item for container in layer for item in _items(container)]
        if not layer:
            return
    raise RecursionError


def _items(container: Any) -> Iterable[Any]:
    match container:
        case dict():
            return container.values()
        case list():
            return container
    return ()


def _check_json(value: Any, is_result: bool, levels: int) -> None:
    """Refuse values that the encoder would silently convert, and nesting that is too deep, with RecursionError."""
    if levels < 0:
        raise RecursionError
    match value:
        case dict():
            _check_object(value, is_result, levels - 1)
        case list() | tuple():
            for item in value:
                _check_json(item, is_result, levels - 1)
        case float() if not isfinite(value):
            raise ValueError(f"{value} is not a JSON number")
        case bytes() | bytearray() | memoryview():
            raise TypeError("bytes are not text")
        case str() | int() | float() | None:
            pass
        case _ if is_result:
            plain = msgspec.to_builtins(value, builtin_types=_BYTES, enc_hook=_plain)
            _check_json(plain, False, levels)
        case _:
            raise _unsupported(value)


def _check_object(value: dict[Any, Any], is_result: bool, levels: int) -> None:
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"the key {shown(key)} is not text")
        _check_json(item, is_result, levels)


def _plain(value: Any) -> Any:
    """Return text and numbers of types that the encoder does not support as plain str, float or int."""
    match value:
        case str():
            return str.__str__(value)
        case float():
            return float.__float__(value)
    if hasattr(type(value), "__index__"):
        return int(index(value))
    raise _unsupported(value)


def _unsupported(value: Any) -> TypeError:
    return TypeError(f"JSON has no type for {type(value).__name__}")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_plain)


def decode_payload(encoded: bytes | None) -> Any:
    return None if encoded is None else msgspec.json.decode(encoded)
