"""The storage port: the single source of truth.

Each method is one domain verb over a batch, in one transaction: all of it is done, or nothing. The docstrings have the
promises, and `foliot.testing.conformance` has them as tests, which every adapter must pass.

`at` is the current time for the verb. None means the clock of the storage: the server's in PostgreSQL, the process's in
SQLite. The simulation sets it. An invalid item does not fail its batch: it is refused, and the others are saved.
"""

import asyncio
from contextlib import AbstractContextManager
from typing import Protocol

from foliot.domain.access.actor import Actor
from foliot.ports.admission import Admission
from foliot.ports.audit import Audit
from foliot.ports.clock import Clock
from foliot.ports.definitions import Definitions
from foliot.ports.deliveries import Deliveries
from foliot.ports.dsns import Dsns
from foliot.ports.enrolments import Enrolments
from foliot.ports.items import ItemStore
from foliot.ports.ledger import Ledger
from foliot.ports.listeners import Listeners
from foliot.ports.orders import Orders
from foliot.ports.queries import Queries
from foliot.ports.requests import Requests
from foliot.ports.tokens import Tokens
from foliot.ports.topic import Topic
from foliot.ports.trees import TreeStore
from foliot.ports.upkeep import Upkeep
from foliot.ports.users import Users
from foliot.ports.work import Work


class Storage(Protocol):
    """An open database. Its verbs are grouped into ports by their user."""

    @property
    def ledger(self) -> Ledger: ...

    @property
    def work(self) -> Work: ...

    @property
    def trees(self) -> TreeStore: ...

    @property
    def items(self) -> ItemStore: ...

    @property
    def admission(self) -> Admission: ...

    @property
    def orders(self) -> Orders: ...

    @property
    def definitions(self) -> Definitions: ...

    @property
    def queries(self) -> Queries: ...

    @property
    def upkeep(self) -> Upkeep: ...

    @property
    def listeners(self) -> Listeners: ...

    @property
    def dsns(self) -> Dsns: ...

    @property
    def deliveries(self) -> Deliveries: ...

    @property
    def tokens(self) -> Tokens: ...

    @property
    def users(self) -> Users: ...

    @property
    def enrolments(self) -> Enrolments: ...

    @property
    def requests(self) -> Requests: ...

    @property
    def audit(self) -> Audit: ...

    @property
    def actor(self) -> Actor:
        """Who makes the changes through this object."""
        ...

    def acting_as(self, actor: Actor) -> "Storage":
        """Return the same open database for another actor, whose changes are recorded as its own.

        Changes by the orders, definitions, DSNs and the trail itself are recorded with it. The work of the engine is
        that of the system, for whichever actor this is. Closing one of them closes all.
        """
        ...

    @property
    def clock(self) -> Clock:
        """The clock of this storage, as estimated by this process without a query."""
        ...

    def signal(self, topic: Topic) -> asyncio.Event:
        """Return an event that is set when this process or another one signals the topic. One loop waits for it."""
        ...

    def subscribe(self, *topics: Topic) -> AbstractContextManager[asyncio.Event]:
        """Return an event of the caller's own, which is set whenever one of the topics is signalled. The caller clears
        it, before it reads what it waits for."""
        ...

    async def close(self) -> None: ...
