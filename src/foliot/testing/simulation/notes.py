"""Settlers that are badly informed: they miss notes, hear them twice, or hear what was true a while ago."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Final, cast

from msgspec import UNSET, UnsetType

from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.ports.trees import TreeStore, Unsettled, UnsettledTree

_FATES: Final = ("hear", "miss", "double", "former")
_ODDS: Final = (64, 12, 12, 12)


class TroubledNotes:
    """What one process gets to read of the notes there are. The notes themselves are safe: they are rows."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._former: Unsettled | UnsetType = UNSET
        self.is_reliable = False

    def trouble(self, store: TreeStore) -> TreeStore:
        """The same store, with notes that are read in trouble."""
        return cast(TreeStore, _Troubled(store, self))

    def pass_on(self, answer: Unsettled) -> Unsettled:
        former, self._former = self._former, answer
        fate = "hear" if self.is_reliable else self._chance.choices(_FATES, _ODDS)[0]
        match fate:
            case "miss":
                return answer._replace(trees=[])
            case "double":
                return answer._replace(trees=[_doubled(one) for one in answer.trees])
            case "former" if former is not UNSET:
                return former
            case _:
                return answer


def _doubled(one: UnsettledTree) -> UnsettledTree:
    return one._replace(notes=one.notes._replace(items=[*one.notes.items, *one.notes.items]))


class _Troubled:
    def __init__(self, store: TreeStore, notes: TroubledNotes) -> None:
        self._store = store
        self._notes = notes

    async def unsettled(
        self, limit: int, *, notes_per_tree: int, after: RunId | None = None, at: Instant | None = None
    ) -> Unsettled:
        found = await self._store.unsettled(limit, notes_per_tree=notes_per_tree, after=after, at=at)
        return self._notes.pass_on(found)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        verb: Callable[..., Awaitable[Any]] = getattr(self._store, name)
        return verb
