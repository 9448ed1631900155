"""Makes the reads of settlers unreliable: they miss notes, get them twice, or get an earlier result."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Final, cast

from msgspec import UNSET, UnsetType

from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.ports.trees import TreeStore, Unsettled, UnsettledTree

_FATES: Final = ("deliver", "miss", "double", "former")
_ODDS: Final = (64, 12, 12, 12)


class UnreliableNotes:
    """Changes the notes that one process reads. The stored notes stay unchanged."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._former: Unsettled | UnsetType = UNSET
        self.is_reliable = False

    def wrap(self, store: TreeStore) -> TreeStore:
        """Return the store with unreliable reads of notes."""
        return cast(TreeStore, _UnreliableTreeStore(store, self))

    def distort(self, found: Unsettled) -> Unsettled:
        former, self._former = self._former, found
        fate = "deliver" if self.is_reliable else self._random.choices(_FATES, _ODDS)[0]
        match fate:
            case "miss":
                return found._replace(trees=[])
            case "double":
                return found._replace(trees=[_doubled(one) for one in found.trees])
            case "former" if former is not UNSET:
                return former
            case _:
                return found


def _doubled(one: UnsettledTree) -> UnsettledTree:
    return one._replace(notes=one.notes._replace(items=[*one.notes.items, *one.notes.items]))


class _UnreliableTreeStore:
    def __init__(self, store: TreeStore, notes: UnreliableNotes) -> None:
        self._store = store
        self._notes = notes

    async def unsettled(
        self, limit: int, *, notes_per_tree: int, after: RunId | None = None, at: Instant | None = None
    ) -> Unsettled:
        found = await self._store.unsettled(limit, notes_per_tree=notes_per_tree, after=after, at=at)
        return self._notes.distort(found)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        verb: Callable[..., Awaitable[Any]] = getattr(self._store, name)
        return verb
