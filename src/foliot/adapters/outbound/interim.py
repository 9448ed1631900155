"""Interim answers (1xx): a server may send some before the real one, and one that sends nothing else has no end."""

from typing import Any, Final, Self

from aiohttp import ClientError, ClientResponse
from aiohttp.connector import Connection

MOST: Final = 50


class TooManyInterim(ClientError):
    """The server says again and again that it is about to answer."""


class BoundedResponse(ClientResponse):
    """Takes so many interim answers. aiohttp takes any number, and while more are there, nobody else has a turn."""

    async def start(self, connection: Connection) -> Self:
        protocol = connection.protocol
        assert protocol is not None
        read, left = protocol.read, MOST

        async def counted() -> Any:
            nonlocal left
            answer = await read()
            left -= 1
            if left < 0 and _is_interim(answer[0].code):
                raise TooManyInterim(f"the server sent more than {MOST} interim answers (1xx) and no other")
            return answer

        # The connection serves this one request, and ends with it.
        protocol.read = counted  # type: ignore[method-assign]
        await super().start(connection)
        return self


def _is_interim(status: int) -> bool:
    return 100 <= status < 200 and status != 101
