"""A fanout over a job of an application, as an object that yields its results."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any, Final, Self

from foliot.domain.fanout.result import ItemResult
from foliot.errors import InvalidRun
from foliot.service.commands.maps import MapService

Wait = Callable[[Coroutine[Any, Any, Any]], Any]
_END: Final = object()


class MapRun:
    """Yields the result of each item: with `async for`, or with `for` in plain code. Each loop yields all of them.

    The fanout goes on if the loop, or the program, ends before it.
    """

    def __init__(
        self,
        maps: MapService,
        wait: Wait,
        *,
        ordered: bool,
        run_id: str | None = None,
        create: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        self.run_id = run_id
        """The run of the fanout. None: it has not started."""
        self._maps = maps
        self._wait = wait
        self._ordered = ordered
        self._create = create

    async def start(self) -> Self:
        """Store the items and start the fanout, unless it has started."""
        if self.run_id is None:
            create, self._create = self._create, None
            if create is None:
                # Not tried again: an iterator has lost the items that were read.
                raise InvalidRun("this fanout could not be started", hint="Call app.map again, with all items.")
            self.run_id = await create()
        return self

    async def __aiter__(self) -> AsyncIterator[ItemResult]:
        await self.start()
        async for result in self._maps.results(self.run_id or "", ordered=self._ordered):
            yield result

    def __iter__(self) -> Iterator[ItemResult]:
        results = aiter(self)

        async def following() -> Any:
            return await anext(results, _END)

        while (result := self._wait(following())) is not _END:
            yield result
