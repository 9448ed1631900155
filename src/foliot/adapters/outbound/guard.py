"""The guard: decides whether a target may be reached, and at which addresses."""

import asyncio
from collections.abc import Sequence
from typing import Final

from foliot.adapters.outbound.dns import LookUp
from foliot.domain.outbound.addresses import Address
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.domain.outbound.url import Url
from foliot.errors import OutboundBlocked, OutboundFailed

CONNECT: Final = 10.0
"""Seconds for looking up a host, and again for connecting to it."""


class Guard:
    """Checks targets by a policy."""

    def __init__(self, policy: OutboundPolicy, look_up: LookUp) -> None:
        self._policy = policy
        self._look_up = look_up

    async def admit(self, url: Url, seconds: float) -> Sequence[Address]:
        """Return the addresses that may be used for this URL.

        The name is looked up once, because a second look-up could return other addresses. Raises OutboundBlocked if one
        of them is not allowed, OutboundFailed if there is none, or none within this many seconds.
        """
        addresses = [url.address] if url.address is not None else await self._find(url.host, seconds)
        place = self._policy.blocked(url, addresses)
        if place is not None:
            raise OutboundBlocked(
                f"the target is a {place} address, which is blocked",
                hint="An operator can allow it: see [outbound] allow in the configuration.",
            )
        return addresses

    async def _find(self, host: str, seconds: float) -> Sequence[Address]:
        try:
            async with asyncio.timeout(seconds):
                found = await self._look_up(host)
        except TimeoutError:
            raise OutboundFailed(f'host "{host}" could not be looked up within {seconds:g} s') from None
        except OSError as error:
            raise OutboundFailed(f'host "{host}" could not be looked up: {_words(error)}') from None
        if not found:
            raise OutboundFailed(f'host "{host}" has no address')
        return found


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
