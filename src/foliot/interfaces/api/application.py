"""The ASGI application. Each request takes the same way; a step that refuses it ends it.

base path -> spelling of the path -> host -> route -> method -> principal -> origin -> permission -> query, body
-> handler -> answer

A path that is no route may be one of the web UI, which needs no credentials.
"""

import logging
import random
import time
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from foliot.domain.access.principal import Principal, PrincipalKind
from foliot.domain.access.role import Permission
from foliot.domain.access.signature import SIGNATURE_HEADER
from foliot.errors import OwnedElsewhere, StorageError
from foliot.interfaces.api.access import (
    CHANGES,
    MODE_HEADER,
    SUBJECT,
    check_development_change,
    check_host,
    check_origin,
    check_session_change,
    forbidden,
    host_names,
    own_origins,
    unauthenticated,
)
from foliot.interfaces.api.answer import encode
from foliot.interfaces.api.call import Call, Context
from foliot.interfaces.api.errors import ApiError, describe, headers_of, no_route
from foliot.interfaces.api.idempotency import once
from foliot.interfaces.api.reading import JSON, check_media_type, plain_path, read_body, read_content, read_query
from foliot.interfaces.api.route import PUBLIC, Found, Route, Routes
from foliot.interfaces.api.signed import signer_of
from foliot.interfaces.web.ui import WebUi
from foliot.service.services import Services

log = logging.getLogger("foliot.api")

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""The headers of every answer; a handler may replace them."""
_READS: Final = ("GET", "HEAD")
_BODILESS: Final = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


class Application:
    """Serves the routes and the web UI."""

    def __init__(self, routes: Routes, context: Context) -> None:
        self._routes = routes
        self._context = context
        self._hosts = host_names(context.public_url, context.host)
        self._web = WebUi(context.base_path, context.web_assets)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            # There are no web sockets. Without an answer, the server closes the connection.
            return
        started = time.perf_counter()
        request, request_id = Request(scope, receive), f"{random.getrandbits(64):016x}"
        headers = {**SECURITY_HEADERS, "X-Request-Id": request_id}
        facts: dict[str, Any] = {"request": request_id, "method": scope["method"], "path": scope["path"][:200]}
        try:
            answer = await self._answer(request, request_id, headers, facts)
        except Exception as error:
            # Whatever fails, the client gets the one form of errors and no internals.
            status, body = describe(error, request_id)
            headers |= headers_of(error)
            answer = Response(encode(body), status, media_type=JSON)
        _set_headers(answer, headers)
        # Workers send many requests, and what they change is in the events of runs.
        is_logged = scope["method"] in CHANGES and not facts.pop("is_work", False)
        level = logging.INFO if is_logged else logging.DEBUG
        if log.isEnabledFor(level):
            spent = round((time.perf_counter() - started) * 1_000, 1)
            log.log(level, "request", extra={**facts, "status": answer.status_code, "ms": spent})
        await answer(scope, receive, send)

    async def _answer(
        self, request: Request, request_id: str, headers: dict[str, str], facts: dict[str, Any]
    ) -> Response:
        is_development = await self._is_development()
        if is_development:
            headers[MODE_HEADER] = "development"
        path = self._own_path(request.scope)
        check_host(request.headers, None if is_development else self._hosts)
        found = self._routes.find(path)
        if found is None:
            return self._web_answer(request, path, headers)
        route = _route(found, request.method)
        facts["is_work"] = route.permission is Permission.WORK
        values = dict(zip(route.parameters, found.values, strict=True))
        principal, content = await self._principal(route, request)
        self._check_change(request, principal, is_development=is_development)
        if principal is not None:
            facts["actor"] = str(principal.actor)
            if not route.allows(principal, values):
                raise forbidden(route.role)
        call = Call(
            request=request,
            context=self._context,
            principal=principal,
            request_id=request_id,
            services=services_for(self._context, principal),
            status=route.status,
            headers=headers,
        )
        try:
            return await _handle(route, call, values, content)
        except OwnedElsewhere as error:
            await self._add_places(error)
            raise

    def _web_answer(self, request: Request, path: str, headers: dict[str, str]) -> Response:
        answer = self._web.answer(path, request.headers.get("accept-encoding", ""))
        if answer is None:
            raise no_route(request.scope["path"])
        if request.method not in _READS:
            raise _not_allowed(request.method, _READS)
        headers |= answer.headers
        return answer

    async def _is_development(self) -> bool:
        """Return whether this is development mode. A database that does not answer must not stop the probes."""
        try:
            return await self._context.authenticator.is_development()
        except StorageError:
            return False

    async def _add_places(self, error: OwnedElsewhere) -> None:
        """Add the file and line of each definition that only its file can change."""
        if self._context.find_place is None:
            return
        places = [place for name in error.names if (place := await self._context.find_place(name)) is not None]
        if places:
            error.message = f"{error.message} ({', '.join(places)})"

    def _own_path(self, scope: Scope) -> str:
        """Return the path below the base path. Only the usual spelling of a path is accepted."""
        path: str = scope["path"]
        base = self._context.base_path
        if not plain_path(scope.get("raw_path") or path.encode(), path) or not f"{path}/".startswith(f"{base}/"):
            raise no_route(path)
        return path.removeprefix(base) or "/"

    def _check_change(self, request: Request, principal: Principal | None, *, is_development: bool) -> None:
        """Refuse changes that a page of another site may have sent, and bodies that are not JSON."""
        headers, own = request.headers, own_origins(request.headers, self._context.public_url)
        if request.method not in CHANGES:
            return
        if is_development:
            check_development_change(headers)
        elif principal is not None and principal.kind is PrincipalKind.USER:
            check_session_change(headers, own)
        elif principal is None:
            check_media_type(headers)
            check_origin(headers, own)
        elif "content-type" in headers or headers.get("content-length", "0") != "0":
            check_media_type(headers)

    async def _principal(self, route: Route, request: Request) -> tuple[Principal | None, bytes | None]:
        """Return who makes a request, None only for routes that answer anyone, and its body if that was read."""
        if route.permission == PUBLIC:
            return None, None
        if route.permission is Permission.WORK and SIGNATURE_HEADER in request.headers:
            return await signer_of(self._context.services.enrolments, request, route.max_body)
        address = request.client.host if request.client is not None else ""
        principal = await self._context.authenticator.authenticate(request.headers, address, request.scope.get(SUBJECT))
        if principal is None:
            raise unauthenticated()
        return principal, None


def _set_headers(answer: Response, headers: Mapping[str, str]) -> None:
    """Set all headers at once. Setting them one by one would search the headers for each of them."""
    encoded = {name.lower().encode("latin-1"): value.encode("latin-1") for name, value in headers.items()}
    kept = [(name, value) for name, value in answer.raw_headers if name not in encoded]
    answer.raw_headers = [*kept, *encoded.items()]


def services_for(context: Context, principal: Principal | None) -> Services:
    """Return the services that record the principal as the actor of changes."""
    return context.services if principal is None else context.services.acting_as(principal.actor)


def _route(found: Found, method: str) -> Route:
    route = found.methods.get("GET" if method == "HEAD" else method)
    if route is None or (method == "HEAD" and route.streams):
        raise _not_allowed(method, [*found.methods, *(["HEAD"] if "GET" in found.methods else [])])
    return route


def _not_allowed(method: str, allowed: Sequence[str]) -> ApiError:
    return ApiError(
        HTTPStatus.METHOD_NOT_ALLOWED,
        "method_not_allowed",
        f"method {method[:16]!a} is not allowed here",
        hint=f"Use {' or '.join(allowed)}.",
        headers={"Allow": ", ".join(allowed)},
    )


async def _handle(route: Route, call: Call, values: Mapping[str, str], content: bytes | None) -> Response:
    given: dict[str, Any] = dict(values)
    query = read_query(route, call.request.scope["query_string"])
    if route.query is not None:
        given["query"] = query
    if content is None:
        content = await read_content(call.request, route.max_body) if route.method in CHANGES else b""
    if route.body is not None:
        given["body"] = read_body(route, content)
    if route.method == "POST" and route.is_repeatable:
        return await once(call, content, partial(_call, route, call, given))
    return await _call(route, call, given)


async def _call(route: Route, call: Call, given: Mapping[str, Any]) -> Response:
    """Call the handler, and return its result as an answer."""
    result = await route.handler(call, **given)
    if isinstance(result, Response):
        return result
    tag = call.headers.get("ETag")
    if tag is not None and route.method == "GET" and call.request.headers.get("if-none-match") == tag:
        call.status = HTTPStatus.NOT_MODIFIED
    content = b"" if call.status in _BODILESS else encode(result)
    return Response(content, call.status, media_type=None if call.status in _BODILESS else JSON)
