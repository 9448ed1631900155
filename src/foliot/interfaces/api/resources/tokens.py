"""Tokens of programs."""

from datetime import datetime
from http import HTTPStatus

import msgspec

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.paging import PageQuery, page, text_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import NewToken, Page
from foliot.service.commands.tokens import TokenView


class TokensQuery(PageQuery, frozen=True, kw_only=True):
    revoked: bool = False
    """Also those that were revoked."""


class TokenBody(Parameters, frozen=True, kw_only=True):
    """A token has either a role or a job."""

    role: str | None = None
    """viewer, operator, editor, admin or worker"""
    job: str | None = None
    """The only job or workflow that it may start."""
    name: str | None = None
    expires: datetime | None = None


@ROUTES.get("/api/tokens", permission=Permission.ADMINISTER, summary="List tokens, oldest first.")
async def list_tokens(call: Call, query: TokensQuery) -> Page[TokenView]:
    found = await call.services.tokens.page(
        after=text_cursor(query.cursor), revoked=query.revoked, limit=query.limit + 1
    )
    return page(found, query.limit, lambda token: token.id)


@ROUTES.post(
    "/api/tokens",
    permission=Permission.ADMINISTER,
    summary="Create a token. The answer has its text, which is stored nowhere.",
    status=HTTPStatus.CREATED,
    errors=(HTTPStatus.NOT_FOUND,),
    is_repeatable=False,
    examples=({"role": "viewer", "name": "dashboard"},),
)
async def create_token(call: Call, body: TokenBody) -> NewToken:
    created = await call.services.tokens.create(role=body.role, job=body.job, name=body.name, expires=body.expires)
    call.context.authenticator.check_again()
    return NewToken(**msgspec.structs.asdict(created.token), secret=created.secret)


@ROUTES.delete(
    "/api/tokens/{name}",
    permission=Permission.ADMINISTER,
    summary="Revoke a token, given by its name or id.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def revoke_token(call: Call, name: str) -> TokenView:
    return await call.services.tokens.revoke(name)
