"""The event loop that an application is open on, for all its users.

    closed --open--> a loop --close, or the last block ends--> closed
                      |  ^
                      |  +-- a call on another loop, and this loop is closed, or is our idle background loop
                      +----- a call on another loop while this loop lives: WrongLoop

Connections belong to the loop that made them; those of PostgreSQL fail on any other.
"""

import asyncio
from collections.abc import AsyncGenerator
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
        """Whether it is not in use: its loop is closed, or opening has failed."""
        return self.loop.is_closed() or (self.services is None and not self.opening.locked())

    async def attach(self, services: Services, *, is_inline: bool) -> None:
        """Keep the services open until `close`, or until the loop ends normally."""
        self.services = services
        self.is_inline = is_inline
        self._keeper = self._keep()
        await anext(self._keeper)

    async def close(self) -> None:
        if self._keeper is not None:
            await self._keeper.aclose()

    def leave_behind(self) -> None:
        """In a forked child: the services belong to the parent, and must be neither closed nor freed."""
        _LEFT_BEHIND.append((self, self.services))
        self.services = None

    async def _keep(self) -> AsyncGenerator[None]:
        """Close the services when the generator is closed.

        `asyncio.run` closes the generators of its loop after all tasks have ended: the only time to close services that
        were left open, since nothing can do it once the loop is closed.
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
        hint="Call it there, which works from every thread: app.wait(app.enqueue(...)), or in async code: "
        "await asyncio.to_thread(app.wait, app.enqueue(...)). Or close it there first, or use another Foliot here.",
    )


def still_in_use() -> InUse:
    return InUse(
        "the application is still in use",
        hint="The last `async with app` block closes it when it ends; a node must be stopped first.",
    )


def already_open() -> InUse:
    return InUse("the application is open on another storage", hint="Close it first: await app.close()")
