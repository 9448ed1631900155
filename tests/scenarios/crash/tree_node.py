"""A node with a kind of tree that the product does not know, and with jobs that do nothing. Runs until it is killed."""

import asyncio
import json
import logging
import os
from typing import Final

from foliot.adapters.queue.storage import StorageQueue
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.outcome import DONE, Success
from foliot.domain.schedule.tick_run import make_run
from foliot.engine.node import Node
from foliot.engine.settings import Parts, Settings
from foliot.ports.runner import Attempt
from foliot.ports.topic import Topic
from foliot.wiring.machine import node_label
from foliot.wiring.processes import TREES
from foliot.wiring.services import open_services
from tests.engine.window_kind import WindowKind

KIND: Final = "nothing"
SLOTS: Final = 500
LEASE: Final = Millis(2 * SECOND)


class NothingRunner:
    """Every attempt succeeds at once."""

    abandoned = 0

    async def run(self, attempt: Attempt) -> Success:
        return DONE


async def main() -> None:
    services = await open_services(os.environ["FOLIOT_STORAGE"])
    window = WindowKind()
    parts = Parts(
        storage=services.storage,
        queue=StorageQueue(services.storage),
        tree_queue=StorageQueue(services.storage, Topic.TREES),
        trees={**TREES, window.name: window},
        clock=services.clock,
        ids=services.ids,
        runners={KIND: NothingRunner()},
        make_run=make_run,
    )
    node = Node(parts, Settings(label=node_label(), slots=SLOTS, lease=LEASE, poll=Millis(100)))
    await node.start()
    print(json.dumps({"event": "node_started"}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    asyncio.run(main())
