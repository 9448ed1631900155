"""Foliot as its users write it: an application with one job, which does nothing.

Its context come from the environment, for `foliot worker` imports this module by name.
"""

import json
import time
from pathlib import Path
from typing import Final

from bench.marks import Marks
from bench.orders import Order
from foliot import Foliot


def storage_url(order: Order) -> str:
    if order.place.startswith("postgresql"):
        return order.place
    return f"sqlite:///{order.place}?synchronous={order.synchronous.lower()}"


_order = Order.given()
_marks = Marks(_order.marks, _order.count)
_delays: list[float] = []
app: Final = Foliot(storage_url(_order))


@app.job
async def noop() -> None:
    _marks.hit()


@app.job
async def ignore(item: str) -> None:
    """The child of a fanout that does nothing."""


@app.job
async def pick_up(asked_at: float) -> None:
    """Record the time from the call to the start of the job."""
    _delays.append(time.monotonic() - asked_at)
    if len(_delays) == _order.count:
        part = Path(_order.marks) / "delays.part"
        part.write_text(json.dumps(_delays))
        part.rename(part.with_name("delays"))
