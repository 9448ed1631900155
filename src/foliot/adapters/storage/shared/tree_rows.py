"""Rows about workflows and their executions become values, and values rows, whatever the database."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from foliot.adapters.storage.shared.documents import decode_names, encode, encode_names, read_column, storable
from foliot.adapters.storage.shared.row_types import Count, Moment, instant_of, read_row, sight, tick_in
from foliot.adapters.storage.shared.rows import Row, job_of, sort_out
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.run import Status
from foliot.domain.tree.tree import Note, Tree
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.jobs import PART_SOURCE, is_part_of_workflow, jobs_of
from foliot.domain.workflow.output import RunOutput, StepOutput
from foliot.domain.workflow.plan import ExecutionBody
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import RowUnreadable
from foliot.ports.definitions import Behind, WorkflowVersion

_WORKFLOW: Final = msgspec.json.Decoder(WorkflowSpec)
_BODY: Final = msgspec.json.Decoder(ExecutionBody)
_NO_BODY: Final = '{"params":{},"jobs":{}}'


def as_stored_workflow(spec: WorkflowSpec) -> WorkflowSpec:
    """The specification as it will be read back: a tuple in a payload comes back as a list, and is no change."""
    return _WORKFLOW.decode(encode(spec))


def decode_workflow_spec(document: str) -> WorkflowSpec:
    return _WORKFLOW.decode(document)


def decode_body_jobs(document: str) -> Mapping[JobId, JobSpec]:
    """The jobs that an execution began with, from its body."""
    return _BODY.decode(document).jobs


def jobs_behind(versions: Iterable[WorkflowVersion]) -> dict[JobId, JobSpec]:
    """The jobs that these versions are carried out by."""
    jobs: dict[JobId, JobSpec] = {}
    for workflow_id, version, spec, _ in versions:
        jobs |= jobs_of(workflow_id, version, spec)
    return jobs


def version_of(row: Row) -> WorkflowVersion:
    """id, version, spec, created_at"""
    workflow_id, version, spec, created_at = row
    known = read_column(_WORKFLOW.decode, spec, f"version {version} of workflow", workflow_id)
    return WorkflowVersion(workflow_id, version, known, created_at)


def newest_of(rows: Sequence[Row]) -> dict[str, WorkflowVersion]:
    """Those newest versions that can be read: another one takes the place of what cannot."""
    return {known.workflow_id: known for known in sort_out(version_of, rows)[0]}


class Named(NamedTuple):
    """What versions say about the jobs behind them."""

    jobs: set[JobId]
    unreadable: set[str]
    """Workflows of which one cannot be read: the jobs of their steps are told by their names."""

    @classmethod
    def by(cls, rows: Sequence[Row]) -> "Named":
        versions, errors = sort_out(version_of, rows)
        unreadable = {error.name for error in errors}
        return cls({*jobs_behind(versions), *map(JobId, unreadable)}, unreadable)


def behind_of(project: str, rows: Sequence[Row], named: Named) -> Behind:
    """Those of the jobs that go with their workflows. One that cannot be read goes if a version names it, or its
    document says so: a name that only looks like that of a step may be anybody's."""
    jobs, errors = sort_out(partial(job_of, project), rows)
    unreadable = {JobId(error.name) for error in errors}
    parts = {job.id for job in jobs if is_part_of_workflow(job.spec)}
    known = named.jobs | ({row[0] for row in rows if _is_called_part(row[1])} if unreadable else set())
    return Behind(parts | (unreadable & known), unreadable - known)


def _is_called_part(document: Any) -> bool:
    """Whether a definition, of which the rest may be what only another version knows, is called a part of a
    workflow."""
    try:
        found = msgspec.json.decode(document, type=dict[str, Any])
    except UNREADABLE:
        return False
    return found.get("source") == PART_SOURCE


class TreeRow(Struct, array_like=True, frozen=True, gc=False):
    run_id: RunId
    kind: str
    job_id: JobId
    version: int
    state: int
    open: Count
    opened_at: Moment
    root_id: RunId
    depth: Count
    held: Any
    progress: Any
    size: Count
    deadline: Moment | None
    cancel_at: Moment | None
    is_ending: bool | int
    scheduled_for: Moment | None
    revision: int | None


TREE_COLUMNS: Final = len(TreeRow.__struct_fields__)


def tree_of(row: Row) -> Tree:
    """The columns of `TreeRow`. A tree that cannot be read has an error, and what could be read of it."""
    known, error = sight(TreeRow, row[:TREE_COLUMNS], "execution", row[0])
    held: tuple[str, ...] = ()
    try:
        held = () if known.held is None else read_column(decode_names, known.held, "execution", known.run_id)
    except RowUnreadable as unreadable:
        error = error or unreadable
    progress = known.progress.encode() if isinstance(known.progress, str) else known.progress
    return Tree(
        known.run_id,
        known.kind,
        known.job_id,
        known.version,
        known.state,
        known.open,
        Instant(known.opened_at),
        known.root_id,
        known.depth,
        held,
        progress,
        known.size,
        instant_of(known.deadline),
        instant_of(known.cancel_at),
        bool(known.is_ending),
        instant_of(known.scheduled_for),
        known.revision,
        error=error,
    )


def tree_row(project: str, tree: Tree, cancel_at: Instant | None) -> Row:
    """run_id, project, kind, job_id, version, state, open, opened_at, root_id, depth, held, progress, size, deadline,
    cancel_at, is_ending"""
    return (
        *(tree.run_id, project, tree.kind, tree.job_id, tree.version, tree.state, tree.open, tree.opened_at),
        *(tree.root_id, tree.depth, encode_names(tree.held) if tree.held else None, progress_text(tree), tree.size),
        *(tree.deadline, cancel_at, tree.is_ending),
    )


def progress_text(tree: Tree) -> str | None:
    return None if tree.progress is None else tree.progress.decode()


class ExecutionRow(Struct, array_like=True, frozen=True, gc=False):
    run_id: RunId
    workflow_id: str
    version: int
    state: int
    unresolved: Count
    body: Any
    schedule_uid: ScheduleUid | None
    schedule_id: ScheduleId | None
    scheduled_for: Moment | None
    tick_key: str | None
    opened_at: Moment
    deadline: Moment | None
    cancel_at: Moment | None
    is_ending: bool | int
    revision: int | None


def execution_of(row: Row) -> Execution:
    """The columns of `ExecutionRow`."""
    return _execution(read_row(ExecutionRow, row, "execution", row[0]))


def sight_of(row: Row) -> Execution:
    """The same; of an execution that cannot be read, what is left of it."""
    try:
        return execution_of(row)
    except RowUnreadable as error:
        known, _ = sight(ExecutionRow, (*row[:5], _NO_BODY, None, *row[7:]), "execution", row[0])
        return _execution(known)._replace(error=error)


def _execution(row: ExecutionRow) -> Execution:
    body = read_column(_BODY.decode, row.body, "execution", row.run_id)
    return Execution(
        row.run_id,
        row.workflow_id,
        row.version,
        row.state,
        row.unresolved,
        body.params,
        body.jobs,
        read_column(tick_in, row, "execution", row.run_id),
        Instant(row.opened_at),
        instant_of(row.deadline),
        instant_of(row.cancel_at),
        bool(row.is_ending),
        row.revision,
        instant_of(row.scheduled_for),
    )


def state_of(name: str, row: Row) -> StepState:
    """waiting, blockers, result, step_run_id, reason"""
    waiting, blockers, result, run_id, reason = row
    names = () if blockers is None else read_column(decode_names, blockers, "step", name)
    return StepState(
        waiting, names, None if result is None else read_column(Result, result, "step", name), run_id, reason
    )


def shown_state_of(name: str, row: Row) -> StepState:
    """The same; of a step that cannot be read, whether it has a result, and which run."""
    try:
        return state_of(name, row)
    except RowUnreadable as error:
        waiting, _, result, run_id, _ = row
        known = next((one for one in Result if one == result), None)
        return StepState(waiting, (), known, run_id, error.message)


class StepRunRow(Struct, array_like=True, frozen=True):
    """Of the run of a step; `status` as people see it."""

    status: Status | None
    reason: str | None
    error: str | None


def record_of(name: str, state: StepState, run: Row | None) -> StepRecord:
    """A step, with the columns of `StepRunRow` where it has a run."""
    if run is None:
        return StepRecord(name, state)
    known, error = sight(StepRunRow, run, "run", state.run_id)
    return StepRecord(name, state, known.status, known.reason, known.error if error is None else error.message)


def state_row(state: StepState) -> Row:
    """waiting, blockers, result, step_run_id, reason"""
    blockers = encode_names(state.blockers) if state.blockers else None
    result = None if state.result is None else state.result.value
    return state.waiting, blockers, result, state.run_id, storable(state.reason)


def note_of(row: Row) -> Note:
    """run_id, child_key, status, exit_code; no key where it is about the tree itself"""
    run_id, child_key, status, exit_code = row
    return Note(run_id) if child_key is None else Note(run_id, child_key, _ended(status), exit_code)


def _ended(status: object) -> Status:
    """How a child has ended. A status that cannot be read is no success; the tree goes on."""
    return next((known for known in Status if known == status), Status.FAILED)


def step_output_of(row: Row) -> StepOutput:
    """result, step_run_id, exit_code, output"""
    result, run_id, exit_code, output = row
    known = None if run_id is None else RunId(run_id)
    came_to = None if result is None else read_column(Result, result, "step of run", run_id)
    return StepOutput(came_to, known, run_output_of(exit_code, output))


def run_output_of(exit_code: int | None, output: Any) -> RunOutput:
    """One database keeps outputs as bytes, the other as text."""
    return RunOutput(exit_code=exit_code, output=output.encode() if isinstance(output, str) else output)
