"""Pages of lists: a hard maximum, a stable order, and an opaque cursor for the next page."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeVar

import msgspec

from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.reading import Parameters
from foliot.service.answers import Page

MOST: Final = 1_000
LARGEST: Final = (1 << 63) - 1
"""The largest index or offset that a database stores."""
Item = TypeVar("Item")
Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST, description="How many items the page has at most.")]
Cursor = Annotated[str, msgspec.Meta(max_length=512, description="`next` of the page before.")]


class PageQuery(Parameters, frozen=True, kw_only=True):
    limit: Limit = 100
    cursor: Cursor | None = None


def page(found: Sequence[Item], limit: int, key: Callable[[Item], str | int]) -> Page[Item]:
    """Return a page of items. `found` has one more than `limit`, if there are more."""
    items = list(found[:limit])
    return Page(items=items, next=cursor_after(key(items[-1])) if len(found) > limit else None)


def cursor_after(key: str | int | tuple[int, str]) -> str:
    return urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def text_cursor(cursor: str | None) -> str | None:
    key: str | None = _key(cursor, str)
    return key


def number_cursor(cursor: str | None) -> int | None:
    key: int | None = _key(cursor, int)
    return key


def pair_cursor(cursor: str | None) -> tuple[int, str] | None:
    key: tuple[int, str] | None = _key(cursor, tuple[int, str])
    return key


def _key(cursor: str | None, kind: Any) -> Any:
    if cursor is None:
        return None
    try:
        return msgspec.json.decode(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=kind)
    except (ValueError, msgspec.MsgspecError):
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "invalid_cursor",
            "the cursor was not made by this list",
            hint="Use `next` of the page before, or leave it out for the first page.",
            field="cursor",
        ) from None
