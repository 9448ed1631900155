"""The listeners port: the positions of listeners in the events, so that a restart does not lose events.

The events themselves are read with `Queries.events`. A listener with a name has a stored position, and one process at a
time delivers events to it. Retention removes events by age, whether or not every listener has read them.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from foliot.domain.events import Event
from foliot.domain.instant import Instant, Millis


class Subscription(NamedTuple):
    """A listener of this process."""

    name: str | None
    """None: its position is not stored. It begins with the first event after its process has started."""
    deliver: Callable[[Event], Awaitable[None]]
    """Called with each event, in order. If it raises, it is called with the same event again."""


class Listeners(Protocol):
    async def newest(self) -> int:
        """Return a position before which no further event can appear."""
        ...

    async def is_known(self, name: str) -> bool:
        """Return whether a listener has a position, whichever process holds it."""
        ...

    async def hold(self, name: str, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        """Become or stay the process that delivers events to a listener, for `ttl`. Return the listener's position,
        or None while another process holds it. A new listener begins after the newest event."""
        ...

    async def advance(self, name: str, holder: str, position: int) -> bool:
        """Save the position: all events up to it were delivered. A position never decreases. Return False, and change
        nothing, if another process holds the listener."""
        ...

    async def release(self, name: str, holder: str) -> None:
        """Let another process hold the listener at once."""
        ...
