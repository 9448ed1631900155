"""What happened, written in the same transaction as its cause.

One event row carries a batch: a thousand runs that finish together are one row. Readers go through the rows by `seq`.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.instant import Instant


class EventKind(StrEnum):
    """What an event is about. Each kind says what its items are; they are the same on every database."""

    RUNS_CREATED = "runs.created"
    """Items [run id, job id]."""
    RUNS_STARTED = "runs.started"
    """Items [run id, attempt]."""
    RUNS_ENDED = "runs.ended"
    """Items [run id, status, attempt]: a terminal status, or `scheduled` when the attempt is over and the run is not,
    because it will be tried again or was given back."""
    RUNS_CANCEL_REQUESTED = "runs.cancel_requested"
    """Items [run id]."""
    TICKS_SETTLED = "ticks.settled"
    """Items [schedule uid, scheduled_for, until, outcome, reason, run id]."""
    JOB_CHANGED = "job.changed"
    """Items [job id, revision]: created, or edited."""
    JOB_DELETED = "job.deleted"
    """Items [job id, revision]: the last one it had."""
    JOB_RENAMED = "job.renamed"
    """Items [former job id, job id, revision]."""
    SCHEDULE_CHANGED = "schedule.changed"
    """Items [schedule id, schedule uid, version], the version after the change; so are those of the other three."""
    SCHEDULE_PAUSED = "schedule.paused"
    SCHEDULE_RESUMED = "schedule.resumed"
    SCHEDULE_DELETED = "schedule.deleted"
    """Items as above, with the last version it had."""
    WORKFLOW_CHANGED = "workflow.changed"
    """Items [workflow id, version]: a new version."""
    WORKFLOW_DELETED = "workflow.deleted"
    """Items [workflow id, version]: the last one it had."""
    EXECUTIONS_OPENED = "executions.opened"
    """Items [run id, workflow id, version]."""
    EXECUTIONS_ENDED = "executions.ended"
    """Items [run id, workflow id, status]: one for each execution, with its run's end."""


class Event(NamedTuple):
    seq: int
    at: Instant
    kind: EventKind
    items: list[Any]
