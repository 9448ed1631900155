"""Chains, their classes and the breakers of these by HTTP."""

from collections.abc import AsyncIterator

from foliot.client.resources.base import PAGE, Resource, each_item
from foliot.service.answers import Page, StoppedChain, StoppedClass
from foliot.service.queries.chain_view import ChainDetailView, ChainView, ClassView


class AsyncChains(Resource):
    """Reads and stops chains, and stops, resumes and resets their classes."""

    async def get(self, name: str) -> ChainDetailView:
        """Return a chain with its steps, given by its id or by its run. Of several with one id, the newest."""
        return await self._get(ChainDetailView, "chains", name)

    async def page(
        self, *, limit: int = PAGE, cursor: str | None = None, class_id: str | None = None, is_open: bool = False
    ) -> Page[ChainView]:
        """Return some chains, newest first. `is_open`: those that are not closed."""
        return await self._get(
            Page[ChainView], "chains", limit=limit, cursor=cursor, class_id=class_id, is_open=is_open
        )

    async def each(self, *, class_id: str | None = None, is_open: bool = False) -> AsyncIterator[ChainView]:
        """Yield all chains, newest first, and read them page by page."""
        async for chain in each_item(lambda cursor: self.page(cursor=cursor, class_id=class_id, is_open=is_open)):
            yield chain

    async def stop(self, name: str) -> StoppedChain:
        """Stop a chain: pending steps are cancelled, a running one is ended."""
        return await self._post(StoppedChain, "chains", name, "stop")

    async def classes(self) -> list[ClassView]:
        """Return the classes of chains by id, with their breakers."""
        return (await self._get(Page[ClassView], "chain-classes")).items

    async def stop_class(self, class_id: str) -> StoppedClass:
        """Stop a class and all its chains. It arms no chain until it is resumed."""
        return await self._post(StoppedClass, "chain-classes", class_id, "stop")

    async def resume_class(self, class_id: str) -> ClassView:
        """Let a stopped class arm chains again."""
        return await self._post(ClassView, "chain-classes", class_id, "resume")

    async def reset_class(self, class_id: str, reason: str) -> ClassView:
        """Close the breaker of a class before its cooldown is over. The reason is stored."""
        return await self._post(ClassView, "chain-classes", class_id, "reset", body={"reason": reason})
