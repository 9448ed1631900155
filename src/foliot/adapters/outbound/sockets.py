"""Connections that lead to admitted addresses and nowhere else.

aiohttp asks a resolver for names only: what it takes for an address it connects to without asking. So the resolver
pins names, and the maker of sockets, which sees every address that is about to be used, has the last word.
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
    """Makes the sockets of one request: the last look before anything leaves this machine."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self.addresses = addresses
        self.has_refused = False
        self._made: list[socket.socket] = []

    def make(self, info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, place = info
        if ip_address(place[0]) not in self.addresses:
            self.has_refused = True
            raise PermissionError("not an address that was admitted")
        made = socket.socket(family, kind, protocol)
        self._made.append(made)
        return made

    def shut(self) -> None:
        """End what is still open at once: closing alone would wait until the other side has read everything."""
        for made in self._made:
            with suppress(OSError):
                made.shutdown(socket.SHUT_RDWR)


class Pinned(AbstractResolver):
    """Knows one answer: the addresses that were admitted."""

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
