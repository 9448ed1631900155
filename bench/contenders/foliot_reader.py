"""A program that has the database of the others open, and reads a job five times a second."""

import asyncio

from bench.contenders.foliot_app import app
from bench.marks import Marks
from bench.orders import Order, obey_async

_EVERY = 0.2


async def _read(order: Order) -> None:
    marks = Marks(order.marks, order.count)
    async with app:
        while True:
            await app.jobs.page(limit=1)
            marks.hit()
            await asyncio.sleep(_EVERY)


if __name__ == "__main__":
    obey_async({"read": _read})
