"""APScheduler 3, in memory or in SQLite, four threads; `misfire_grace_time=None`, or a burst would drop runs.

Its schedules live in the process that fires them, so one operation adds them and lets them fire.
"""

import threading
import time
from datetime import UTC, datetime
from typing import Any

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import create_engine, event

from bench.orders import Order, Result, obey
from bench.schedules import drifts

_moments: list[float] = []
_all_fired = threading.Event()
_expected = 0


def fire() -> None:
    _moments.append(time.time())
    if len(_moments) == _expected:
        _all_fired.set()


def _in_sqlite(order: Order) -> SQLAlchemyJobStore:
    engine = create_engine(f"sqlite:///{order.place}")

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {order.synchronous}")

    return SQLAlchemyJobStore(engine=engine)


def _burst(order: Order, store: object) -> Result:
    global _expected
    _expected = order.count
    scheduler = BackgroundScheduler(
        jobstores={"default": store},
        executors={"default": ThreadPoolExecutor(4)},
        job_defaults={"misfire_grace_time": None, "coalesce": False},
        timezone=UTC,
    )
    add = _add(scheduler, order)
    _all_fired.wait()
    scheduler.shutdown(wait=False)
    # It has no bulk call: one by one is the only way.
    return {"add": add, "bulk": add, **drifts(_moments, order)}


def _add(scheduler: BackgroundScheduler, order: Order) -> float:
    scheduler.start(paused=True)
    due = datetime.fromtimestamp(order.due_at, UTC)
    began = time.monotonic()
    for _ in range(order.count):
        scheduler.add_job(fire, "interval", hours=1, start_date=due)
    rate = order.count / (time.monotonic() - began)
    if time.time() > order.due_at:
        raise RuntimeError("schedules were due before all had been added")
    scheduler.resume()
    return rate


if __name__ == "__main__":
    obey(
        {
            "memory": lambda order: _burst(order, MemoryJobStore()),
            "sqlite": lambda order: _burst(order, _in_sqlite(order)),
        }
    )
