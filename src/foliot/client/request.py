"""A request as a value: what is sent, and the type of the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from foliot.errors import InvalidInput, shown

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Request(Generic[Answer]):
    method: str
    path: str
    """Encoded, with the query."""
    kind: Any
    """The type of the answer; `bytes` for its content as it is."""
    body: bytes | None = None
    revision: int | None = None
    """The revision that a change expects (If-Match)."""
    is_keyed: bool = False
    """Whether it has an Idempotency-Key, so that it can be sent again."""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_repeatable(self) -> bool:
        """Whether the effect is the same if it is sent again because its answer was lost."""
        return self.method == "GET" or self.is_keyed


def build_path(*parts: str, **query: Any) -> str:
    """Return the path below /api. Each part is one segment, whatever characters it has."""
    path = "/api/" + "/".join(_segment(part) for part in parts)
    given = [(name, _parameter(value)) for name, value in query.items() if value is not None and value is not False]
    return f"{path}?{urlencode(given)}" if given else path


def encode_body(body: Any) -> bytes:
    """Return a body as JSON. A timedelta is written as seconds, and None in options is left out by the caller."""
    try:
        return msgspec.json.encode(_plain(body))
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise InvalidInput(
            f"a value cannot be sent as JSON: {type(error).__name__}: {str(error)[:200]}",
            hint="Use text, numbers, lists, dicts, None and times.",
        ) from None


def given_only(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None: the server has the defaults of the others."""
    return {name: value for name, value in fields.items() if value is not None}


def _segment(part: str) -> str:
    if part in ("", ".", "..") or type(part) is not str:
        raise InvalidInput(f"{shown(part)} is not an id", hint="Give the id as text.")
    return quote(part, safe=":@")


def _parameter(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
    return str(value)


def _plain(value: Any) -> Any:
    match value:
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {name: _plain(one) for name, one in value.items()}
        case str() | bytes() | bytearray():
            return value
        case Sequence():
            return [_plain(one) for one in value]
    return value
