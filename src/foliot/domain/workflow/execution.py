"""One passage through a workflow, and what is saved about it.

    claim of the execution's run --open--> executions row, a state for each step, runs of the first steps
    a step's run ends            --note--> the note says that its execution has something to settle
    notes                      --settle--> new states, further runs, and, when every step has its result, the end

Each write names the `state` number that it was decided on: of two that decide at once, the second changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job import JobSpec
from foliot.domain.lease import Claim
from foliot.domain.run import Ended, NewRun, Status, Tick
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.facts import Facts
from foliot.domain.workflow.progress import StepState
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

    def is_of_revision(self, revision: int | None) -> bool:
        """Whether the workflow's job, now of this revision, is unchanged; true if its revision is not known."""
        return self.revision is None or self.revision == revision

    @property
    def planned(self) -> Instant | None:
        """The moment that it was planned for; None where nobody has planned it."""
        return self.scheduled_for if self.tick is None else self.tick.scheduled_for


class Note(NamedTuple):
    """The run of a step that has ended. Without a step: somebody wants the execution to be looked at."""

    run_id: RunId
    step: str | None = None
    status: Status | None = None
    facts: Facts = Facts()


class Unsettled(NamedTuple):
    """An execution with what has happened since it was last settled."""

    execution: Execution
    notes: Sequence[Note]
    now: Instant

    @property
    def is_to_end(self) -> bool:
        """Whether it is not to go on: cancelled, past its deadline, or being ended already."""
        execution = self.execution
        is_overdue = execution.deadline is not None and self.now >= execution.deadline
        return execution.is_ending or execution.cancel_at is not None or is_overdue


class Opening(NamedTuple):
    """The beginning of an execution: saved only while the claim's token and the revision of the workflow's job are
    those that it was decided on."""

    claim: Claim
    execution: Execution
    states: Mapping[str, StepState]
    runs: Mapping[str, NewRun]
    """By step."""
    ended: Ended | None = None
    """How it ended, where every step is resolved at once."""


class Settlement(NamedTuple):
    """What follows from notes: saved only while the execution's state is the one it was decided on."""

    execution: Execution
    notes: Sequence[RunId]
    """Those that were looked at, and go."""
    changed: Mapping[str, StepState]
    runs: Mapping[str, NewRun]
    """By step."""
    cancels: Sequence[RunId] = ()
    """Runs of steps to be cancelled."""
    ended: Ended | None = None

    @property
    def newly_resolved(self) -> int:
        return sum(state.result is not None for state in self.changed.values())


class Progress(NamedTuple):
    """What has been saved about an execution just now."""

    run_id: RunId
    workflow_id: str
    steps: Mapping[str, StepState]
    """Those that have changed."""
    is_over: bool


class StepRecord(NamedTuple):
    """A step of an execution as people see it."""

    name: str
    state: StepState
    status: Status | None = None
    """Of its run, where it has one."""
    cause: str | None = None
    """Why its run has that status, and, of one that failed, with what error."""
    error: str | None = None


class StepFacts(NamedTuple):
    """What templates may name of a step."""

    result: Result | None
    run_id: RunId | None
    facts: Facts
