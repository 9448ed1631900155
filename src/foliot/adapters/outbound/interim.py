"""Limits interim responses (1xx): a server may send some before the final one, and could send them endlessly."""

from typing import Any, Final, Self

from aiohttp import ClientError, ClientResponse
from aiohttp.connector import Connection

LIMIT: Final = 50


class TooManyInterim(ClientError):
    """The server sent too many interim responses."""


class BoundedResponse(ClientResponse):
    """Accepts a limited number of interim responses. aiohttp accepts any number, without letting other tasks run."""

    async def start(self, connection: Connection) -> Self:
        protocol = connection.protocol
        assert protocol is not None
        read, left = protocol.read, LIMIT

        async def counted() -> Any:
            nonlocal left
            message = await read()
            left -= 1
            if left < 0 and _is_interim(message[0].code):
                raise TooManyInterim(f"the server sent more than {LIMIT} interim responses (1xx) and no final one")
            return message

        # The connection serves only this request.
        protocol.read = counted  # type: ignore[method-assign]
        await super().start(connection)
        return self


def _is_interim(status: int) -> bool:
    return 100 <= status < 200 and status != 101
