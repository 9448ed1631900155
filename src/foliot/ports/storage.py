"""The storage port: the single source of truth.

Each method is one domain verb over a batch and one transaction: all of it happened, or none. Promises are in the
docstrings and, as tests, in `foliot.testing.conformance`: an adapter is whatever passes them.

`at` is the moment the verb takes as now. None means the storage's own clock (PostgreSQL's server; the process's on
SQLite); the simulator gives it. A bad item never fails its batch: it comes back refused, the others are saved.
"""

import asyncio
from typing import Protocol

from foliot.ports.admission import Admission
from foliot.ports.clock import Clock
from foliot.ports.definitions import Definitions
from foliot.ports.ledger import Ledger
from foliot.ports.orders import Orders
from foliot.ports.queries import Queries
from foliot.ports.topic import Topic
from foliot.ports.trees import TreeStore
from foliot.ports.upkeep import Upkeep
from foliot.ports.work import Work


class Storage(Protocol):
    """An open database. Its verbs are grouped by who uses them."""

    @property
    def ledger(self) -> Ledger: ...

    @property
    def work(self) -> Work: ...

    @property
    def trees(self) -> TreeStore: ...

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
    def clock(self) -> Clock:
        """What time it is for all who use this storage, as near as it can be told without asking."""
        ...

    def signal(self, topic: Topic) -> asyncio.Event:
        """An event that is set whenever that topic may concern a waiting loop, by this process or another one."""
        ...

    async def close(self) -> None: ...
