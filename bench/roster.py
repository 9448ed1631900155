"""The contenders, and the queries that count their committed work."""

from dataclasses import replace
from typing import Final

from bench.children import Contender
from bench.places import Database

_EMPTY: Final = "SELECT CAST(EXISTS (SELECT 1 FROM ready) OR EXISTS (SELECT 1 FROM leases) AS INTEGER)"

_FOLIOT: Final = "-m foliot {} bench.contenders.foliot_app:app --concurrency={{slots}} --log-level=warning"
_WORKER: Final = _FOLIOT.format("worker")
_SCHEDULER: Final = _FOLIOT.format("serve") + " --roles=scheduler"
_SERVE: Final = _FOLIOT.format("serve")

CEILING_SQLITE: Final = Contender(
    name="ceiling SQLite", module="ceiling_sqlite", database=Database.SQLITE, remaining=_EMPTY
)
CEILING_POSTGRES: Final = Contender(
    name="ceiling PostgreSQL", module="ceiling_postgres", database=Database.POSTGRES, remaining=_EMPTY
)
FOLIOT_SQLITE: Final = Contender(
    name="Foliot SQLite", module="foliot_runs", database=Database.SQLITE, remaining=_EMPTY, program=_WORKER
)
FOLIOT_POSTGRES: Final = Contender(
    name="Foliot PostgreSQL", module="foliot_runs", database=Database.POSTGRES, remaining=_EMPTY, program=_WORKER
)
HUEY: Final = Contender(name="huey SQLite", module="huey_sqlite", database=Database.SQLITE)
PGQUEUER: Final = Contender(
    name="pgqueuer",
    module="pgqueuer_postgres",
    database=Database.POSTGRES,
    remaining="SELECT CAST(EXISTS (SELECT 1 FROM pgqueuer) AS INTEGER)",
)
PROCRASTINATE: Final = Contender(
    name="procrastinate",
    module="procrastinate_postgres",
    database=Database.POSTGRES,
    remaining="SELECT CAST(EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status = 'doing') AS INTEGER)",
)

ON_SQLITE: Final = (CEILING_SQLITE, FOLIOT_SQLITE, HUEY)
ON_POSTGRES: Final = (CEILING_POSTGRES, FOLIOT_POSTGRES, PGQUEUER, PROCRASTINATE)

LATENCY: Final = (
    replace(CEILING_SQLITE, operation="latency"),
    Contender(name="Foliot SQLite", module="foliot_latency", database=Database.SQLITE, operation="together"),
    Contender(
        name="Foliot SQLite, two processes",
        module="foliot_latency",
        database=Database.SQLITE,
        operation="apart",
        program=_WORKER,
    ),
    replace(CEILING_POSTGRES, operation="latency"),
    Contender(name="Foliot PostgreSQL", module="foliot_latency", database=Database.POSTGRES, operation="together"),
    Contender(
        name="Foliot PostgreSQL, two processes",
        module="foliot_latency",
        database=Database.POSTGRES,
        operation="apart",
        program=_WORKER,
    ),
)

_UNFIRED: Final = "SELECT count(*) FROM schedules WHERE next_due <= {due}"
_UNFIRED_FOLIOT: Final = "SELECT count(*) FROM schedules WHERE wake_at <= {due}"

SCHEDULES_CEILING_SQLITE: Final = Contender(
    name="ceiling SQLite",
    module="ceiling_schedules_sqlite",
    database=Database.SQLITE,
    remaining=_UNFIRED,
    operation="schedule",
)
SCHEDULES_CEILING_POSTGRES: Final = Contender(
    name="ceiling PostgreSQL",
    module="ceiling_schedules_postgres",
    database=Database.POSTGRES,
    remaining=_UNFIRED,
    operation="schedule",
)
SCHEDULES_SQLITE: Final = Contender(
    name="Foliot SQLite",
    module="foliot_schedules",
    database=Database.SQLITE,
    remaining=_UNFIRED_FOLIOT,
    program=_SCHEDULER,
)
SCHEDULES_POSTGRES: Final = Contender(
    name="Foliot PostgreSQL",
    module="foliot_schedules",
    database=Database.POSTGRES,
    remaining=_UNFIRED_FOLIOT,
    program=_SCHEDULER,
)
SERVE_SQLITE: Final = replace(SCHEDULES_SQLITE, name="Foliot SQLite, runs carried out beside", program=_SERVE)
SERVE_POSTGRES: Final = replace(SCHEDULES_POSTGRES, name="Foliot PostgreSQL, runs carried out beside", program=_SERVE)
APSCHEDULER_MEMORY: Final = Contender(
    name="APScheduler memory", module="apscheduler_jobs", database=Database.NONE, operation="memory"
)
APSCHEDULER_SQLITE: Final = Contender(
    name="APScheduler SQLite", module="apscheduler_jobs", database=Database.SQLITE, operation="sqlite", share=0.1
)
