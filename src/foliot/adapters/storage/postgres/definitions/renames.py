"""Gives jobs other ids (`domain.deploy.rename`), in all rows that name them. A job in use is refused.

Definitions that name them come first (`references`), then runs, then limits: the order in which a finished attempt
locks them. A worker knows its runs by their ids, so it finishes the attempts that are under way.
"""

from collections.abc import Mapping
from typing import Final

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.job_use import refuse_jobs_in_use
from foliot.adapters.storage.postgres.references import find_references, referring_jobs, rename_references
from foliot.adapters.storage.shared.event_items import renamed_jobs
from foliot.adapters.storage.shared.renames import schedule_document
from foliot.domain.deploy.rename import Rename, aside, limit_prefix, possible_renames, renamed_schedule_id
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.run.limits import job_limit

_BY_NAME: Final = (
    *("yield_keys", "rename_keys", "rename_watched", "rename_endings", "rename_versions"),
    *("rename_paused_steps", "rename_questions", "rename_trees"),
)
"""What bears the name of a job, or of the workflow behind it."""
_SET_ASIDE: Final = ("set_aside_trees", "set_aside_paused_steps", "set_aside_versions")


async def rename_jobs(
    transaction: Transaction, project: str, renames: Mapping[JobId, JobId], now: Instant
) -> dict[JobId, JobId]:
    referring = await referring_jobs(transaction, project, renames)
    rows = await transaction.rows("lock_jobs", project, sorted({*renames, *renames.values(), *referring}))
    possible = possible_renames(renames, {JobId(row["id"]) for row in rows})
    if not possible:
        return {}
    references = await find_references(transaction, project, dict(possible))
    await refuse_jobs_in_use(transaction, project, dict(possible), references)
    await rename_references(transaction, project, references, now)
    revisions = {one.new: await _rename(transaction, project, one, now) for one in possible}
    transaction.note(EventKind.JOB_RENAMED, renamed_jobs(possible, revisions))
    return dict(possible)


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
    transaction.note(EventKind.SCHEDULE_CHANGED, living)


async def _rename_revisions(transaction: Transaction, names: Mapping[str, ScheduleId], one: Rename) -> None:
    rows = await transaction.rows("revisions", list(names))
    changed = [(row["uid"], row["number"], schedule_document(row["spec"], names[row["uid"]], one)) for row in rows]
    await transaction.run("rename_revisions", *columns(changed))
