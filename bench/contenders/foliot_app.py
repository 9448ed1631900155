"""Foliot as its users write it: an application with one job, which does nothing.

Its order comes from the environment, for `foliot worker` imports this module by name.
"""

import json
import time
from pathlib import Path
from typing import Final

from bench.marks import Marks
from bench.orders import Order
from foliot import Foliot

_order = Order.given()
_marks = Marks(_order.marks, _order.count)
_delays: list[float] = []
_moments: list[float] = []
app: Final = Foliot(_order.url)


@app.job
async def noop() -> None:
    _marks.hit()


app.shell("command", ["true"])


@app.job
async def fire() -> None:
    """The job of the schedules: records when it starts."""
    _moments.append(time.time())
    if len(_moments) == _order.count:
        _write("moments", _moments)


@app.job
async def ignore(item: str) -> None:
    """The child of a fanout that does nothing."""


@app.job
async def pick_up(asked_at: float) -> None:
    """Record the time from the call to the start of the job."""
    _delays.append(time.monotonic() - asked_at)
    if len(_delays) == _order.count:
        _write("delays", _delays)


def _write(name: str, figures: list[float]) -> None:
    part = Path(_order.marks) / f"{name}.part"
    part.write_text(json.dumps(figures))
    part.rename(part.with_name(name))
