"""Events: records of what happened, stored in the same transaction as the change itself.

One event row holds a batch: a thousand runs that finish together are one row. Readers read the rows in order of `seq`.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.instant import Instant


class EventKind(StrEnum):
    """The kinds of events, each with the form of its items. Items are the same on every database."""

    RUNS_CREATED = "runs.created"
    """Items [run id, job id]."""
    RUNS_STARTED = "runs.started"
    """Items [run id, attempt]."""
    RUNS_ENDED = "runs.ended"
    """Items [run id, status, attempt]: a terminal status, or `scheduled` if the attempt has ended but not the run,
    because the run will be retried or the attempt was given back."""
    RUNS_CANCEL_REQUESTED = "runs.cancel_requested"
    """Items [run id]."""
    TICKS_SETTLED = "ticks.settled"
    """Items [schedule uid, scheduled_for, until, outcome, reason, run id, count]: so many planned times
    have this outcome."""
    JOB_CHANGED = "job.changed"
    """Items [job id, revision]: the job was created or edited."""
    JOB_DELETED = "job.deleted"
    """Items [job id, revision]: its last revision."""
    JOB_RENAMED = "job.renamed"
    """Items [former job id, job id, revision]."""
    SCHEDULE_CHANGED = "schedule.changed"
    """Items [schedule id, schedule uid, version], with the version after the change. The next three have the same
    form."""
    SCHEDULE_PAUSED = "schedule.paused"
    SCHEDULE_RESUMED = "schedule.resumed"
    SCHEDULE_DELETED = "schedule.deleted"
    """The version is the last one."""
    PROJECT_PAUSED = "project.paused"
    """Items [since, until, by, note]: all schedules were paused, or the end or the note of that pause was changed."""
    PROJECT_RESUMED = "project.resumed"
    """The same items: the pause of all schedules was ended by hand."""
    WORKFLOW_CHANGED = "workflow.changed"
    """Items [workflow id, version]: a new version."""
    WORKFLOW_DELETED = "workflow.deleted"
    """Items [workflow id, version]: its last version."""
    EXECUTIONS_OPENED = "executions.opened"
    """Items [run id, workflow id, version]."""
    EXECUTIONS_ENDED = "executions.ended"
    """Items [run id, workflow id, status]: one for each execution, stored with the end of its run."""
    STEPS_CHANGED = "steps.changed"
    """Items [run id of the execution, step, result]: the step has resolved, or, if the result is None, its run was
    created."""
    ALERT_RAISED = "alert.raised"
    """Items [kind of the alert, subject, facts], see `domain/alert.py`: something that people should know at once."""


class Event(NamedTuple):
    seq: int
    at: Instant
    kind: EventKind
    items: list[Any]
