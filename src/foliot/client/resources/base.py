"""The base of the resources: sends requests, and reads lists page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, TypeVar

from foliot.client.request import Request, build_path, encode_body
from foliot.client.transport import Transport
from foliot.service.answers import Page

Answer = TypeVar("Answer")
Item = TypeVar("Item")
PAGE: Final = 100


class Resource:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _get(self, kind: type[Answer], /, *parts: str, **query: Any) -> Answer:
        return await self._transport.send(Request(method="GET", path=build_path(*parts, **query), kind=kind))

    async def _post(self, kind: type[Answer], /, *parts: str, body: Any = None, is_keyed: bool = True) -> Answer:
        """Send a change that may be sent again, because it has a key."""
        content = encode_body({} if body is None else body)
        request: Request[Answer] = Request(
            method="POST", path=build_path(*parts), kind=kind, body=content, is_keyed=is_keyed
        )
        return await self._transport.send(request)

    async def _put(self, kind: type[Answer], /, *parts: str, body: Any, revision: int | None = None) -> Answer:
        content = encode_body(body)
        return await self._transport.send(
            Request(method="PUT", path=build_path(*parts), kind=kind, body=content, revision=revision)
        )

    async def _delete(self, kind: type[Answer], /, *parts: str, revision: int | None = None, **query: Any) -> Answer:
        path = build_path(*parts, **query)
        return await self._transport.send(Request(method="DELETE", path=path, kind=kind, revision=revision))


async def each_item(page: Callable[[str | None], Awaitable[Page[Item]]]) -> AsyncIterator[Item]:
    """Yield the items of all pages. The next page is read when the one before has been used."""
    cursor: str | None = None
    while True:
        found = await page(cursor)
        for item in found.items:
            yield item
        cursor = found.next
        if cursor is None:
            return
