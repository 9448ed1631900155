"""Lists of a given length, read in pages that the API allows."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from foliot.service.answers import Page

MOST: Final = 1_000
"""How many items a page has at most."""
Item = TypeVar("Item")


async def first_items(limit: int, page: Callable[[int, str | None], Awaitable[Page[Item]]]) -> list[Item]:
    """Return the first `limit` items of a list. `page` takes the length of a page and a cursor."""
    found: list[Item] = []
    cursor: str | None = None
    while len(found) < limit:
        part = await page(min(MOST, limit - len(found)), cursor)
        found += part.items
        cursor = part.next
        if cursor is None:
            break
    return found[:limit]


async def all_items(page: Callable[[int, str | None], Awaitable[Page[Item]]]) -> list[Item]:
    """Return all items of a list."""
    found: list[Item] = []
    cursor: str | None = None
    while True:
        part = await page(MOST, cursor)
        found += part.items
        cursor = part.next
        if cursor is None:
            return found
