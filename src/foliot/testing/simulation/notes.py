"""Settlers that are badly informed: they miss notes, hear them twice, or hear what was true a while ago."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Final, cast

from msgspec import UNSET, UnsetType

from foliot.domain.instant import Instant
from foliot.domain.workflow.execution import Unsettled
from foliot.ports.executions import ExecutionStore

_FATES: Final = ("hear", "miss", "double", "former")
_ODDS: Final = (64, 12, 12, 12)


class TroubledNotes:
    """What one process gets to read of the notes there are. The notes themselves are safe: they are rows."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._former: list[Unsettled] | UnsetType = UNSET
        self.is_reliable = False

    def trouble(self, store: ExecutionStore) -> ExecutionStore:
        """The same store, with notes that are read in trouble."""
        return cast(ExecutionStore, _Troubled(store, self))

    def pass_on(self, answer: list[Unsettled]) -> list[Unsettled]:
        former, self._former = self._former, answer
        fate = "hear" if self.is_reliable else self._chance.choices(_FATES, _ODDS)[0]
        match fate:
            case "miss":
                return []
            case "double":
                return [one._replace(notes=[*one.notes, *one.notes]) for one in answer]
            case "former" if former is not UNSET:
                return former
            case _:
                return answer


class _Troubled:
    def __init__(self, store: ExecutionStore, notes: TroubledNotes) -> None:
        self._store = store
        self._notes = notes

    async def unsettled(self, limit: int, *, at: Instant | None = None) -> list[Unsettled]:
        return self._notes.pass_on(await self._store.unsettled(limit, at=at))

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        verb: Callable[..., Awaitable[Any]] = getattr(self._store, name)
        return verb
