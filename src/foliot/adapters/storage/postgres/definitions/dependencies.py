"""The verbs that change dependencies between jobs: adding and removing edges, and deleting what has some.

The workflows of units (`domain.workflow.dependencies`) are stored in the transaction that changes the edges. Such a
transaction locks the table of edges first, then jobs.
"""

from collections.abc import Collection
from functools import partial

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction, merge_lists
from foliot.adapters.storage.postgres.database.values import columns, storable_names
from foliot.adapters.storage.postgres.definitions.jobs import delete_jobs, put_jobs
from foliot.adapters.storage.postgres.definitions.workflows import delete_workflows, put_workflows
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.adapters.storage.postgres.rows.cancel import cancel_unstarted
from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.tree_rows import as_stored_workflow, jobs_behind
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


class DependencyDefinitions:
    """The verbs about dependencies, see `PostgresDefinitions`."""

    _database: Database
    _admitter: Admitter
    _project: str

    async def dependencies(self) -> Dependencies:
        return await _read(self._database, self._project)

    async def add_dependency(self, child: JobId, parent: JobId, when: Conditions, *, at: Instant | None = None) -> None:
        work = partial(_add, project=self._project, child=child, parent=parent, when=when, at=at)
        await self._database.write("add_dependency", work)

    async def remove_dependency(self, child: JobId, parent: JobId, *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run("lock_dependencies")
            before = await _read(transaction, self._project)
            after = without_edge(before, child, parent)
            if after != before:
                await transaction.run("remove_dependencies", self._project, child, parent)
                await transaction.now(at)
                transaction.record(changes.dependency(child, parent, None))
                await _store_units(transaction, self._project, before, after, at)

        await self._database.write("remove_dependency", work)

    async def delete_jobs(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        if not job_ids:
            return []
        names = storable_names(job_ids)

        async def work(transaction: Transaction) -> list[JobId]:
            await transaction.run("lock_dependencies")
            now = await transaction.now(at)
            deleted = await delete_jobs(transaction, self._project, names, now)
            if deleted:
                runs = await transaction.column("unstarted_runs_of_jobs", self._project, list(deleted))
                await cancel_unstarted(transaction, runs, now)
                await _remove_jobs(transaction, self._project, deleted, at)
            return [job_id for job_id in names if job_id in deleted]

        return await self._admitter.write("delete_jobs", work, at, merge=merge_lists)

    async def delete_workflows(self, workflow_ids: Collection[str], *, at: Instant | None = None) -> list[str]:
        if not workflow_ids:
            return []
        names = storable_names(workflow_ids)

        async def work(transaction: Transaction) -> list[str]:
            await transaction.run("lock_dependencies")
            deleted, jobs = await delete_workflows(transaction, self._project, names, await transaction.now(at))
            await _remove_jobs(transaction, self._project, jobs, at)
            return deleted

        return await self._admitter.write("delete_workflows", work, at, merge=merge_lists)


async def _read(source: Database | Transaction, project: str) -> Dependencies:
    return read_dependencies([tuple(row) for row in await source.rows("dependencies", project)])


async def _add(
    transaction: Transaction, *, project: str, child: JobId, parent: JobId, when: Conditions, at: Instant | None
) -> None:
    await transaction.run("lock_dependencies")
    known = {row["id"] for row in await transaction.rows("lock_jobs", project, sorted({child, parent}))}
    if missing := sorted({child, parent} - known):
        raise NotFound("job", missing[0])
    before = await _read(transaction, project)
    after = with_edge(before, child, parent, when)
    if after == before:
        return
    unit = unit_of(after, child)
    if unit is not None and len(unit.roots) > 1:
        scheduled = await transaction.column("scheduled_jobs", project, list(unit.roots))
        refuse_separate_starts(child, scheduled)
    await transaction.now(at)
    transaction.record(changes.dependency(child, parent, when))
    await transaction.run("add_dependencies", project, child, parent, sorted(when))
    await _store_units(transaction, project, before, after, at)


async def _remove_jobs(transaction: Transaction, project: str, job_ids: Collection[JobId], at: Instant | None) -> None:
    before = await _read(transaction, project)
    after = without_jobs(before, job_ids)
    if after != before:
        await transaction.run("remove_dependencies_of_jobs", project, list(job_ids))
        await _store_units(transaction, project, before, after, at)


async def _store_units(
    transaction: Transaction, project: str, before: Dependencies, after: Dependencies, at: Instant | None
) -> None:
    """Store the workflow of each unit that is new or has changed, and what the schedules of jobs start."""
    workflows, leads = changes_of(before, after)
    await transaction.rows("lock_jobs", project, sorted({*workflows, *leads}))
    if workflows:
        specs = {workflow_id: as_stored_workflow(spec) for workflow_id, spec in workflows.items()}
        versions = await put_workflows(transaction, project=project, specs=specs, at=at)
        await put_jobs(transaction, project=project, jobs=jobs_behind(versions.values()), at=at)
    if leads:
        await transaction.run("set_leads", project, *columns(sorted(leads.items())))
