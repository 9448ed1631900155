"""All routes. Importing a module of resources declares its routes."""

from typing import Final

from foliot.interfaces.api.resources import (
    alerts,
    audit,
    chains,
    channel,
    cron,
    definitions,
    dsns,
    enrolments,
    events,
    executions,
    find,
    imports,
    jobs,
    launcher,
    logs,
    metrics,
    runs,
    schedules,
    server,
    ticks,
    tokens,
    users,
    worker_orders,
    workers,
    workflows,
)
from foliot.interfaces.api.resources.table import ROUTES

MODULES: Final = (
    *(jobs, schedules, ticks, runs, logs, workflows, executions, chains, events, definitions, imports),
    *(find, cron, launcher, dsns, tokens, users, audit, alerts, server, metrics, channel, workers, enrolments),
    worker_orders,
)

__all__ = ["MODULES", "ROUTES"]
