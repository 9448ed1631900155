"""Fanouts over a registered job: one run of the job for each of many items, which a program gives.

items --stored in chunks--> run of the fanout --created--> a coordinator opens it, with or without the caller
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count, islice
from typing import Any, Final

import msgspec

from foliot.domain.fanout.chunk import CHUNK_ITEMS, ChunkPacker, ItemChunk
from foliot.domain.fanout.item import ItemLimits
from foliot.domain.fanout.result import ItemResult
from foliot.domain.fanout.spec import FanoutFields
from foliot.domain.ids import IdSource, RunId
from foliot.domain.input.words import text
from foliot.domain.instant import HOUR, Millis
from foliot.domain.job.definition import map_definition_id, map_job_id
from foliot.domain.job.job import Job, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.payload import encode_payload
from foliot.domain.run.run import NewRun
from foliot.errors import FoliotError, InvalidInput, InvalidRun
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.service.commands.jobs import JobService
from foliot.service.event_reader import EventReader
from foliot.service.map_results import as_they_come, in_order, open_results

Items = Iterable[Any] | AsyncIterable[Any]
LONGEST_STORING: Final = Millis(20 * HOUR)
"""Storing the items must end within this time: items without a run are removed after a day."""


class MapService:
    """Starts fanouts over jobs, and reads their results."""

    def __init__(self, storage: Storage, clock: Clock, ids: IdSource, jobs: JobService, events: EventReader) -> None:
        self._storage = storage
        self._events = events
        self._clock = clock
        self._ids = ids
        self._jobs = jobs

    async def start(self, job_id: str, items: Items, options: Mapping[str, Any]) -> RunId:
        """Store the items, create the run of the fanout and return its id. `options`: fields of `FanoutFields`.

        The items are read as they are stored, so there may be more of them than fit in memory. If one is refused, no
        run is created.
        """
        job = await self._jobs.record(job_id)
        _refuse_trees(job)
        fields = msgspec.convert(options, FanoutFields)
        limits = ItemLimits(fields.max_items, fields.max_item_size, fields.max_input_size)
        begun = self._clock.now()
        run_id = RunId(self._ids.make(begun))
        await self._store(run_id, _documents(items, job.spec.payload_template), ChunkPacker(limits))
        now = self._clock.now()
        if now - begun > LONGEST_STORING:
            raise InvalidRun("it took too long to read the items", hint="Give them within 20 hours.", field="items")
        run = NewRun(
            id=run_id,
            job_id=map_job_id(job.id),
            due_at=now,
            options=Options(queue=TREES_QUEUE),
            overrides=msgspec.json.encode({"spec": options}),
            definition_id=map_definition_id(job.id),
        )
        await self._storage.orders.create([run])
        return run_id

    async def results(self, run_id: str, *, ordered: bool = True) -> AsyncIterator[ItemResult]:
        """Yield the result of each item of a fanout, as soon as it is known: in the order of the items, or as they end.

        An item that never started, because the fanout ended before, is cancelled.
        """
        async with open_results(self._storage, self._events, RunId(text(run_id, "run_id", InvalidInput))) as known:
            async for result in in_order(known) if ordered else as_they_come(known):
                yield result

    async def _store(self, run_id: RunId, documents: AsyncIterator[Sequence[bytes]], packer: ChunkPacker) -> None:
        store = self._storage.items
        try:
            async for some in documents:
                for chunk in packer.add(some):
                    await store.append(run_id, chunk)
            await store.append(run_id, packer.last())
        except BaseException:
            # Retention removes items that remain stored, because their run is never created.
            with suppress(FoliotError):
                await store.append(run_id, ItemChunk(0, []))
            raise


def _refuse_trees(job: Job) -> None:
    if job.spec.options.queue == TREES_QUEUE:
        raise InvalidRun(
            f'"{job.id}" is a {job.spec.kind}, which starts runs itself',
            hint="Give a job that does the work of one item.",
            field="job",
        )


async def _documents(items: Items, template: Any) -> AsyncIterator[list[bytes]]:
    """Yield the items as documents, many at a time."""
    numbers = count()
    async for some in _batches(items):
        yield [_document(next(numbers), template if item is None else item) for item in some]


async def _batches(items: Items) -> AsyncIterator[list[Any]]:
    if isinstance(items, AsyncIterable):
        batch: list[Any] = []
        async for item in items:
            batch.append(item)
            if len(batch) == CHUNK_ITEMS:
                yield batch
                batch = []
        yield batch
        return
    if isinstance(items, str | bytes | bytearray | Mapping) or not isinstance(items, Iterable):
        raise InvalidRun(
            f"items must be a list, or another iterable, not {type(items).__name__}",
            hint="Write [first, second]. For a single run use enqueue.",
            field="items",
        )
    iterator = iter(items)
    while some := list(islice(iterator, CHUNK_ITEMS)):
        yield some


def _document(index: int, item: Any) -> bytes:
    if isinstance(item, str) and "\0" in item:
        raise InvalidRun(
            f"item {index} contains a NUL character",
            hint="Environment variables cannot contain NUL. Encode the item, for example as base64.",
            field="items",
        )
    return encode_payload(item, what=f"item {index}") or b"null"
