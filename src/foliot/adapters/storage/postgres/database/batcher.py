"""Batches concurrent requests.

    request --> [ waiting ] --take all--> one call in flight --> each caller gets its own answers

At most one call is in flight; requests that arrive meanwhile go into the next one. A single request is sent
immediately; the more requests arrive, the larger the batches. There is no timer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

S = TypeVar("S")
T = TypeVar("T")

_MOST: Final = 1_000


class _Request(NamedTuple, Generic[S, T]):
    items: Sequence[S]
    answer: "asyncio.Future[list[T]]"


class Batcher(Generic[S, T]):
    """Calls `do`, which returns one answer per item, in order. Requests that share a `key` are never batched
    together."""

    def __init__(
        self, do: Callable[[Sequence[S]], Awaitable[list[T]]], key: Callable[[S], Hashable] | None = None
    ) -> None:
        self._do = do
        self._key = key
        self._waiting: list[_Request[S, T]] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, items: Sequence[S]) -> list[T]:
        loop = asyncio.get_running_loop()
        request = _Request[S, T](items, loop.create_future())
        self._waiting.append(request)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._serve(), name="foliot-batcher")
        return await request.answer

    async def _serve(self) -> None:
        while group := self._take():
            try:
                answers = iter(await self._do([item for request in group for item in request.items]))
            except asyncio.CancelledError:
                # The event loop is closing, and all callers are being cancelled.
                for _, answer in [*group, *self._waiting]:
                    answer.cancel()
                raise
            except BaseException as error:
                # The error concerns this batch only; the next one may succeed.
                for _, answer in group:
                    if not answer.done():
                        answer.set_exception(error)
            else:
                for items, answer in group:
                    own = list(islice(answers, len(items)))
                    if not answer.done():
                        answer.set_result(own)

    def _take(self) -> list[_Request[S, T]]:
        """Take the next batch: requests in order, until one may not join."""
        group: list[_Request[S, T]] = []
        seen: set[Hashable] = set()
        size = 0
        wanted = [request for request in self._waiting if not request.answer.done()]
        for request in wanted:
            size += len(request.items)
            if group and size > _MOST:
                break
            keys = [self._key(item) for item in request.items] if self._key and len(wanted) > 1 else []
            if not seen.isdisjoint(keys):
                break
            group.append(request)
            seen.update(keys)
        self._waiting = wanted[len(group) :]
        return group
