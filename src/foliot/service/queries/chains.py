"""Queries about chains and their classes."""

from foliot.domain.chain.state import ChainState
from foliot.domain.chain.step import STEP_TRIGGER
from foliot.domain.ids import RunId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run.run import Run, Status
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.errors import NotFound
from foliot.ports.chains import ChainCursor, ChainDetails, ChainFilter
from foliot.ports.clock import Clock
from foliot.ports.queries import Queries
from foliot.ports.storage import Storage
from foliot.service.paging import check_limit
from foliot.service.queries.chain_view import (
    ChainDetailView,
    ChainView,
    ClassView,
    view_chain,
    view_class,
    view_details,
)
from foliot.service.references import References


async def chain_of(queries: Queries, run: Run) -> ChainDetails | None:
    """Return the chain that a run is, or is a step of."""
    if kind_of(run) is RunKind.CHAIN:
        return await queries.chain(run.id)
    is_step = run.trigger == STEP_TRIGGER and run.parent_id is not None
    return await queries.chain(run.parent_id or "") if is_step else None


class ChainQueries:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._references = References(storage)
        self._clock = clock

    async def classes(self) -> list[ClassView]:
        """Return all classes, by id: the declared ones, and those of jobs whose runs have started follow-ups."""
        now = self._clock.now()
        return [view_class(one, now) for one in await self._queries.chain_classes()]

    async def page(self, *, class_id: str | None = None, limit: int = 20) -> list[ChainView]:
        """Return chains, the newest first."""
        check_limit(limit)
        found = await self._queries.chains_page(ChainFilter(class_id=class_id, limit=limit))
        return [view_chain(record) for record in found.chains]

    async def after(
        self,
        cursor: tuple[int, str] | None,
        *,
        class_id: str | None = None,
        state: ChainState | None = None,
        is_open: bool = False,
        limit: int = 100,
    ) -> tuple[list[ChainView], tuple[int, str] | None]:
        """Return chains, the newest first, and where the next page begins, if there may be one. `is_open`: those that
        are not closed."""
        before = None if cursor is None else ChainCursor(Instant(max(0, min(cursor[0], LATEST))), RunId(cursor[1]))
        only = ChainFilter(class_id=class_id, state=state, is_open=is_open, limit=limit, before=before)
        found = await self._queries.chains_page(only)
        return [view_chain(record) for record in found.chains], found.next

    async def open(self, *, class_id: str | None = None, limit: int = 100) -> list[ChainView]:
        """Return chains that are not closed, the newest first."""
        check_limit(limit)
        found = await self._queries.chains_page(ChainFilter(class_id=class_id, is_open=True, limit=limit))
        return [view_chain(record) for record in found.chains]

    async def get(self, name: str) -> ChainDetailView:
        """Return a chain, given by its id or by its run, as `References.chain` reads it. Of several chains with one id,
        the newest."""
        found = await self._queries.chain(await self._references.chain(name))
        if found is None:
            raise NotFound("chain", name)
        if found.record is None:
            raise _unarmed(name, found.run)
        return view_details(found.record, found)


def _unarmed(name: str, run: Run) -> NotFound:
    """Return the error for a run that armed no chain, with the reason."""
    why = run.error or ("its scout found nothing" if run.status is Status.SUCCESS else f"it is {run.status}")
    hint = f"Look at its scout with: foliot show {run.id}"
    return NotFound("chain", name, hint=hint, message=f"run {run.id} armed no chain: {why}")
