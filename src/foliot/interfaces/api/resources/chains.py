"""Chains, their classes and the breakers of these."""

from http import HTTPStatus
from typing import Final

from foliot.domain.access.role import Permission
from foliot.domain.chain.state import ChainState
from foliot.domain.run.lease import CancelAnswer
from foliot.errors import NotFound
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.paging import PageQuery, cursor_after, pair_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Page, StoppedChain, StoppedClass
from foliot.service.queries.chain_view import ChainDetailView, ChainView, ClassView

_NOT_FOUND: Final = (HTTPStatus.NOT_FOUND,)


class ChainsQuery(PageQuery, frozen=True, kw_only=True):
    class_id: str | None = None
    state: ChainState | None = None
    is_open: bool = False
    """Those that are not closed."""


class ResetBody(Parameters, frozen=True, kw_only=True):
    reason: str
    """What has been fixed."""


@ROUTES.get("/api/chains", permission=Permission.READ, summary="List chains, newest first.")
async def list_chains(call: Call, query: ChainsQuery) -> Page[ChainView]:
    found, following = await call.services.queries.chains.after(
        pair_cursor(query.cursor),
        class_id=query.class_id,
        state=query.state,
        is_open=query.is_open,
        limit=query.limit,
    )
    return Page(items=found, next=None if following is None else cursor_after(following))


@ROUTES.get(
    "/api/chains/{chain_id}",
    permission=Permission.READ,
    summary="Return a chain with its steps, given by its id or by its run. Of several with one id, the newest.",
    errors=_NOT_FOUND,
)
async def get_chain(call: Call, chain_id: str) -> ChainDetailView:
    return await call.services.queries.chains.get(chain_id)


@ROUTES.post(
    "/api/chains/{chain_id}/stop",
    permission=Permission.OPERATE,
    summary="Stop a chain: pending steps are cancelled, a running one is ended.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def stop_chain(call: Call, chain_id: str) -> StoppedChain:
    chain = await call.services.queries.chains.get(chain_id)
    answer = await call.services.chains.stop(chain.run_id)
    if answer is CancelAnswer.NOT_FOUND:
        raise NotFound("chain", chain_id)
    if answer is CancelAnswer.TERMINAL:
        hint = "A chain that is closed stays as it is."
        raise ApiError(HTTPStatus.CONFLICT, "terminal", f"chain {chain.id} is closed: {chain.outcome}", hint=hint)
    return StoppedChain(chain_id=chain.id, run_id=chain.run_id, phase=answer)


@ROUTES.get(
    "/api/chain-classes", permission=Permission.READ, summary="List the classes of chains by id, with their breakers."
)
async def list_chain_classes(call: Call) -> Page[ClassView]:
    return Page(items=await call.services.queries.chains.classes(), next=None)


@ROUTES.post(
    "/api/chain-classes/{class_id}/stop",
    permission=Permission.OPERATE,
    summary="Stop a class and all its chains. It arms no chain until it is resumed.",
    errors=_NOT_FOUND,
)
async def stop_chain_class(call: Call, class_id: str) -> StoppedClass:
    return StoppedClass(class_id=class_id, stopped=await call.services.chains.stop_class(class_id))


@ROUTES.post(
    "/api/chain-classes/{class_id}/resume",
    permission=Permission.OPERATE,
    summary="Let a stopped class arm chains again.",
    errors=_NOT_FOUND,
)
async def resume_chain_class(call: Call, class_id: str) -> ClassView:
    await call.services.chains.resume_class(class_id)
    return await _class(call, class_id)


@ROUTES.post(
    "/api/chain-classes/{class_id}/reset",
    permission=Permission.OPERATE,
    summary="Close the breaker of a class before its cooldown is over. The reason is stored.",
    errors=_NOT_FOUND,
    examples=({"reason": "the disk was replaced"},),
)
async def reset_chain_class(call: Call, class_id: str, body: ResetBody) -> ClassView:
    await call.services.chains.reset(class_id, actor=call.actor, reason=body.reason)
    return await _class(call, class_id)


async def _class(call: Call, class_id: str) -> ClassView:
    found = await call.services.queries.chains.classes()
    return next(one for one in found if one.id == class_id)
