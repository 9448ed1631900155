"""Payloads and outputs: JSON, of bounded size and depth.

What people give a run is stored as they gave it, or refused. What a function gives back may be more than JSON knows,
and is kept as the nearest that it does know: a set as a list, a moment as text. A kind of text or number of somebody's
own is text or a number. What has no nearest, such as bytes and NaN, is refused wherever it is found.
"""

from collections.abc import Iterable
from math import isfinite
from operator import index
from typing import Any, Final

import msgspec

from foliot.errors import InvalidRun, shown

MAX_BYTES: Final = 1 << 20
MAX_LEVELS: Final = 200
"""How many lists and objects a value may have around it.

Python gives up somewhere between 500 and 10,000, by its version and by how deep the caller is itself: without a bound
of our own, what one process has accepted another could not read.
"""
UNREADABLE: Final = (msgspec.MsgspecError, TypeError, ValueError, RecursionError)
"""What is raised by a stored document that something else has written."""
_BYTES: Final = (bytes, bytearray, memoryview)


def encode_payload(value: Any, *, what: str = "payload") -> bytes | None:
    """Write a value as JSON. None is no payload at all."""
    return _encode(value, what, is_result=False)


def encode_result(value: Any) -> bytes | None:
    """Write what a function gave back as JSON, or as the nearest to it. None is no output at all."""
    return _encode(value, "output", is_result=True)


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
        raise InvalidRun(
            f"the {what} has {len(encoded)} bytes, more than {MAX_BYTES}",
            hint="Store it elsewhere and pass a reference to it.",
            field=what,
        )
    return encoded


def too_deep(what: str) -> InvalidRun:
    return InvalidRun(
        f"the {what} is nested deeper than {MAX_LEVELS} levels",
        hint="Use fewer levels. A list or dict that contains itself has no end.",
        field=what,
    )


def check_depth(tree: Any) -> None:
    """Raise a RecursionError, as Python does sooner or later, if lists and objects are deeper than MAX_LEVELS."""
    layer = [tree]
    for _ in range(MAX_LEVELS + 1):
        layer = [part for whole in layer for part in _parts(whole)]
    if layer:
        raise RecursionError


def _parts(whole: Any) -> Iterable[Any]:
    match whole:
        case dict():
            return whole.values()
        case list():
            return whole
    return ()


def _check_json(value: Any, is_result: bool, levels: int) -> None:
    """Refuse what the encoder would quietly turn into something else, and what is too deep, as Python does."""
    if levels < 0:
        raise RecursionError
    match value:
        case dict():
            _check_object(value, is_result, levels - 1)
        case list() | tuple():
            for item in value:
                _check_json(item, is_result, levels - 1)
        case float() if not isfinite(value):
            raise ValueError(f"{value} is not a number of JSON")
        case bytes() | bytearray() | memoryview():
            raise TypeError("bytes are not text")
        case str() | int() | float() | None:
            pass
        case _ if is_result:
            plain = msgspec.to_builtins(value, builtin_types=_BYTES, enc_hook=_plain)
            _check_json(plain, False, levels)
        case _:
            raise _unknown(value)


def _check_object(value: dict[Any, Any], is_result: bool, levels: int) -> None:
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"the key {shown(key)} is not text")
        _check_json(item, is_result, levels)


def _plain(value: Any) -> Any:
    """Text and numbers of a kind that the encoder does not know, as those that it does."""
    match value:
        case str():
            return str.__str__(value)
        case float():
            return float.__float__(value)
    if hasattr(type(value), "__index__"):
        return int(index(value))
    raise _unknown(value)


def _unknown(value: Any) -> TypeError:
    return TypeError(f"there is no {type(value).__name__} in JSON")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_plain)


def decode_payload(encoded: bytes | None) -> Any:
    return None if encoded is None else msgspec.json.decode(encoded)
