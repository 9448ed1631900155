"""Payloads and outputs: JSON, of bounded size."""

from math import isfinite
from typing import Any, Final

import msgspec

from foliot.errors import InvalidRun

MAX_BYTES: Final = 1 << 20


def encode_payload(value: Any, *, what: str = "payload") -> bytes | None:
    """Write a value as JSON. None is no payload at all."""
    if value is None:
        return None
    try:
        _check_json(value)
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


def _check_json(value: Any) -> None:
    """Refuse what the encoder would quietly turn into something else."""
    match value:
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise TypeError(f"the key {key!r} is not text")
                _check_json(item)
        case list() | tuple():
            for item in value:
                _check_json(item)
        case float() if not isfinite(value):
            raise ValueError(f"{value} is not a number of JSON")
        case bytes() | bytearray() | memoryview():
            raise TypeError("bytes are not text")


def decode_payload(encoded: bytes | None) -> Any:
    return None if encoded is None else msgspec.json.decode(encoded)
