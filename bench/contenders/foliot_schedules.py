"""Foliot's schedules, added through the application object and fired by `foliot serve`."""

import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from bench.contenders.foliot_app import app
from bench.orders import Order, Result, obey_async
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import from_datetime
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType

_BATCH = 1_000
_HOUR = 3_600

AddMany = Callable[[list[str]], Awaitable[object]]


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
        add = await _bulk_call(order)
        began = time.monotonic()
        for start in range(0, order.count, _BATCH):
            await add([f"schedule-{number}" for number in range(start, min(start + _BATCH, order.count))])
        return {"bulk": order.count / (time.monotonic() - began)} if order.count else {}


async def _bulk_call(order: Order) -> AddMany:
    """Return `app.schedules.upsert_many`, or the call that applies declared schedules if there is none."""
    upsert_many = getattr(app.schedules, "upsert_many", None)
    if upsert_many is not None:
        return lambda names: upsert_many({name: _hourly(order) for name in names})
    schedules = (await app.open()).schedules
    return lambda names: schedules.put(_specs(names, order))


def _hourly(order: Order) -> Any:
    return {"job_id": "fire", "every": _HOUR, "start_at": datetime.fromtimestamp(order.due_at, UTC)}


def _specs(names: list[str], order: Order) -> Mapping[ScheduleId, ScheduleSpec]:
    start_at = from_datetime(datetime.fromtimestamp(order.due_at, UTC))
    spec = ScheduleSpec(type=ScheduleType.INTERVAL, expr=str(_HOUR), job_id=JobId("fire"), start_at=start_at)
    return dict.fromkeys(map(ScheduleId, names), spec)


if __name__ == "__main__":
    obey_async({"add": _add, "hold": _hold})
