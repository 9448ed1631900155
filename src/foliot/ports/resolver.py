"""The resolver port: reads the inputs of a fanout from one kind of source.

The scheme of `inputs_from` selects the resolver: `file://`, `https://`, `sql://`, `job://`. A resolver is called once
for each run of a fanout, before its first child is created; and again only if its items could not all be stored.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct

from foliot.domain.fanout.item import ItemLimits
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant, Millis


class ResolveRequest(Struct, frozen=True, kw_only=True):
    """What to resolve, for which run."""

    uri: str
    """The whole text of `inputs_from`, scheme included."""
    run_id: RunId
    now: Instant
    limits: ItemLimits = ItemLimits()
    window: Millis
    """How old a run may be whose output is read (`job://`)."""


class Resolver(Protocol):
    def check(self, uri: str) -> None:
        """Raise InvalidInput if the text can never be resolved. Reads nothing: called when a definition is loaded."""
        ...

    def resolve(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        """Yield the items in order, in batches of bounded size, each as a document of `domain.fanout.item`.

        Raise InputsUnavailable if the source could not be read, and InputsRefused if its content cannot be used or
        exceeds a limit. Never waits without a limit. Closing the generator ends the reading at once.
        """
        ...
