"""A server on a free port of this machine, and a client for it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, NamedTuple

import aiohttp
from yarl import URL

from foliot.domain.access.principal import DEVELOPMENT, Principal, PrincipalKind, trigger_scope
from foliot.domain.access.role import PEOPLE, Role
from foliot.interfaces.api.access import Authenticator
from foliot.interfaces.api.call import Context
from foliot.interfaces.api.listener import Address, bind
from foliot.service.services import Services

TRIGGER = "trigger"
"""The token that may start the job `report` and nothing else."""


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes
    json: Any

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json["error"]
        return found


class DevelopmentAccess:
    """Allows everything to requests from this machine."""

    async def is_development(self) -> bool:
        return True

    def check_again(self) -> None:
        """It never changes."""

    async def authenticate(
        self, headers: Mapping[str, str], address: str, subject: str | None = None
    ) -> Principal | None:
        return DEVELOPMENT


class RoleAccess:
    """Each role is a token of the same name."""

    async def is_development(self) -> bool:
        return False

    def check_again(self) -> None:
        """It never changes."""

    async def authenticate(
        self, headers: Mapping[str, str], address: str, subject: str | None = None
    ) -> Principal | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in (*PEOPLE, Role.WORKER, TRIGGER):
            return None
        if token == TRIGGER:
            scopes = frozenset({trigger_scope("report")})
            return Principal(kind=PrincipalKind.TOKEN, name=token, scopes=scopes)
        return Principal(kind=PrincipalKind.TOKEN, name=token, role=Role(token))


class Client:
    def __init__(self, session: aiohttp.ClientSession, base: str, context: Context) -> None:
        self.session = session
        self.base = base
        self.context = context

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request. Changes are JSON, unless `content_type` says otherwise."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if method != "GET":
            sent.setdefault("content-type", "application/json")
        given: dict[str, Any] = {"json": body}
        if body is None or isinstance(body, bytes):
            # aiohttp warns of large bodies that are not read from a file.
            given = {"data": body if body is None or len(body) < 1 << 20 else BytesIO(body)}
        url = URL(self.base + path, encoded=True)
        async with self.session.request(method, url, headers=sent, allow_redirects=False, **given) as answer:
            content = await answer.read()
            is_json = answer.content_type == "application/json" and content
            return Answer(answer.status, answer.headers, content, await answer.json() if is_json else None)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.send("GET", path, **headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return await self.send("POST", path, {} if body is None else body, **headers)

    async def put(self, path: str, body: Any, **headers: str) -> Answer:
        return await self.send("PUT", path, body, **headers)

    async def delete(self, path: str, **headers: str) -> Answer:
        return await self.send("DELETE", path, **headers)

    @asynccontextmanager
    async def stream(self, path: str, **headers: str) -> AsyncIterator["Frames"]:
        sent = {"accept": "text/event-stream"} | {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.get(self.base + path, headers=sent) as answer:
            yield Frames(answer)

    async def ended(self, run_id: str) -> dict[str, Any]:
        """Wait until a run has ended."""
        while (run := (await self.get(f"/api/runs/{run_id}")).json)["finished_at"] is None:
            await asyncio.sleep(0.01)
        found: dict[str, Any] = run
        return found


class Frames:
    """The frames of a stream, each as a dict; comments and settings are left out."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.answer = answer

    def __aiter__(self) -> "Frames":
        return self

    async def __anext__(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        async for line in self.answer.content:
            text = line.decode().rstrip("\n")
            if not text and "data" in fields:
                return fields
            name, _, value = text.partition(": ")
            fields = {} if not text else {**fields, name: value}
        raise StopAsyncIteration


@asynccontextmanager
async def serving(
    services: Services,
    authenticator: Authenticator | None = None,
    *,
    tls: dict[str, str] | None = None,
    **facts: Any,
) -> AsyncIterator[Client]:
    """Serve the API of these services."""
    context = Context(services=services, authenticator=authenticator or DevelopmentAccess(), **facts)
    listener = bind(Address(port=0, base_path=context.base_path, **(tls or {})))
    await listener.start(context)
    try:
        async with aiohttp.ClientSession() as session:
            yield Client(session, listener.url, context)
    finally:
        await listener.stop()
