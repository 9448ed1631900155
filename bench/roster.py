"""The contenders, and the queries that count their committed work.

"Foliot" is an installation as it comes: 100 slots and the event loop of asyncio. "Foliot, tuned" has uvloop and 4,000
slots. A ceiling always has 1,000, because it is the upper bound for both, and more make no difference to it.
"""

from dataclasses import replace
from typing import Final

from bench.children import Contender
from bench.places import Database

TUNED_SLOTS: Final = 4_000
"""The concurrency that gave the best result."""
CEILING_SLOTS: Final = 1_000

_EMPTY: Final = "SELECT CAST(EXISTS (SELECT 1 FROM ready) OR EXISTS (SELECT 1 FROM leases) AS INTEGER)"
_FOLIOT: Final = (
    "-m foliot {} bench.contenders.foliot_app:app --concurrency={{slots}} --loop={{loop}} --log-level=warning"
)
WORKER: Final = _FOLIOT.format("worker")
SERVE: Final = _FOLIOT.format("serve")


def tuned(contender: Contender) -> Contender:
    """Return a contender of Foliot with the settings for throughput."""
    return replace(contender, name=f"{contender.name}, tuned", loop="uvloop", slots=TUNED_SLOTS)


def on_uvloop(contender: Contender) -> Contender:
    return replace(contender, name=f"{contender.name}, uvloop", loop="uvloop")


CEILING_SQLITE: Final = Contender(
    name="ceiling SQLite", module="ceiling_sqlite", database=Database.SQLITE, remaining=_EMPTY, slots=CEILING_SLOTS
)
FOLIOT_SQLITE: Final = Contender(
    name="Foliot SQLite", module="foliot_runs", database=Database.SQLITE, remaining=_EMPTY, program=WORKER
)
HUEY: Final = Contender(name="huey", module="huey_sqlite", database=Database.SQLITE, share=0.1)

CEILING_POSTGRES: Final = Contender(
    name="ceiling PostgreSQL",
    module="ceiling_postgres",
    database=Database.POSTGRES,
    remaining=_EMPTY,
    slots=CEILING_SLOTS,
)
FOLIOT_POSTGRES: Final = Contender(
    name="Foliot PostgreSQL", module="foliot_runs", database=Database.POSTGRES, remaining=_EMPTY, program=WORKER
)
PGQUEUER: Final = Contender(
    name="pgqueuer",
    module="pgqueuer_postgres",
    database=Database.POSTGRES,
    remaining="SELECT CAST(EXISTS (SELECT 1 FROM pgqueuer) AS INTEGER)",
    share=0.2,
)
GRAPHILE: Final = Contender(
    name="graphile-worker",
    module="graphile_worker",
    database=Database.POSTGRES,
    remaining="SELECT CAST(EXISTS (SELECT 1 FROM graphile_worker._private_jobs) AS INTEGER)",
    is_on_node=True,
    share=0.1,
)
GRAPHILE_LOCAL: Final = replace(GRAPHILE, name="graphile-worker, local queue", operation="work-local-queue", share=0.4)
PROCRASTINATE: Final = Contender(
    name="procrastinate",
    module="procrastinate_postgres",
    database=Database.POSTGRES,
    remaining="SELECT CAST(EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status = 'doing') AS INTEGER)",
    share=0.02,
)

SERVE_SQLITE: Final = Contender(
    name="Foliot SQLite", module="foliot_schedules", database=Database.SQLITE, program=SERVE
)
SERVE_POSTGRES: Final = replace(SERVE_SQLITE, name="Foliot PostgreSQL", database=Database.POSTGRES)
APSCHEDULER_MEMORY: Final = Contender(
    name="APScheduler memory", module="apscheduler_jobs", database=Database.NONE, operation="memory"
)
APSCHEDULER_SQLITE: Final = Contender(
    name="APScheduler SQLite", module="apscheduler_jobs", database=Database.SQLITE, operation="sqlite", share=0.1
)
