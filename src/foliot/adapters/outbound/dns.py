"""Looks up host names without blocking other tasks."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from threading import Thread
from typing import Final, Protocol

from foliot.domain.outbound.addresses import Address

CONCURRENCY: Final = 32


class LookUp(Protocol):
    """Looks up the addresses of a host name."""

    async def __call__(self, host: str) -> Sequence[Address]:
        """Return all addresses, the preferred first. Raises OSError if there are none or the look-up fails."""
        ...


class SystemResolver:
    """Uses the resolver of the system, in daemon threads.

    A look-up cannot be interrupted: with a dead name server it takes a minute. In the loop's own pool, a few of them
    would block all other work, and Python would wait for them at the end of the process.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(CONCURRENCY)

    async def __call__(self, host: str) -> Sequence[Address]:
        await self._slots.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[Address]] = loop.create_future()
        try:
            Thread(target=self._look_up, args=(host, loop, answer), name="foliot-dns", daemon=True).start()
        except RuntimeError as error:
            self._slots.release()
            raise OSError(str(error)) from None
        return await answer

    def _look_up(self, host: str, loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Sequence[Address]]) -> None:
        found: Sequence[Address] | OSError
        try:
            found = _addresses(host)
        except OSError as error:
            found = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._deliver, answer, found)

    def _deliver(self, answer: asyncio.Future[Sequence[Address]], found: Sequence[Address] | OSError) -> None:
        self._slots.release()
        if answer.done():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)


def _addresses(host: str) -> Sequence[Address]:
    infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(info[4][0]) for info in infos))
