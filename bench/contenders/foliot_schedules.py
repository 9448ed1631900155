"""Foliot's schedules, added in bulk through the application object and fired by `foliot serve`."""

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from bench.contenders.foliot_app import app
from bench.orders import Order, Result, obey
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import from_datetime
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType

_BATCH = 1_000
_HOUR = 3_600


async def _hold(order: Order) -> Result:
    async with app:
        schedules = (await app.open()).schedules
        began = time.monotonic()
        for start in range(0, order.count, _BATCH):
            await schedules.put(_hourly(start, min(start + _BATCH, order.count), order.due_at))
        return {"add": order.count / (time.monotonic() - began)}


def _hourly(start: int, end: int, due_at: float) -> Mapping[ScheduleId, ScheduleSpec]:
    start_at = from_datetime(datetime.fromtimestamp(due_at, UTC))
    spec = ScheduleSpec(type=ScheduleType.INTERVAL, expr=str(_HOUR), job_id=JobId("noop"), start_at=start_at)
    return {ScheduleId(f"schedule-{number}"): spec for number in range(start, end)}


async def _peek(order: Order) -> Result:
    async with app:
        ledger = (await app.open()).storage.ledger
        began = time.monotonic()
        for _ in range(1_000):
            await ledger.next_wake()
        return {"peek": (time.monotonic() - began) * 1000}


if __name__ == "__main__":
    obey(
        {
            "hold": lambda order: asyncio.run(_hold(order)),
            "peek": lambda order: asyncio.run(_peek(order)),
        }
    )
