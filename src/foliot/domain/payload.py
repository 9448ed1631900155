"""Payloads and outputs: JSON, of bounded size.

What people give a run is stored as they gave it, or refused. What a function gives back may be more than JSON knows,
and is kept as the nearest that it does know: a set as a list, a moment as text.
"""

from math import isfinite
from typing import Any, Final

import msgspec

from foliot.errors import InvalidRun

MAX_BYTES: Final = 1 << 20


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
        _check_json(value, is_result)
        encoded = msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
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


def _check_json(value: Any, is_result: bool) -> None:
    """Refuse what the encoder would quietly turn into something else."""
    match value:
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise TypeError(f"the key {key!r} is not text")
                _check_json(item, is_result)
        case list() | tuple():
            for item in value:
                _check_json(item, is_result)
        case float() if not isfinite(value):
            raise ValueError(f"{value} is not a number of JSON")
        case bytes() | bytearray() | memoryview():
            raise TypeError("bytes are not text")
        case str() | int() | float() | None:
            pass
        case _ if not is_result:
            raise TypeError(f"there is no {type(value).__name__} in JSON")


def decode_payload(encoded: bytes | None) -> Any:
    return None if encoded is None else msgspec.json.decode(encoded)
