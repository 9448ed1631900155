"""Sockets that connect to admitted addresses only.

aiohttp calls the resolver for names only: it connects to what it takes for an address without a look-up. So the
resolver returns the admitted addresses, and the socket factory, which sees every address before it is used, checks it
again.
"""

import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from foliot.domain.outbound.addresses import Address

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


class Sockets:
    """Creates the sockets of one request, after a last check of the address."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self.addresses = addresses
        self.has_refused = False
        self._made: list[socket.socket] = []

    def make(self, info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, place = info
        if ip_address(place[0]) not in self.addresses:
            self.has_refused = True
            raise PermissionError("the address was not admitted")
        made = socket.socket(family, kind, protocol)
        self._made.append(made)
        return made

    def shut(self) -> None:
        """Shut down open sockets immediately: closing alone would wait until the peer has read everything."""
        for made in self._made:
            with suppress(OSError):
                made.shutdown(socket.SHUT_RDWR)


class PinnedResolver(AbstractResolver):
    """A resolver that always returns the admitted addresses."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [_result(host, port, address) for address in self._addresses]

    async def close(self) -> None:
        pass


def _result(host: str, port: int, address: Address) -> ResolveResult:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return ResolveResult(
        hostname=host, host=str(address), port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST
    )
