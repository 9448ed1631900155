"""What happened, written in the same transaction as its cause.

One event row carries a batch: a thousand runs that finish together are one row. Readers go through the rows by `seq`.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.instant import Instant


class EventKind(StrEnum):
    RUNS_CREATED = "runs.created"
    RUNS_STARTED = "runs.started"
    RUNS_ENDED = "runs.ended"
    """Items [run id, status, attempt]: a terminal status, or `scheduled` when the run will be tried again."""
    RUNS_CANCEL_REQUESTED = "runs.cancel_requested"
    TICKS_SETTLED = "ticks.settled"
    """Items [schedule uid, scheduled_for, until, outcome, reason, run id]."""
    JOB_CHANGED = "job.changed"
    JOB_DELETED = "job.deleted"
    SCHEDULE_CHANGED = "schedule.changed"
    SCHEDULE_PAUSED = "schedule.paused"
    SCHEDULE_RESUMED = "schedule.resumed"
    SCHEDULE_DELETED = "schedule.deleted"


class Event(NamedTuple):
    seq: int
    at: Instant
    kind: EventKind
    items: list[Any]
