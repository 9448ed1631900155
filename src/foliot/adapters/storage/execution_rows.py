"""Rows about workflows and their executions become values, and values rows, whatever the database."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.adapters.storage.documents import decode, decode_names, encode, encode_names, legible, storable
from foliot.adapters.storage.rows import Row
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job import JobSpec
from foliot.domain.run import Status, Tick
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution, Note, StepFacts, Unsettled
from foliot.domain.workflow.facts import Facts
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import RowUnreadable
from foliot.ports.executions import WorkflowVersion

_WORKFLOW: Final = msgspec.json.Decoder(WorkflowSpec)
_JOBS: Final = msgspec.json.Decoder(dict[JobId, JobSpec])


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
    known = legible(_WORKFLOW.decode, spec, "workflow", f"{workflow_id} version {version}")
    return WorkflowVersion(workflow_id, version, known, created_at)


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
        legible(decode, params, "execution", run_id),
        legible(_JOBS.decode, jobs, "execution", run_id),
        None if uid is None else Tick(uid, schedule_id, Instant(moment), key),
        opened_at,
        deadline,
        cancel_at,
        bool(is_ending),
        revision,
        moment,
    )


def unsettled_of(row: Row, notes: Sequence[Note], now: Instant) -> Unsettled:
    """Of an execution that cannot be read, what is not a document."""
    try:
        return Unsettled(execution_of(row), notes, now)
    except RowUnreadable as error:
        return Unsettled(execution_of((*row[:5], "{}", "{}", *row[7:])), notes, now, error)


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
    names = () if blockers is None else legible(decode_names, blockers, "step", name)
    return StepState(waiting, names, None if result is None else Result(result), run_id, reason)


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
