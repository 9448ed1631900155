"""Events as they happen, and pages of stored ones."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Final

import msgspec

from foliot.domain.ids import RunId
from foliot.ports.storage import Storage
from foliot.service.event_reader import OF_RUNS, EncodedEvent, EventReader, EventView, view_event

_PAGE_BYTES: Final = 256 << 10
"""A page ends with the event that reaches this size."""


class Reset(msgspec.Struct, frozen=True, kw_only=True):
    """Events before this one are missing: read the state again."""

    id: int


class EventQueries:
    """Reads events."""

    def __init__(self, storage: Storage, reader: EventReader) -> None:
        self._storage = storage
        self._reader = reader

    @property
    def followers(self) -> int:
        """How many callers follow the events now."""
        return self._reader.followers

    async def newest(self) -> int:
        """Return the position after all events so far."""
        return await self._storage.listeners.newest()

    async def page(self, *, after: int, limit: int = 100) -> list[EventView]:
        """Return events in order, those after a position: at most `limit`, and fewer if they are large."""
        found = await self._storage.queries.events(after=after, limit=limit, size=_PAGE_BYTES)
        return [view_event(event) for event in found]

    async def follow(self, after: int | None = None) -> AsyncGenerator[Sequence[EncodedEvent] | Reset, None]:
        """Yield batches of events as they happen, without gaps: from now on, or from a position on. A Reset comes first
        if events after that position are no longer stored."""
        position = await self.newest() if after is None else after
        if after is not None and await self._has_gap(after):
            position = await self.newest()
            yield Reset(id=position)
        await self._reader.join()
        try:
            while True:
                batch = await self._reader.after(position)
                if batch:
                    position = batch[-1].id
                yield batch
        finally:
            self._reader.leave()

    async def of_tree(self, run_id: str, events: Sequence[EncodedEvent], known: dict[str, bool]) -> list[EventView]:
        """Return the events about a run and the runs below it. `known`: run -> whether it is one of them; it grows."""
        named = {item[0] for event in events if event.view.kind in OF_RUNS for item in event.view.items}
        unknown = [RunId(one) for one in named if one not in known]
        for one, run in (await self._storage.queries.get_runs(unknown)).items() if unknown else ():
            known[one] = run_id in (one, run.parent_id, run.root_id)
        return [found for event in events if (found := _only(event.view, known)) is not None]

    async def _has_gap(self, after: int) -> bool:
        newest = await self.newest()
        if after > newest:
            return True  # another database, or an older copy of it
        oldest = await self._storage.queries.events(after=0, limit=1)
        first = oldest[0].seq if oldest else newest + 1
        return first > after + 1


def _only(event: EventView, known: Mapping[str, bool]) -> EventView | None:
    """Return the event with the items about these runs. None: there are none."""
    if event.kind not in OF_RUNS:
        return None
    items = [item for item in event.items if known.get(item[0])]
    return msgspec.structs.replace(event, items=items) if items else None
