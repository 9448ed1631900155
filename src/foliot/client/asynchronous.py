"""The client for asynchronous programs."""

from typing import Self, Unpack

from foliot.client.options import ConnectionOptions, build_transport
from foliot.client.resources.admin import AsyncDsns, AsyncEnrolments, AsyncUsers
from foliot.client.resources.chains import AsyncChains
from foliot.client.resources.definitions import AsyncDefinitions
from foliot.client.resources.jobs import AsyncJobs
from foliot.client.resources.runs import AsyncRuns
from foliot.client.resources.schedules import AsyncSchedules
from foliot.client.resources.server import AsyncAudit, AsyncServer, AsyncTokens
from foliot.client.resources.ticks import AsyncTicks
from foliot.client.resources.workflows import AsyncExecutions, AsyncWorkflows


class AsyncClient:
    """A client of the HTTP API: `async with AsyncClient("https://foliot.example", token=...) as client`.

    The address and the token are those of FOLIOT_URL and FOLIOT_TOKEN if they are not given. The first call opens the
    connection.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, **options: Unpack[ConnectionOptions]
    ) -> None:
        self.url, self._transport = build_transport(url, token, **options)
        self.jobs = AsyncJobs(self._transport)
        self.schedules = AsyncSchedules(self._transport)
        self.ticks = AsyncTicks(self._transport)
        self.runs = AsyncRuns(self._transport)
        self.workflows = AsyncWorkflows(self._transport)
        self.executions = AsyncExecutions(self._transport)
        self.chains = AsyncChains(self._transport)
        self.definitions = AsyncDefinitions(self._transport)
        self.enrolments = AsyncEnrolments(self._transport)
        self.dsns = AsyncDsns(self._transport)
        self.users = AsyncUsers(self._transport)
        self.tokens = AsyncTokens(self._transport)
        self.audit = AsyncAudit(self._transport)
        self.server = AsyncServer(self._transport)

    async def close(self) -> None:
        """Close the connection. The next call opens it again."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self.url!r})"
