"""Foliot's schedules, added through the application object and fired by `foliot serve`."""

import time
from datetime import UTC, datetime
from typing import Any

from bench.contenders.foliot_app import app
from bench.orders import Order, Result, obey_async

_BATCH = 1_000
_HOUR = 3_600


async def _add(order: Order) -> Result:
    """Add one schedule after another."""
    options = _hourly(order)
    async with app:
        began = time.monotonic()
        for number in range(order.count):
            await app.schedules.upsert(f"schedule-{number}", **options)
        return {"add": order.count / (time.monotonic() - began)}


async def _hold(order: Order) -> Result:
    """Add all schedules, many in each call."""
    async with app:
        began = time.monotonic()
        for start in range(0, order.count, _BATCH):
            names = [f"schedule-{number}" for number in range(start, min(start + _BATCH, order.count))]
            await app.schedules.upsert_many({name: _hourly(order) for name in names})
        return {"bulk": order.count / (time.monotonic() - began)} if order.count else {}


def _hourly(order: Order) -> Any:
    return {"job_id": "fire", "every": _HOUR, "start_at": datetime.fromtimestamp(order.due_at, UTC)}


if __name__ == "__main__":
    obey_async({"add": _add, "hold": _hold})
