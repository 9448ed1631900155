"""Loads the HTTP client when the first request is sent."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, cast

from foliot.adapters.outbound.dns import LookUp
from foliot.adapters.outbound.guard import CONNECT
from foliot.domain.outbound.policy import OPEN, OutboundPolicy

if TYPE_CHECKING:
    from foliot.adapters.outbound.client import Outbound


class LazyOutbound:
    """An HTTP client that is loaded in a thread, because the import takes a while."""

    def __init__(
        self, policy: OutboundPolicy = OPEN, *, look_up: LookUp | None = None, connect: float = CONNECT
    ) -> None:
        self._policy = policy
        self._look_up = look_up
        self._connect = connect
        self._outbound: Outbound | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> "Outbound":
        async with self._opening:
            if self._outbound is None:
                self._outbound = await asyncio.to_thread(self._load)
            return self._outbound

    def _load(self) -> "Outbound":
        client = import_module("foliot.adapters.outbound.client")
        return cast("Outbound", client.Outbound(self._policy, look_up=self._look_up, connect=self._connect))
