"""Rows about workflows and their executions become values, and values rows, whatever the database."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from foliot.adapters.storage.documents import decode_names, encode, encode_names, read_column, storable
from foliot.adapters.storage.rows import Row, job_of, sort_out
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job import JobSpec
from foliot.domain.run import Status, Tick
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution, Note, StepFacts
from foliot.domain.workflow.facts import Facts
from foliot.domain.workflow.jobs import is_part_of_workflow, jobs_of
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import RowUnreadable
from foliot.ports.executions import Behind, WorkflowVersion

_WORKFLOW: Final = msgspec.json.Decoder(WorkflowSpec)
_JOBS: Final = msgspec.json.Decoder(dict[JobId, JobSpec])
_PARAMS: Final = msgspec.json.Decoder(dict[str, Any])


def as_stored_workflow(spec: WorkflowSpec) -> WorkflowSpec:
    """The specification as it will be read back: a tuple in a payload comes back as a list, and is no change."""
    return _WORKFLOW.decode(encode(spec))


def decode_workflow_spec(document: str) -> WorkflowSpec:
    return _WORKFLOW.decode(document)


def decode_jobs(document: str) -> dict[JobId, JobSpec]:
    return _JOBS.decode(document)


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
    """Those of the jobs that go with their workflows. One that cannot be read goes if a version names it: a name that
    only looks like that of a step may be anybody's."""
    jobs, errors = sort_out(partial(job_of, project), rows)
    unreadable = {JobId(error.name) for error in errors}
    parts = {job.id for job in jobs if is_part_of_workflow(job.spec)}
    return Behind(parts | (unreadable & named.jobs), unreadable - named.jobs)


def execution_of(row: Row) -> Execution:
    """run_id, workflow_id, version, state, unresolved, params, jobs, schedule_uid, schedule_id, scheduled_for,
    tick_key, opened_at, deadline, cancel_at, is_ending, revision"""
    run_id, workflow_id, version, state, unresolved, params, jobs, uid, schedule_id, moment, key, *rest = row
    opened_at, deadline, cancel_at, is_ending, revision = rest
    return Execution(
        run_id,
        workflow_id,
        version,
        state,
        unresolved,
        read_column(_PARAMS.decode, params, "execution", run_id),
        read_column(_JOBS.decode, jobs, "execution", run_id),
        None if uid is None else Tick(uid, schedule_id, Instant(moment), key),
        opened_at,
        deadline,
        cancel_at,
        bool(is_ending),
        revision,
        moment,
    )


def sight_of(row: Row) -> Execution:
    """The same; of an execution that cannot be read, what is not a document."""
    try:
        return execution_of(row)
    except RowUnreadable as error:
        return execution_of((*row[:5], "{}", "{}", *row[7:]))._replace(error=error)


def execution_row(project: str, execution: Execution, unresolved: int, cancel_at: Instant | None) -> Row:
    """run_id, project, workflow_id, version, state, unresolved, params, jobs, opened_at, deadline, cancel_at,
    is_ending"""
    return (
        *(execution.run_id, project, execution.workflow_id, execution.version, execution.state, unresolved),
        *(encode(execution.params), encode(execution.jobs), execution.opened_at, execution.deadline, cancel_at),
        execution.is_ending,
    )


def unresolved_in(states: Mapping[str, StepState]) -> int:
    return sum(state.result is None for state in states.values())


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


def state_row(state: StepState) -> Row:
    """waiting, blockers, result, step_run_id, reason"""
    blockers = encode_names(state.blockers) if state.blockers else None
    result = None if state.result is None else state.result.value
    return state.waiting, blockers, result, state.run_id, storable(state.reason)


def note_of(row: Row) -> Note:
    """run_id, item, status, exit_code, output; no item where it is about the execution itself"""
    run_id, item, status, exit_code, output = row
    if item is None:
        return Note(run_id)
    return Note(run_id, item, Status(status), facts_of(exit_code, output))


def step_facts_of(row: Row) -> StepFacts:
    """result, step_run_id, exit_code, output"""
    result, run_id, exit_code, output = row
    known = None if run_id is None else RunId(run_id)
    return StepFacts(None if result is None else Result(result), known, facts_of(exit_code, output))


def facts_of(exit_code: int | None, output: Any) -> Facts:
    """One database keeps outputs as bytes, the other as text."""
    return Facts(exit_code=exit_code, output=output.encode() if isinstance(output, str) else output)
