"""Looking up host names without holding up anything else."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from threading import Thread
from typing import Final, Protocol

from foliot.domain.outbound.addresses import Address

AT_ONCE: Final = 32


class LookUp(Protocol):
    """Finds the addresses of a name."""

    async def __call__(self, host: str) -> Sequence[Address]:
        """All addresses, the preferred first. OSError: there are none, or it could not be found out."""
        ...


class SystemNames:
    """Asks the system, in threads of our own.

    A look-up cannot be interrupted: with a dead name server it takes a minute. In the loop's own pool a few of those
    would stop everybody, and at the end of the process Python would wait for them; these threads it leaves behind.
    """

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, host: str) -> Sequence[Address]:
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[Address]] = loop.create_future()
        try:
            Thread(target=self._ask, args=(host, loop, answer), name="foliot-names", daemon=True).start()
        except RuntimeError as error:
            self._room.release()
            raise OSError(str(error)) from None
        return await answer

    def _ask(self, host: str, loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Sequence[Address]]) -> None:
        found: Sequence[Address] | OSError
        try:
            found = _addresses(host)
        except OSError as error:
            found = error
        with suppress(RuntimeError):  # the loop is gone, and nobody waits any more
            loop.call_soon_threadsafe(self._deliver, answer, found)

    def _deliver(self, answer: asyncio.Future[Sequence[Address]], found: Sequence[Address] | OSError) -> None:
        self._room.release()
        if answer.done():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)


def _addresses(host: str) -> Sequence[Address]:
    infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(info[4][0]) for info in infos))
