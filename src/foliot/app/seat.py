"""Where an application is open: on one event loop, for all who use it.

    nowhere --open--> a loop --close, or the last user leaves--> nowhere
                       |  ^
                       |  +-- another loop asks, and this one is closed, or is our own in the background and idle
                       +----- another loop asks while this one lives: WrongLoop

Connections belong to the loop that made them; those of PostgreSQL fail on any other.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from foliot.errors import InUse, WrongLoop
from foliot.wiring import Services

_LEFT_BEHIND: Final[list[object]] = []


@dataclass(slots=True)
class Seat:
    """A loop, and what is open there."""

    loop: asyncio.AbstractEventLoop
    services: Services | None = None
    is_inline: bool = False
    """Every verb of the storage is done when its call returns."""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _keeper: AsyncGenerator[None] | None = None

    @property
    def is_vacant(self) -> bool:
        """Whether nobody can be using it: its loop is closed, or opening has failed."""
        return self.loop.is_closed() or (self.services is None and not self.opening.locked())

    async def settle(self, services: Services, *, is_inline: bool) -> None:
        """Keep these open until `close`, or until the loop ends in good order."""
        self.services = services
        self.is_inline = is_inline
        self._keeper = self._keep()
        await anext(self._keeper)

    async def close(self) -> None:
        if self._keeper is not None:
            await self._keeper.aclose()

    def leave_behind(self) -> None:
        """In a forked child: what is open here is the parent's, and neither closed nor freed."""
        _LEFT_BEHIND.append((self, self.services))
        self.services = None

    async def _keep(self) -> AsyncGenerator[None]:
        """When `asyncio.run` is over it closes the generators of its loop, after all tasks have ended: the one moment
        to close what was left open, which nothing can do once the loop is closed."""
        try:
            yield
        finally:
            services, self.services = self.services, None
            if services is not None:
                await services.close()


def elsewhere() -> WrongLoop:
    return WrongLoop(
        "the application is open on another event loop",
        hint="Ask there, which every thread may do: app.wait(app.enqueue(...)), or in async code: "
        "await asyncio.to_thread(app.wait, app.enqueue(...)). Or close it there first, or use another Foliot here.",
    )


def still_used() -> InUse:
    return InUse(
        "the application is still in use",
        hint="An `async with app` block closes it when the last one ends; a node has to be stopped first.",
    )


def already_open() -> InUse:
    return InUse("the application is open on another storage", hint="Close it first: await app.close()")
