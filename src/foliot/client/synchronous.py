"""The client for plain programs: `AsyncClient` on an event loop in a thread."""

import weakref
from typing import Self, Unpack

from foliot.client.asynchronous import AsyncClient
from foliot.client.blocking.admin import Dsns, Enrolments, Users
from foliot.client.blocking.chains import Chains
from foliot.client.blocking.definitions import Definitions
from foliot.client.blocking.jobs import Jobs
from foliot.client.blocking.runs import Runs
from foliot.client.blocking.schedules import Schedules
from foliot.client.blocking.server import Audit, Server, Tokens
from foliot.client.blocking.ticks import Ticks
from foliot.client.blocking.workflows import Executions, Workflows
from foliot.client.loop_thread import LoopThread
from foliot.client.options import ConnectionOptions


class Client:
    """A client of the HTTP API for plain programs, with the methods of `AsyncClient` and without `await`.

    It may be used by several threads.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, **options: Unpack[ConnectionOptions]
    ) -> None:
        self._client = AsyncClient(url, token=token, **options)
        self._thread = LoopThread()
        # A program that ends without `close`, or drops the client, leaves no open connection.
        weakref.finalize(self, self._thread.stop, self._client.close)
        self.url = self._client.url
        self.jobs = Jobs(self._client.jobs, self._thread)
        self.schedules = Schedules(self._client.schedules, self._thread)
        self.ticks = Ticks(self._client.ticks, self._thread)
        self.runs = Runs(self._client.runs, self._thread)
        self.workflows = Workflows(self._client.workflows, self._thread)
        self.executions = Executions(self._client.executions, self._thread)
        self.chains = Chains(self._client.chains, self._thread)
        self.definitions = Definitions(self._client.definitions, self._thread)
        self.enrolments = Enrolments(self._client.enrolments, self._thread)
        self.dsns = Dsns(self._client.dsns, self._thread)
        self.users = Users(self._client.users, self._thread)
        self.tokens = Tokens(self._client.tokens, self._thread)
        self.audit = Audit(self._client.audit, self._thread)
        self.server = Server(self._client.server, self._thread)

    def close(self) -> None:
        """Close the connection and end the thread. The next call opens them again."""
        self._thread.stop(self._client.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"
