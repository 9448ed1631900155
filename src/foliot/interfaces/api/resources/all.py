"""All routes. Importing a module of resources declares its routes."""

from typing import Final

from foliot.interfaces.api.resources import (
    audit,
    chains,
    cron,
    dsns,
    events,
    executions,
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
    workflows,
)
from foliot.interfaces.api.resources.table import ROUTES

MODULES: Final = (
    *(jobs, schedules, ticks, runs, logs, workflows, executions, chains, events),
    *(cron, launcher, dsns, tokens, users, audit, server, metrics),
)

__all__ = ["MODULES", "ROUTES"]
