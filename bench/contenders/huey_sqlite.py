"""huey with its SQLite storage. A task leaves the table when it is dequeued: at most once, no history."""

import logging
import sqlite3
import time

from huey import SqliteHuey
from huey.consumer import Consumer
from huey.storage import SqliteStorage

from bench.calls import plain_calls_per_second
from bench.marks import Marks
from bench.orders import Order, Result, obey


class Durable(SqliteStorage):
    """Accepts any level of durability, so that it can be the same for all."""

    synchronous = "FULL"

    def _create_connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection = super()._create_connection()
        connection.execute(f"PRAGMA synchronous = {self.synchronous}")
        return connection


class Queue:
    """huey with one task that does nothing."""

    def __init__(self, order: Order) -> None:
        Durable.synchronous = order.synchronous
        marks = Marks(order.marks, order.count)
        self.huey = SqliteHuey("bench", filename=order.place, storage_class=Durable, results=False, utc=True)
        self.noop = self.huey.task()(lambda: marks.hit())


def _bulk(order: Order) -> Result:
    """Enqueue one task per call: huey has no bulk call."""
    queue = Queue(order)
    began = time.monotonic()
    for _ in range(order.count):
        queue.noop()
    return {"bulk": order.count / (time.monotonic() - began)}


def _single(order: Order) -> Result:
    return {"single": plain_calls_per_second(order.seconds, Queue(order).noop)}


def _work(order: Order) -> None:
    logging.getLogger("huey").setLevel(logging.WARNING)
    Consumer(Queue(order).huey, workers=1, periodic=False, initial_delay=0.01, max_delay=0.1).run()


if __name__ == "__main__":
    obey({"bulk": _bulk, "single": _single, "work": _work})
