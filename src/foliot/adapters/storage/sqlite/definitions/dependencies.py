"""The verbs that change dependencies between jobs: adding and removing edges, and deleting what has some.

The workflows of units (`domain.workflow.dependencies`) are stored in the transaction that changes the edges.
"""

from collections.abc import Collection

from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.tree_rows import jobs_behind
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.adapters.storage.sqlite.definitions.jobs import delete_jobs, job_rows, put_jobs
from foliot.adapters.storage.sqlite.definitions.workflows import delete_workflows, put_workflows
from foliot.adapters.storage.sqlite.rows.cancel import cancel_runs
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.workflow.conditions import Conditions
from foliot.domain.workflow.dependencies import (
    Dependencies,
    changes_of,
    read_dependencies,
    refuse_separate_starts,
    unit_of,
    with_edge,
    without_edge,
    without_jobs,
)
from foliot.errors import NotFound


class DependencyDefinitions(PortBase):
    async def dependencies(self) -> Dependencies:
        return await self._reader.read(lambda session: _read(session, self._project))

    async def add_dependency(self, child: JobId, parent: JobId, when: Conditions, *, at: Instant | None = None) -> None:
        await self._writer.submit("add_dependency", lambda tx: _add(tx, self._project, child, parent, when, tx.now(at)))

    async def remove_dependency(self, child: JobId, parent: JobId, *, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            before = _read(tx, self._project)
            if tx.run(SQL["remove_dependencies"], (self._project, child, parent)):
                tx.record(tx.now(at), changes.dependency(child, parent, None))
            _store_units(tx, self._project, before, without_edge(before, child, parent), tx.now(at))

        await self._writer.submit("remove_dependency", work)

    async def delete_jobs(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        def work(tx: Transaction) -> list[JobId]:
            found = delete_jobs(tx, self._project, job_ids, tx.now(at))
            unstarted = tx.column(SQL["unstarted_runs_of_jobs"], (self._project, encode_names(found)))
            cancel_runs(tx, unstarted, tx.now(at))
            _remove_jobs(tx, self._project, found, tx.now(at))
            return [job_id for job_id in dict.fromkeys(job_ids) if job_id in found]

        return await self._writer.submit("delete_jobs", work)

    async def delete_workflows(self, workflow_ids: Collection[str], *, at: Instant | None = None) -> list[str]:
        def work(tx: Transaction) -> list[str]:
            deleted, jobs = delete_workflows(tx, self._project, workflow_ids, tx.now(at))
            _remove_jobs(tx, self._project, jobs, tx.now(at))
            return deleted

        return await self._writer.submit("delete_workflows", work)


def _read(session: Session, project: str) -> Dependencies:
    return read_dependencies(session.rows(SQL["dependencies"], (project,)))


def _add(tx: Transaction, project: str, child: JobId, parent: JobId, when: Conditions, now: Instant) -> None:
    known = {row[0] for row in job_rows(tx, project, [child, parent])}
    if missing := sorted({child, parent} - known):
        raise NotFound("job", missing[0])
    before = _read(tx, project)
    after = with_edge(before, child, parent, when)
    if after == before:
        return
    unit = unit_of(after, child)
    if unit is not None and len(unit.roots) > 1:
        refuse_separate_starts(child, tx.column(SQL["scheduled_jobs"], (project, encode_names(unit.roots))))
    tx.record(now, changes.dependency(child, parent, when))
    tx.run_many(SQL["add_dependencies"], [(project, child, parent, condition) for condition in sorted(when)])
    _store_units(tx, project, before, after, now)


def _remove_jobs(tx: Transaction, project: str, job_ids: Collection[JobId], now: Instant) -> None:
    before = _read(tx, project)
    tx.run(SQL["remove_dependencies_of_jobs"], (project, encode_names(job_ids)))
    _store_units(tx, project, before, without_jobs(before, job_ids), now)


def _store_units(tx: Transaction, project: str, before: Dependencies, after: Dependencies, now: Instant) -> None:
    """Store the workflow of each unit that is new or has changed, and what the schedules of jobs start."""
    workflows, leads = changes_of(before, after)
    versions = put_workflows(tx, project, workflows, now)
    put_jobs(tx, project, list(jobs_behind(versions.values()).items()), now)
    tx.run_many(SQL["set_leads"], [(workflow_id, project, job_id) for job_id, workflow_id in leads.items()])
