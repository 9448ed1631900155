"""Gives jobs other ids (`domain.deploy.rename`), in all rows that name them. A job in use is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.event_items import renamed_jobs
from foliot.adapters.storage.shared.renames import schedule_document
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite import admission
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.job_use import refuse_jobs_in_use
from foliot.adapters.storage.sqlite.references import find_references, rename_references
from foliot.domain.deploy.rename import Rename, aside, limit_prefix, possible_renames, renamed_schedule_id
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.limits import job_limit

SQL: Final = load_queries(Path(__file__).parent / "sql" / "renames.sql")
_JOBS: Final = load_queries(Path(__file__).parent / "sql" / "jobs.sql")
_BY_NAME: Final = (
    *("yield_dedupe", "rename_dedupe", "rename_watched", "rename_endings"),
    *("rename_versions", "rename_paused_steps", "rename_questions", "rename_executions"),
)
"""What bears the name of a job, or of the workflow behind it."""
_SET_ASIDE: Final = ("set_aside_executions", "set_aside_paused_steps", "set_aside_versions")


def rename_jobs(tx: Transaction, project: str, renames: Mapping[JobId, JobId], now: Instant) -> dict[JobId, JobId]:
    names = encode_names({*renames, *renames.values()})
    existing = {JobId(row[0]) for row in tx.rows(_JOBS["get_jobs"], (project, names))}
    possible = possible_renames(renames, existing)
    if not possible:
        return {}
    references = find_references(tx, project, dict(possible))
    refuse_jobs_in_use(tx, project, dict(possible), references)
    rename_references(tx, project, references, now)
    revisions = {one.new: _rename(tx, project, one, now) for one in possible}
    add_event(tx, now, EventKind.JOB_RENAMED, renamed_jobs(possible, revisions))
    return dict(possible)


def _rename(tx: Transaction, project: str, one: Rename, now: Instant) -> int:
    old, new = one
    revision: int = tx.value(SQL["rename_job"], (old, new, now, project))
    tx.run(_JOBS["raise_revision_floor"], (revision,))
    tx.run(SQL["rename_runs"], (old, new, limit_prefix(old), limit_prefix(new), project))
    for query in _SET_ASIDE:
        tx.run(SQL[query], (old, new, project, aside(new, revision)))
    for query in _BY_NAME:
        tx.run(SQL[query], (old, new, project))
    _rename_limit(tx, job_limit(old, 1).key, job_limit(new, 1).key)
    _rename_schedules(tx, project, one, now)
    return revision


def _rename_limit(tx: Transaction, old: str, new: str) -> None:
    """Whoever holds or awaits a place does so under the new name; who runs gives it back by its own id."""
    tx.run(SQL["copy_limit"], (old, new))
    tx.run(SQL["remove_limit"], (old,))
    tx.run(SQL["rename_holds"], (old, new))
    admission.admit_keys(tx, {new})


def _rename_schedules(tx: Transaction, project: str, one: Rename, now: Instant) -> None:
    changed: list[list[Any]] = []
    for uid, schedule_id, spec, is_deleted in tx.rows(SQL["schedules_of_job"], (project, one.old)):
        name = _free_name(tx, project, ScheduleId(schedule_id), one, is_deleted=bool(is_deleted))
        document = schedule_document(spec, schedule_id, one)
        version = tx.value(SQL["rename_schedule"], (uid, name, one.new, document, now))
        _rename_revisions(tx, uid, ScheduleId(schedule_id), one)
        if name != schedule_id:
            tx.run(SQL["rename_runs_of_schedule"], (uid, schedule_id, name, project))
        if not is_deleted:
            changed.append([name, uid, version])
    add_event(tx, now, EventKind.SCHEDULE_CHANGED, changed)


def _free_name(tx: Transaction, project: str, schedule_id: ScheduleId, one: Rename, *, is_deleted: bool) -> ScheduleId:
    name = renamed_schedule_id(schedule_id, one)
    if name == schedule_id or is_deleted or tx.value(SQL["is_taken"], (project, name)) is None:
        return name
    return schedule_id


def _rename_revisions(tx: Transaction, uid: ScheduleUid, schedule_id: ScheduleId, one: Rename) -> None:
    rows = [
        (schedule_document(spec, schedule_id, one), uid, number)
        for number, spec in tx.rows(SQL["revision_specs"], (uid,))
    ]
    tx.run_many(SQL["rename_revision"], rows)
