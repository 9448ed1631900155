"""Users with passwords, and their sessions."""

from datetime import UTC, datetime
from http import HTTPStatus

import msgspec

from foliot.domain.access.role import Permission
from foliot.errors import NotFound
from foliot.interfaces.api.access import session_cookie, session_of
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.interfaces.api.route import PUBLIC
from foliot.service.answers import Deleted, Done, Page
from foliot.service.commands.users import UserView


class LoginBody(Parameters, frozen=True, kw_only=True):
    name: str
    password: str


class UserBody(Parameters, frozen=True, kw_only=True):
    name: str
    password: str
    role: str
    """viewer, operator, editor or admin"""


class PasswordBody(Parameters, frozen=True, kw_only=True):
    password: str


class Session(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    role: str | None
    expires_at: datetime


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """Who makes this request."""

    kind: str
    """token, user or development"""
    name: str
    role: str | None
    permissions: list[str]
    scopes: list[str]


@ROUTES.post(
    "/api/login",
    permission=PUBLIC,
    summary="Log in with a password: the answer stores a session in a cookie.",
    errors=(HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS),
    is_repeatable=False,
)
async def log_in(call: Call, body: LoginBody) -> Session:
    logged_in = await call.services.users.log_in(body.name, body.password, call.address)
    seconds = int((logged_in.expires_at - datetime.now(UTC)).total_seconds())
    call.headers["Set-Cookie"] = session_cookie(logged_in.secret, seconds, is_secure=call.is_secure)
    principal = logged_in.principal
    return Session(name=principal.name, role=principal.role, expires_at=logged_in.expires_at)


@ROUTES.post("/api/logout", permission=Permission.READ, summary="End the session of the cookie.", is_repeatable=False)
async def log_out(call: Call) -> Done:
    secret = session_of(call.request.headers)
    if secret is not None:
        await call.services.users.log_out(secret)
    call.headers["Set-Cookie"] = session_cookie("", 0, is_secure=call.is_secure)
    return Done()


@ROUTES.get("/api/me", permission=Permission.READ, summary="Return who makes this request, and what it may do.")
async def get_me(call: Call) -> Me:
    principal = call.principal
    assert principal is not None
    return Me(
        kind=principal.kind,
        name=principal.name,
        role=principal.role,
        permissions=sorted(principal.permissions),
        scopes=sorted(map(str, principal.scopes)),
    )


@ROUTES.get("/api/users", permission=Permission.ADMINISTER, summary="List users by name.")
async def list_users(call: Call) -> Page[UserView]:
    return Page(items=await call.services.users.all(), next=None)


@ROUTES.post(
    "/api/users",
    permission=Permission.ADMINISTER,
    summary="Add a user.",
    status=HTTPStatus.CREATED,
    is_repeatable=False,
)
async def add_user(call: Call, body: UserBody) -> UserView:
    added = await call.services.users.add(body.name, body.password, role=body.role)
    call.context.authenticator.check_again()
    return added


@ROUTES.put(
    "/api/users/{name}/password",
    permission=Permission.ADMINISTER,
    summary="Set the password of a user, and end all sessions of the user.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def set_password(call: Call, name: str, body: PasswordBody) -> Done:
    await call.services.users.set_password(name, body.password)
    return Done()


@ROUTES.delete(
    "/api/users/{name}",
    permission=Permission.ADMINISTER,
    summary="Remove a user, and end all sessions of the user.",
)
async def remove_user(call: Call, name: str) -> Deleted:
    try:
        await call.services.users.remove(name)
    except NotFound:
        return Deleted(deleted=False)
    return Deleted(deleted=True)
