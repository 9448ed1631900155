"""The event loop that an application is open on, for all its users.

    closed --open--> a loop --close, or the last block ends--> closed
                      |  ^
                      |  +-- a call on another loop after this loop was closed: bound to the other loop
                      +----- a call on another loop while this loop is open: WrongLoop

Connections belong to the loop that made them; those of PostgreSQL fail on any other.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from foliot.errors import InUse, WrongLoop
from foliot.service.services import Services

_LEFT_BEHIND: Final[list[object]] = []


@dataclass(slots=True)
class LoopBinding:
    """An event loop, and the services that are open on it."""

    loop: asyncio.AbstractEventLoop
    services: Services | None = None
    is_inline: bool = False
    """Every storage call is done when it returns."""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _keeper: AsyncGenerator[None] | None = None

    @property
    def is_unused(self) -> bool:
        """Whether another loop may replace it: its loop is closed, or opening has failed."""
        return self.loop.is_closed() or (self.services is None and not self.opening.locked())

    async def attach(self, services: Services, *, is_inline: bool) -> None:
        """Keep the services open until `close`, or until the loop ends normally."""
        self.services = services
        self.is_inline = is_inline
        self._keeper = self._keep()
        await anext(self._keeper)

    async def close(self) -> None:
        """Close the services. On another loop only if the own loop is closed; then errors are ignored."""
        if self._keeper is None:
            return
        if not self.loop.is_closed():
            await self._keeper.aclose()
            return
        with suppress(Exception):  # connections of a closed loop may refuse to close; freeing them closes the rest
            await self._keeper.aclose()

    def leave_behind(self) -> None:
        """In a forked child: the services belong to the parent, and must be neither closed nor freed."""
        _LEFT_BEHIND.append((self, self.services))
        self.services = None

    async def _keep(self) -> AsyncGenerator[None]:
        """Close the services when the generator is closed.

        `asyncio.run` closes the generators of its loop after all tasks have ended. That is the last moment to close
        services that were left open: once the loop is closed, their connections cannot be closed in order.
        """
        try:
            yield
        finally:
            services, self.services = self.services, None
            if services is not None:
                await services.close()


def wrong_loop() -> WrongLoop:
    return WrongLoop(
        "the application is open on another event loop",
        hint="Close it there first (if plain code opened it: app.wait(app.close())), create one Foliot for each event "
        "loop, or make the call through a thread: await asyncio.to_thread(app.wait, app.enqueue(...)).",
    )


def still_in_use() -> InUse:
    return InUse(
        "the application is still in use",
        hint="The last `async with app` block closes it when it ends. Stop all nodes before you close it yourself.",
    )


def already_open() -> InUse:
    return InUse("the application is open on another storage", hint="Close it first: await app.close()")
