"""Renames jobs (`domain.deploy.rename`) in all rows that name them. Renaming a job in use is refused.

Definitions that name the jobs are changed first, then runs, then limits: the order in which a finished attempt locks
them. A worker knows its runs by their ids, so running attempts are not affected.

The jobs of these definitions, including those of workflows, are locked together with the renamed ones, before anything
else. An execution is opened, and a run placed before its gate, only under a shared lock of its job. Therefore a row
that names a renamed job is stored either before the rename searches for it, or after the rename.
"""

from collections.abc import Mapping
from typing import Final

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.shared import changes
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
from foliot.domain.deploy.rename import Names, Rename, aside, limit_prefix, possible_renames, renamed_schedule_id
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.run.limits import job_limit

_BY_NAME: Final = (
    *("yield_keys", "rename_keys", "rename_watched", "rename_endings", "rename_versions"),
    *("rename_paused_steps", "rename_questions", "rename_trees"),
    *("rename_leads", "rename_children", "rename_parents"),
)
"""Tables with the id of a job, or of its workflow."""
_SET_ASIDE: Final = ("set_aside_trees", "set_aside_paused_steps", "set_aside_versions")


async def rename_jobs(
    transaction: Transaction, project: str, renames: Mapping[JobId, JobId], now: Instant
) -> dict[JobId, JobId]:
    await transaction.run("lock_dependencies")
    referring = await _referring_jobs(transaction, project, renames)
    rows = await transaction.rows("lock_jobs", project, sorted({*renames, *renames.values(), *referring}))
    possible = possible_renames(renames, {JobId(row["id"]) for row in rows})
    if not possible:
        return {}
    references = await _find_references(transaction, project, dict(possible))
    await _refuse_jobs_in_use(transaction, project, dict(possible), references)
    await _rename_references(transaction, project, references, now)
    revisions = {one.new: await _rename(transaction, project, one, now) for one in possible}
    transaction.add_event(EventKind.JOB_RENAMED, renamed_jobs(possible, revisions))
    transaction.record(changes.renamed_jobs(possible))
    return dict(possible)


# -- definitions that name the jobs


async def _referring_jobs(transaction: Transaction, project: str, names: Names) -> set[JobId]:
    """Return jobs, including those of workflows, that may name one of these jobs."""
    text = common_text(names)
    jobs = await transaction.column("jobs_that_name", project, text)
    return {*jobs, *await transaction.column("workflows_that_name", project, text)}


async def _find_references(transaction: Transaction, project: str, names: Names) -> References:
    text = common_text(names)
    jobs = await transaction.rows("lock_jobs_that_name", project, text)
    versions = await transaction.rows("versions_that_name", project, text)
    return References(references_in_jobs(jobs, names), references_in_versions(versions, names))


async def _rename_references(transaction: Transaction, project: str, references: References, now: Instant) -> None:
    """Store the changed definitions. Must be called before the jobs themselves get their new ids."""
    jobs = [(job_id, one.document) for job_id, one in references.jobs.items()]
    if jobs:
        await transaction.run("change_jobs", project, *columns(jobs))
    versions = [(*key, one.document) for key, one in references.versions.items()]
    if versions:
        await transaction.run("change_versions", project, *columns(versions))
    if references.changed_jobs:
        risen = await transaction.rows("raise_revisions", now, project, sorted(references.changed_jobs))
        transaction.add_event(EventKind.JOB_CHANGED, [list(row) for row in risen])


async def _refuse_jobs_in_use(transaction: Transaction, project: str, names: Names, references: References) -> None:
    """Raise `JobInUse` if an open execution, an opening or a waiting gate names one of these jobs."""
    uses = columns(execution_uses(names, references))
    for row in await transaction.rows("execution_that_names", project, *uses):
        raise used_by_execution(*row)
    for run_id, workflow_id, body in await transaction.rows("copies_that_name", project, common_text(names)):
        if (named := named_in_copies(body, names)) is not None:
            raise used_by_execution(named, run_id, workflow_id)
    starting = opening_uses(names, references)
    for row in await transaction.rows("opening_that_names", project, list(starting)):
        raise used_by_opening(starting[row[1]], *row)
    gated = gate_uses(names, references)
    for row in await transaction.rows("gate_that_names", project, list(gated)):
        raise used_by_gate(gated[row[1]], *row)


# -- the jobs themselves


async def _rename(transaction: Transaction, project: str, one: Rename, now: Instant) -> int:
    old, new = one
    revision: int = await transaction.value("rename_job", old, new, now, project)
    await transaction.run("raise_revision_floor", revision)
    await _rename_schedules(transaction, project, one, now)
    await transaction.run("rename_runs", old, new, limit_prefix(old), limit_prefix(new), project)
    for query in _SET_ASIDE:
        await transaction.run(query, old, new, project, aside(new, revision))
    for query in _BY_NAME:
        await transaction.run(query, old, new, project)
    await _rename_limit(transaction, job_limit(old, 1).key, job_limit(new, 1).key)
    return revision


async def _rename_limit(transaction: Transaction, old: str, new: str) -> None:
    capacity = await transaction.value("take_limit", old)
    if capacity is not None:
        await transaction.run("put_limits", [new], [capacity])
    await transaction.run("rename_holds", old, new)
    transaction.keys.add(new)


async def _rename_schedules(transaction: Transaction, project: str, one: Rename, now: Instant) -> None:
    rows = await transaction.rows("lock_schedules_of_job", project, one.old)
    if not rows:
        return
    wanted = {row["uid"]: renamed_schedule_id(ScheduleId(row["id"]), one) for row in rows}
    taken = set(await transaction.column("taken_names", project, list(wanted.values())))
    names = {
        row["uid"]: row["id"] if row["deleted_at"] is None and wanted[row["uid"]] in taken else wanted[row["uid"]]
        for row in rows
    }
    specs = [(row["uid"], names[row["uid"]], schedule_document(row["spec"], row["id"], one)) for row in rows]
    changed = await transaction.rows("rename_schedules", one.new, now, *columns(specs))
    await _rename_revisions(transaction, {row["uid"]: ScheduleId(row["id"]) for row in rows}, one)
    moved = [(row["uid"], names[row["uid"]]) for row in rows if names[row["uid"]] != row["id"]]
    if moved:
        await transaction.run("rename_runs_of_schedules", *columns(moved))
    living = [[row["id"], row["uid"], row["version"]] for row in changed if row["deleted_at"] is None]
    transaction.add_event(EventKind.SCHEDULE_CHANGED, living)


async def _rename_revisions(transaction: Transaction, names: Mapping[str, ScheduleId], one: Rename) -> None:
    rows = await transaction.rows("revisions", list(names))
    changed = [(row["uid"], row["number"], schedule_document(row["spec"], names[row["uid"]], one)) for row in rows]
    await transaction.run("rename_revisions", *columns(changed))
