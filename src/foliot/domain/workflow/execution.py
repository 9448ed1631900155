"""An execution of a workflow as it is shown: the contents of its tree and its body."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.run.run import Status, Tick
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.progress import StepState, recoveries
from foliot.domain.workflow.spec import Step
from foliot.errors import RowUnreadable


class Execution(NamedTuple):
    """An execution without the fields of its run."""

    run_id: RunId
    workflow_id: str
    version: int
    state: int
    """Rises with every write."""
    unresolved: int
    """The number of steps without a result."""
    params: Mapping[str, Any]
    jobs: Mapping[JobId, JobSpec]
    """The jobs that steps name, as they were when the execution was opened."""
    tick: Tick | None
    opened_at: Instant
    deadline: Instant | None = None
    cancel_at: Instant | None = None
    is_ending: bool = False
    """A cancellation or a passed deadline has been settled."""
    revision: int | None = None
    """The revision of its workflow's job when it was read. None: the job has been deleted."""
    scheduled_for: Instant | None = None
    """The planned moment, if the caller of a launcher gave it instead of a tick."""
    error: RowUnreadable | None = None
    """Why parameters and jobs are missing: their row cannot be read."""

    @property
    def planned(self) -> Instant | None:
        """The moment it was planned for, or None."""
        return self.scheduled_for if self.tick is None else self.tick.scheduled_for


class StepRecord(NamedTuple):
    """A step of an execution as it is shown."""

    name: str
    state: StepState
    status: Status | None = None
    """The status of its run. None: it has no run."""
    cause: str | None = None
    """The reason of its run's status."""
    error: str | None = None
    """The error of its run, if it failed."""


def recovered_steps(steps: Sequence[Step], records: Sequence[StepRecord]) -> dict[str, list[str]]:
    """Return each failed step of an execution that was recovered, with the steps that did."""
    if not any(step.recovers for step in steps):
        return {}
    return recoveries(graph_of(steps), {record.name: record.state for record in records})
