"""The channel port: receives requests from the processes of running attempts.

A job finds the channel of its worker in environment variables: an address, and a token that is valid for this attempt
only. It needs no access to the storage, so it works in the same way on every worker and for every user.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from foliot.domain.access.run_token import RunLease
from foliot.domain.ids import Token

Handler = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object]]]
"""Handles one type of request of one attempt: the fields of the request to those of the answer. Raises FoliotError to
refuse it."""


class RunChannel(Protocol):
    """Serves all attempts of one worker."""

    async def open(self) -> None:
        """Begin to receive requests. If that is not possible, the reason is logged, and jobs run without a channel."""
        ...

    def grant(self, lease: RunLease, handlers: Mapping[str, Handler]) -> Mapping[str, str]:
        """Return the environment variables that give the processes of an attempt access, empty without any.

        `handlers` has an entry for each type of request. Granting again returns the same variables.
        """
        ...

    def revoke(self, lease: Token) -> None:
        """Refuse further requests of this attempt. A no-op if no access was granted."""
        ...

    def publish(self, pages: AsyncIterator[bytes]) -> AbstractAsyncContextManager[str | None]:
        """Write a file for the processes of an attempt, of any user, and remove it when the block ends. Returns its
        path; None without a channel. Raises OSError if it cannot be written."""
        ...

    async def close(self) -> None:
        """Close all connections and remove the address."""
        ...
