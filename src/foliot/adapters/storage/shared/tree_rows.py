"""Decodes and encodes rows of workflow versions, trees, executions and steps."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from foliot.adapters.storage.shared.documents import decode_names, encode, encode_names, read_column, storable
from foliot.adapters.storage.shared.row_types import Count, Moment, instant_of, read_row, salvage_row, tick_in
from foliot.adapters.storage.shared.rows import Row, job_of, read_rows
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
from foliot.ports.definitions import JobsBehind, WorkflowVersion

_WORKFLOW: Final = msgspec.json.Decoder(WorkflowSpec)
_BODY: Final = msgspec.json.Decoder(ExecutionBody)
_NO_BODY: Final = '{"params":{},"jobs":{}}'


def as_stored_workflow(spec: WorkflowSpec) -> WorkflowSpec:
    """Return the specification as it will be read back: a tuple in a payload becomes a list, which is not a change."""
    return _WORKFLOW.decode(encode(spec))


def decode_workflow_spec(document: str) -> WorkflowSpec:
    return _WORKFLOW.decode(document)


def decode_body_jobs(document: str) -> Mapping[JobId, JobSpec]:
    """Return the jobs that were copied into an execution when it began."""
    return _BODY.decode(document).jobs


def jobs_behind(versions: Iterable[WorkflowVersion]) -> dict[JobId, JobSpec]:
    """Return the jobs that implement these versions."""
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
    """Return the newest versions that can be read. An unreadable version is replaced by a new one."""
    return {known.workflow_id: known for known in read_rows(version_of, rows)[0]}


class NamedJobs(NamedTuple):
    """The jobs that workflow versions name."""

    jobs: set[JobId]
    unreadable: set[str]
    """Workflows with an unreadable version: the jobs of their steps are known only by their names."""

    @classmethod
    def by(cls, rows: Sequence[Row]) -> "NamedJobs":
        versions, errors = read_rows(version_of, rows)
        unreadable = {error.name for error in errors}
        return cls({*jobs_behind(versions), *map(JobId, unreadable)}, unreadable)


def behind_of(project: str, rows: Sequence[Row], named: NamedJobs) -> JobsBehind:
    """Return which of these jobs are removed with their workflows.

    An unreadable job is removed only if a version names it or its document marks it as part of a workflow. A name in
    the form of a step is not enough: it may be an independent job.
    """
    jobs, errors = read_rows(partial(job_of, project), rows)
    unreadable = {JobId(error.name) for error in errors}
    parts = {job.id for job in jobs if is_part_of_workflow(job.spec)}
    known = named.jobs | ({row[0] for row in rows if _is_marked_part_of_workflow(row[1])} if unreadable else set())
    return JobsBehind(parts | (unreadable & known), unreadable - known)


def _is_marked_part_of_workflow(document: Any) -> bool:
    """Whether a definition that cannot be decoded as a job is marked as part of a workflow."""
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
    """Decode the columns of `TreeRow`. A tree that cannot be read has an error and the readable columns."""
    known, error = salvage_row(TreeRow, row[:TREE_COLUMNS], "execution", row[0])
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
    """Return run_id, project, kind, job_id, version, state, open, opened_at, root_id, depth, held, progress, size,
    deadline, cancel_at, is_ending."""
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
    """Decode the columns of `ExecutionRow`."""
    return _execution(read_row(ExecutionRow, row, "execution", row[0]))


def shown_execution_of(row: Row) -> Execution:
    """Decode an execution for display: one that cannot be read has an error and the readable columns."""
    try:
        return execution_of(row)
    except RowUnreadable as error:
        known, _ = salvage_row(ExecutionRow, (*row[:5], _NO_BODY, None, *row[7:]), "execution", row[0])
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
    """Decode waiting, blockers, result, step_run_id, reason."""
    waiting, blockers, result, run_id, reason = row
    names = () if blockers is None else read_column(decode_names, blockers, "step", name)
    return StepState(
        waiting, names, None if result is None else read_column(Result, result, "step", name), run_id, reason
    )


def shown_state_of(name: str, row: Row) -> StepState:
    """Decode a step for display. A step that cannot be read has only its counter, its result and its run."""
    try:
        return state_of(name, row)
    except RowUnreadable as error:
        waiting, _, result, run_id, _ = row
        known = next((one for one in Result if one == result), None)
        return StepState(waiting, (), known, run_id, error.message)


class StepRunRow(Struct, array_like=True, frozen=True):
    """The columns of a step's run; `status` is the displayed one."""

    status: Status | None
    reason: str | None
    error: str | None


def record_of(name: str, state: StepState, run: Row | None) -> StepRecord:
    """Build a step record, with the columns of `StepRunRow` if the step has a run."""
    if run is None:
        return StepRecord(name, state)
    known, error = salvage_row(StepRunRow, run, "run", state.run_id)
    return StepRecord(name, state, known.status, known.reason, known.error if error is None else error.message)


def state_row(state: StepState) -> Row:
    """Return waiting, blockers, result, step_run_id, reason."""
    blockers = encode_names(state.blockers) if state.blockers else None
    result = None if state.result is None else state.result.value
    return state.waiting, blockers, result, state.run_id, storable(state.reason)


def note_of(row: Row) -> Note:
    """Decode run_id, child_key, status, exit_code, duration. Without a key the note is about the tree itself."""
    run_id, child_key, status, exit_code, duration = row
    return Note(run_id) if child_key is None else Note(run_id, child_key, _ended(status), exit_code, duration)


def _ended(status: object) -> Status:
    """Return how a child ended. A status that cannot be read counts as failed, so that the tree can continue."""
    return next((known for known in Status if known == status), Status.FAILED)


def step_output_of(row: Row) -> StepOutput:
    """Decode result, step_run_id, exit_code, output."""
    result, run_id, exit_code, output = row
    known = None if run_id is None else RunId(run_id)
    known_result = None if result is None else read_column(Result, result, "step of run", run_id)
    return StepOutput(known_result, known, run_output_of(exit_code, output))


def run_output_of(exit_code: int | None, output: Any) -> RunOutput:
    """Decode an output: SQLite stores bytes, PostgreSQL text."""
    return RunOutput(exit_code=exit_code, output=output.encode() if isinstance(output, str) else output)
