"""An execution of a workflow as it is shown: what its tree and its body say."""

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
    """What is known of an execution besides its run."""

    run_id: RunId
    workflow_id: str
    version: int
    state: int
    """Rises with every write."""
    unresolved: int
    """How many steps have no result yet."""
    params: Mapping[str, Any]
    jobs: Mapping[JobId, JobSpec]
    """Jobs that steps name, as they were when the execution began."""
    tick: Tick | None
    opened_at: Instant
    deadline: Instant | None = None
    cancel_at: Instant | None = None
    is_ending: bool = False
    """A cancel or a passed deadline has been acted upon."""
    revision: int | None = None
    """Of its workflow's job, when this was read; None if that job is deleted."""
    scheduled_for: Instant | None = None
    """The planned moment, where a launcher names it and no tick of ours does."""
    error: RowUnreadable | None = None
    """Why parameters and jobs are missing: what its row says of them cannot be read."""

    @property
    def planned(self) -> Instant | None:
        """The moment that it was planned for; None where nobody has planned it."""
        return self.scheduled_for if self.tick is None else self.tick.scheduled_for


class StepRecord(NamedTuple):
    """A step of an execution as people see it."""

    name: str
    state: StepState
    status: Status | None = None
    """Of its run, where it has one."""
    cause: str | None = None
    """Why its run has that status, and, of one that failed, with what error."""
    error: str | None = None


def recovered_steps(steps: Sequence[Step], records: Sequence[StepRecord]) -> dict[str, list[str]]:
    """Return each failed step of an execution that was recovered, with the steps that did."""
    if not any(step.recovers for step in steps):
        return {}
    return recoveries(graph_of(steps), {record.name: record.state for record in records})
