"""Renames jobs (`domain.deploy.rename`) in all rows that name them. Renaming a job in use is refused.

Gates and versions of workflows that name a renamed job are stored with the new id. The job of a workflow whose versions
change gets a higher revision, so that a cached version is read again.
"""

from collections.abc import Mapping
from typing import Any, Final

from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.shared.event_items import renamed_jobs
from foliot.adapters.storage.shared.renames import (
    References,
    common_text,
    execution_uses,
    gate_uses,
    named_in_copies,
    opening_uses,
    references_in_jobs,
    references_in_versions,
    schedule_document,
    used_by_execution,
    used_by_gate,
    used_by_opening,
)
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.admit import admit_keys
from foliot.domain.deploy.rename import Names, Rename, aside, limit_prefix, possible_renames, renamed_schedule_id
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.run.limits import job_limit

_BY_NAME: Final = (
    *("yield_keys", "rename_keys", "rename_watched", "rename_endings"),
    *("rename_versions", "rename_paused_steps", "rename_questions", "rename_trees"),
    *("rename_leads", "rename_children", "rename_parents"),
)
"""Tables with the id of the job, or of its workflow."""
_SET_ASIDE: Final = ("set_aside_trees", "set_aside_paused_steps", "set_aside_versions")


def rename_jobs(tx: Transaction, project: str, renames: Mapping[JobId, JobId], now: Instant) -> dict[JobId, JobId]:
    names = encode_names({*renames, *renames.values()})
    existing = set(tx.column(SQL["get_jobs"], (project, names)))
    possible = possible_renames(renames, existing)
    if not possible:
        return {}
    references = _find_references(tx, project, dict(possible))
    _refuse_jobs_in_use(tx, project, dict(possible), references)
    _rename_references(tx, project, references, now)
    revisions = {one.new: _rename(tx, project, one, now) for one in possible}
    tx.add_event(now, EventKind.JOB_RENAMED, renamed_jobs(possible, revisions))
    tx.record(now, changes.renamed_jobs(possible))
    return dict(possible)


def _find_references(tx: Transaction, project: str, names: Names) -> References:
    text = common_text(names)
    jobs = references_in_jobs(tx.rows(SQL["jobs_that_name"], (project, text)), names)
    return References(jobs, references_in_versions(tx.rows(SQL["versions_that_name"], (project, text)), names))


def _rename_references(tx: Transaction, project: str, references: References, now: Instant) -> None:
    """Store the changed definitions. Must be called before the jobs themselves get their new ids."""
    jobs, versions = references
    tx.run_many(SQL["change_jobs"], [(one.document, project, job_id) for job_id, one in jobs.items()])
    tx.run_many(SQL["change_versions"], [(one.document, project, *key) for key, one in versions.items()])
    risen = tx.rows(SQL["raise_revisions"], (now, project, encode_names(references.changed_jobs)))
    tx.add_event(now, EventKind.JOB_CHANGED, [list(row) for row in risen])


def _refuse_jobs_in_use(tx: Transaction, project: str, names: Names, references: References) -> None:
    """Raise `JobInUse` if an open execution, an opening or a waiting gate names one of these jobs."""
    _refuse_open_executions(tx, project, names, references)
    starting = opening_uses(names, references)
    if (row := tx.row(SQL["opening_that_names"], (project, encode_names(starting)))) is not None:
        raise used_by_opening(starting[row[1]], *row)
    gated = gate_uses(names, references)
    if (row := tx.row(SQL["gate_that_names"], (project, encode_names(gated)))) is not None:
        raise used_by_gate(gated[row[1]], *row)


def _refuse_open_executions(tx: Transaction, project: str, names: Names, references: References) -> None:
    row = tx.row(SQL["execution_that_names"], (project, encode(execution_uses(names, references))))
    if row is not None:
        raise used_by_execution(*row)
    for run_id, workflow_id, jobs in tx.rows(SQL["copies_that_name"], (project, common_text(names))):
        if (named := named_in_copies(jobs, names)) is not None:
            raise used_by_execution(named, run_id, workflow_id)


def _rename(tx: Transaction, project: str, one: Rename, now: Instant) -> int:
    old, new = one
    revision: int = tx.value(SQL["rename_job"], (old, new, now, project))
    tx.run(SQL["raise_revision_floor"], (revision,))
    tx.run(SQL["rename_runs"], (old, new, limit_prefix(old), limit_prefix(new), project))
    for query in _SET_ASIDE:
        tx.run(SQL[query], (old, new, project, aside(new, revision)))
    for query in _BY_NAME:
        tx.run(SQL[query], (old, new, project))
    _rename_limit(tx, job_limit(old, 1).key, job_limit(new, 1).key)
    _rename_schedules(tx, project, one, now)
    return revision


def _rename_limit(tx: Transaction, old: str, new: str) -> None:
    """Rename the key of held and awaited places. A running run releases its places by its own id."""
    tx.run(SQL["copy_limit"], (old, new))
    tx.run(SQL["remove_limit"], (old,))
    tx.run(SQL["rename_holds"], (old, new))
    admit_keys(tx, {new})


def _rename_schedules(tx: Transaction, project: str, one: Rename, now: Instant) -> None:
    changed: list[list[Any]] = []
    for uid, schedule_id, spec, is_deleted in tx.rows(SQL["schedules_of_job"], (project, one.old)):
        name = _free_name(tx, project, ScheduleId(schedule_id), one, is_deleted=bool(is_deleted))
        document = schedule_document(spec, schedule_id, one)
        version = tx.value(SQL["rename_schedules"], (uid, name, one.new, document, now))
        revisions = tx.rows(SQL["revision_specs"], (uid,))
        rows = [(schedule_document(rule, schedule_id, one), uid, number) for number, rule in revisions]
        tx.run_many(SQL["rename_revisions"], rows)
        if name != schedule_id:
            tx.run(SQL["rename_runs_of_schedules"], (uid, schedule_id, name, project))
        if not is_deleted:
            changed.append([name, uid, version])
    tx.add_event(now, EventKind.SCHEDULE_CHANGED, changed)


def _free_name(tx: Transaction, project: str, schedule_id: ScheduleId, one: Rename, *, is_deleted: bool) -> ScheduleId:
    name = renamed_schedule_id(schedule_id, one)
    if name == schedule_id or is_deleted or tx.value(SQL["taken_names"], (project, name)) is None:
        return name
    return schedule_id
