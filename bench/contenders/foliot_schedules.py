"""Foliot's schedules, added through the application object and fired by `foliot serve`."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from bench.contenders.foliot_app import app
from bench.orders import Order, Result, obey_async
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import from_datetime
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType

_BATCH = 1_000
_HOUR = 3_600


async def _add(order: Order) -> Result:
    """Add one schedule after another."""
    start_at = datetime.fromtimestamp(order.due_at, UTC)
    async with app:
        began = time.monotonic()
        for number in range(order.count):
            await app.schedules.upsert(f"schedule-{number}", job_id="fire", every=_HOUR, start_at=start_at)
        return {"add": order.count / (time.monotonic() - began)}


async def _hold(order: Order) -> Result:
    """Add all schedules."""
    async with app:
        schedules = (await app.open()).schedules
        began = time.monotonic()
        for start in range(0, order.count, _BATCH):
            await schedules.put(_hourly(start, min(start + _BATCH, order.count), order.due_at))
        return {"bulk": order.count / (time.monotonic() - began)} if order.count else {}


def _hourly(start: int, end: int, due_at: float) -> Mapping[ScheduleId, ScheduleSpec]:
    start_at = from_datetime(datetime.fromtimestamp(due_at, UTC))
    spec = ScheduleSpec(type=ScheduleType.INTERVAL, expr=str(_HOUR), job_id=JobId("fire"), start_at=start_at)
    return {ScheduleId(f"schedule-{number}"): spec for number in range(start, end)}


if __name__ == "__main__":
    obey_async({"add": _add, "hold": _hold})
