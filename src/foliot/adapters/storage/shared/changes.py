"""Builds the entries of the audit trail, the same for every database.

Jobs that Foliot makes for the steps of a workflow have no entries, because the workflow has one. Workflows that are
made of dependencies between jobs have none either, because the dependency has one.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from msgspec import Struct

from foliot.domain.access.trail import AuditAction, AuditKind, ChangeRecord, Document
from foliot.domain.alert import Alert
from foliot.domain.deploy.difference import differences, public_fields
from foliot.domain.deploy.rename import Rename
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import to_iso
from foliot.domain.job.job import JobSpec
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer, Marked
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.workflow.jobs import is_part_of_workflow
from foliot.ports.definitions import WorkflowVersion

Name = TypeVar("Name", bound=str)
Spec = TypeVar("Spec", bound=Struct)

_CANCELS: Final = frozenset({CancelAnswer.CANCELLED, CancelAnswer.REQUESTED})
_MARKS: Final = frozenset({MarkAnswer.MARKED, MarkAnswer.RECORDED})


# -- definitions


def put_jobs(before: Mapping[JobId, JobSpec], after: Mapping[JobId, JobSpec]) -> list[ChangeRecord]:
    own = {job_id: spec for job_id, spec in after.items() if not is_part_of_workflow(spec)}
    return _put(AuditKind.JOB, before, own)


def put_schedules(before: Iterable[Schedule], after: Iterable[Schedule]) -> list[ChangeRecord]:
    former = {one.id: one.revision.spec for one in before}
    return _put(AuditKind.SCHEDULE, former, {one.id: one.revision.spec for one in after})


def put_workflows(before: Iterable[WorkflowVersion], after: Iterable[WorkflowVersion]) -> list[ChangeRecord]:
    former = {one.workflow_id: one.spec for one in before}
    added = [one for one in after if one.spec.source != "foliot"]
    records = _put(AuditKind.WORKFLOW, former, {one.workflow_id: one.spec for one in added})
    versions: dict[str, Document] = {one.workflow_id: {"version": one.version} for one in added}
    return [one._replace(after={**(one.after or {}), **versions[one.id]}) for one in records]


def _put(kind: AuditKind, before: Mapping[Name, Spec], after: Mapping[Name, Spec]) -> list[ChangeRecord]:
    return [_changed(kind, name, before.get(name), spec) for name, spec in after.items()]


def _changed(kind: AuditKind, name: str, before: Struct | None, after: Struct) -> ChangeRecord:
    if before is None:
        return ChangeRecord(AuditAction.CREATE, kind, name, None, public_fields(after))
    fields = differences(before, after)
    old, new = {one.field: one.before for one in fields}, {one.field: one.after for one in fields}
    return ChangeRecord(AuditAction.CHANGE, kind, name, old, new)


def deleted_jobs(before: Mapping[JobId, JobSpec | None]) -> list[ChangeRecord]:
    """None: the definition could not be read."""
    return [
        ChangeRecord(AuditAction.DELETE, AuditKind.JOB, job_id, None if spec is None else public_fields(spec))
        for job_id, spec in before.items()
        if spec is None or not is_part_of_workflow(spec)
    ]


def deleted_schedules(schedules: Iterable[Schedule]) -> list[ChangeRecord]:
    return [
        ChangeRecord(AuditAction.DELETE, AuditKind.SCHEDULE, one.id, public_fields(one.revision.spec))
        for one in schedules
    ]


def deleted_workflows(newest: Mapping[str, int]) -> list[ChangeRecord]:
    return [
        ChangeRecord(AuditAction.DELETE, AuditKind.WORKFLOW, workflow_id, {"version": version})
        for workflow_id, version in newest.items()
    ]


def renamed_jobs(renames: Iterable[Rename]) -> list[ChangeRecord]:
    """Each rename is an entry of the new id."""
    return [
        ChangeRecord(AuditAction.RENAME, AuditKind.JOB, one.new, {"id": one.old}, {"id": one.new}) for one in renames
    ]


def paused(kind: AuditKind, ids: Iterable[str], *, is_paused: bool) -> list[ChangeRecord]:
    return [ChangeRecord(_pausing(is_paused), kind, name) for name in ids]


def paused_project(project: str, pause: ProjectPause, *, is_paused: bool) -> list[ChangeRecord]:
    until = None if pause.ends_at is None else to_iso(pause.ends_at)
    after = {"until": until, "note": pause.note} if is_paused else None
    return [ChangeRecord(_pausing(is_paused), AuditKind.PROJECT, project, None, after)]


def step_id(workflow_id: str, step: str) -> str:
    return f"{workflow_id}/{step}"


def dependency(child: JobId, parent: JobId, conditions: Iterable[str] | None) -> list[ChangeRecord]:
    """Conditions of None: the edge was removed."""
    name = f"{child}/{parent}"
    if conditions is None:
        return [ChangeRecord(AuditAction.DELETE, AuditKind.DEPENDENCY, name)]
    return [ChangeRecord(AuditAction.CREATE, AuditKind.DEPENDENCY, name, None, {"conditions": sorted(conditions)})]


def _pausing(is_paused: bool) -> AuditAction:
    return AuditAction.PAUSE if is_paused else AuditAction.RESUME


# -- runs


def created_runs(runs: Iterable[NewRun]) -> list[ChangeRecord]:
    return [
        ChangeRecord(AuditAction.TRIGGER, AuditKind.RUN, run.id, None, {"job_id": run.job_id, "trigger": run.trigger})
        for run in runs
    ]


def cancelled_runs(answers: Mapping[RunId, CancelAnswer]) -> list[ChangeRecord]:
    changed = [run_id for run_id, answer in answers.items() if answer in _CANCELS]
    return [ChangeRecord(AuditAction.CANCEL, AuditKind.RUN, run_id) for run_id in changed]


def answered_runs(ends: Mapping[RunId, Ended]) -> list[ChangeRecord]:
    yes, no = AuditAction.APPROVE, AuditAction.REJECT
    return [
        ChangeRecord(yes if ended.status is Status.SUCCESS else no, AuditKind.RUN, run_id)
        for run_id, ended in ends.items()
    ]


def marked_runs(answers: Mapping[RunId, Marked]) -> list[ChangeRecord]:
    """A run that has ended stays as it is: the run that replaces it is in `after`."""
    return [
        ChangeRecord(
            *(AuditAction.MARK, AuditKind.RUN, run_id),
            after={"run_id": marked.run_id} if marked.run_id != run_id else None,
        )
        for run_id, marked in answers.items()
        if marked.answer in _MARKS
    ]


def changed_class(key: str, cancels: Iterable[RunId], alerts: Iterable[Alert]) -> list[ChangeRecord]:
    """The chains that were cancelled with their class, and what the alerts about it say."""
    after = {"cancelled": list(cancels), "alerts": [{"kind": one.kind, **one.facts} for one in alerts]}
    return [ChangeRecord(AuditAction.CHANGE, AuditKind.CHAINS, key, None, after)]


# -- DSNs


def put_dsn(name: str, engine: str, *, is_new: bool) -> list[ChangeRecord]:
    action = AuditAction.CREATE if is_new else AuditAction.CHANGE
    return [ChangeRecord(action, AuditKind.DSN, name, None, {"engine": engine})]


def removed_dsns(names: Iterable[str]) -> list[ChangeRecord]:
    return [ChangeRecord(AuditAction.DELETE, AuditKind.DSN, name) for name in names]
