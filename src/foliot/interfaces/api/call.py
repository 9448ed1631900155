"""A request, as handlers see it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.requests import Request

from foliot.domain.access.principal import Principal
from foliot.errors import ChangedMeanwhile
from foliot.interfaces.api.access import SUBJECT, Authenticator
from foliot.interfaces.api.metering import Metering
from foliot.interfaces.web.files import ASSETS
from foliot.service.answers import SampleAnswer
from foliot.service.services import Services


async def _send_nowhere(services: Services, job_id: str | None) -> list[SampleAnswer]:
    return []


@dataclass(kw_only=True)
class Context:
    """What the API of a process is built on."""

    services: Services
    authenticator: Authenticator
    base_path: str = ""
    """A prefix of all paths, such as /foliot."""
    web_assets: Path = ASSETS
    """The built files of the web UI."""
    public_url: str = ""
    """The address that clients use, if it is not the one that the server listens on."""
    host: str = "127.0.0.1"
    is_local: Callable[[str], bool] = lambda worker_id: False
    """Whether a worker belongs to this process."""
    find_place: Callable[[str], Awaitable[str | None]] | None = None
    """Finds the file and line of the configuration that define a job, schedule or workflow."""
    doctor: Callable[[], Awaitable[dict[str, Any]]] | None = None
    """Examines the installation. None: this process cannot."""
    send_samples: Callable[[Services, str | None], Awaitable[list[SampleAnswer]]] = _send_nowhere
    """Sends a test message to the targets of a job, or to those of the configuration. By default there are none."""
    metering: Metering = field(default_factory=Metering)
    """What counts events for /metrics."""
    streams: int = 0
    """How many streams are open."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server stops: streams end."""


@dataclass(kw_only=True)
class Call:
    """A request that is allowed. Handlers may change the status and the headers of its answer."""

    request: Request
    context: Context
    principal: Principal | None
    """None: the route answers anyone."""
    request_id: str
    services: Services
    """The services, acting for the principal."""
    status: HTTPStatus
    resource_id: str | None = None
    """The id for what the request creates, if it has an idempotency key: a repetition creates the same."""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def if_match(self) -> str | None:
        """The version that an edit expects, or None."""
        given = self.request.headers.get("if-match")
        if given is None or given.strip() == "*":
            return None
        return given.strip().removeprefix("W/").strip('"')

    @property
    def expected_revision(self) -> int | None:
        """The revision that an edit expects, or None. One that cannot be a revision is never the stored one."""
        given = self.if_match
        if given is None:
            return None
        return int(given) if given.isdecimal() and len(given) < 18 else -1

    async def is_still_allowed(self) -> bool:
        """Return whether the credentials of a stream are still valid."""
        found = await self.context.authenticator.authenticate(
            self.request.headers, self.address, self.request.scope.get(SUBJECT)
        )
        return found is not None and found == self.principal

    @property
    def address(self) -> str:
        """The address that the request comes from."""
        return "" if self.request.client is None else self.request.client.host

    @property
    def is_secure(self) -> bool:
        """Whether the client uses TLS, to this server or to the proxy before it."""
        return self.request.scope["scheme"] == "https" or self.context.public_url.startswith("https:")

    @property
    def actor(self) -> str:
        return "" if self.principal is None else str(self.principal.actor)

    @property
    def accepts(self) -> str:
        return self.request.headers.get("accept", "")

    def set_etag(self, version: object) -> None:
        """Set the header ETag of the answer, for If-Match and If-None-Match."""
        self.headers["ETag"] = f'"{version}"'

    def check_revision(self, kind: str, name: str, revision: int) -> None:
        """Refuse to delete another revision than the expected one."""
        if self.expected_revision not in (None, revision):
            raise ChangedMeanwhile(kind, name, revision)
