"""Stores, reads and deletes workflows. Versions are added and never changed."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.postgres.definitions.jobs import delete_jobs, lock_jobs, pause_jobs, put_jobs
from foliot.adapters.storage.postgres.definitions.schedules import delete_schedules, put_schedules
from foliot.adapters.storage.postgres.rows.cancel import cancel_unstarted
from foliot.adapters.storage.postgres.rows.schedules import pause_stored
from foliot.adapters.storage.postgres.rows.watch import watch_jobs
from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.event_items import about_workflows, deleted_workflows
from foliot.adapters.storage.shared.expected import refuse_changed
from foliot.adapters.storage.shared.rows import Row
from foliot.adapters.storage.shared.tree_rows import (
    NamedJobs,
    as_stored_workflow,
    behind_of,
    jobs_behind,
    newest_of,
    version_of,
)
from foliot.domain.access.trail import AuditKind
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job.job import watched_by
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.workflow.jobs import jobs_of_all
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.ports.definitions import Deployment, JobsBehind, WorkflowVersion

Versions = dict[str, WorkflowVersion]


class WorkflowDefinitions:
    """The calls about workflows, see `PostgresDefinitions`."""

    _database: Database
    _project: str

    async def put_workflows(self, workflows: Mapping[str, WorkflowSpec], *, at: Instant | None = None) -> Versions:
        if not workflows:
            return {}
        specs = {workflow_id: as_stored_workflow(spec) for workflow_id, spec in workflows.items()}
        return await self._database.write(
            "put_workflows", partial(put_workflows, project=self._project, specs=specs, at=at)
        )

    async def deploy(self, deployment: Deployment, *, at: Instant | None = None) -> Versions:
        return await self._database.write("deploy", partial(self._deploy, deployment=deployment, at=at))

    async def _deploy(self, transaction: Transaction, *, deployment: Deployment, at: Instant | None) -> Versions:
        project = self._project
        specs = {workflow_id: as_stored_workflow(spec) for workflow_id, spec in deployment.workflows.items()}
        # Jobs are locked first, in the order in which renaming locks them.
        stored = await lock_jobs(transaction, project, jobs_of_all(specs) | deployment.jobs.keys())
        versions = await put_workflows(transaction, project=project, specs=specs, at=at, expected=deployment.versions)
        jobs = {**jobs_behind(versions.values()), **deployment.jobs}
        if jobs:
            await put_jobs(transaction, project=project, jobs=jobs, at=at, expected=deployment.revisions)
        await watch_jobs(transaction, project, watched_by(jobs))
        schedules: Mapping[ScheduleId, Schedule] = {}
        if deployment.schedules:
            batch = {schedule.id: schedule for schedule in deployment.schedules}
            schedules = await put_schedules(transaction, project=project, batch=batch, at=at)
        now = await transaction.now(at)
        await delete_schedules(transaction, project, deployment.gone, now)
        if deployment.pauses_new:
            await pause_jobs(transaction, project, deployment.jobs.keys() - stored.keys(), now)
            await pause_stored(transaction, deployment.created(schedules.values()), now, paused=True)
        return versions

    async def jobs_behind(self, workflow_id: str) -> JobsBehind:
        versions = await self._database.rows("living_versions", self._project, [workflow_id])
        return await _behind(self._database, self._project, versions, "get_jobs")

    async def get_workflows(
        self, wanted: Collection[tuple[str, int | None]]
    ) -> dict[tuple[str, int | None], WorkflowVersion]:
        found: dict[tuple[str, int | None], WorkflowVersion] = {}
        named = [key for key in wanted if key[1] is not None]
        if named:
            rows = await self._database.rows("named_versions", self._project, *columns(named))
            found |= {(known.workflow_id, known.version): known for known in map(version_of, rows)}
        newest = await self._newest([workflow_id for workflow_id, version in wanted if version is None])
        return found | {(known.workflow_id, None): known for known in newest}

    async def page_workflows(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowVersion]:
        rows = await self._database.rows("page_workflows", self._project, after or "", limit)
        found = await self._newest([row[0] for row in rows])
        return sorted(found, key=lambda version: version.workflow_id)

    async def _newest(self, workflow_ids: list[str]) -> list[WorkflowVersion]:
        if not workflow_ids:
            return []
        return [version_of(row) for row in await self._database.rows("newest_versions", self._project, workflow_ids)]

    async def pause_step(self, workflow_id: str, step: str, *, paused: bool) -> None:
        query = "pause_step" if paused else "resume_step"

        async def work(transaction: Transaction) -> None:
            changed = await transaction.column(query, self._project, workflow_id, step)
            names = [changes.step_id(workflow_id, name) for name in changed]
            transaction.record(changes.paused(AuditKind.STEP, names, is_paused=paused))

        await self._database.write("pause_step", work)

    async def paused_steps(self, workflow_id: str) -> set[str]:
        return {row[0] for row in await self._database.rows("paused_steps", self._project, workflow_id)}


async def put_workflows(
    transaction: Transaction,
    *,
    project: str,
    specs: Mapping[str, WorkflowSpec],
    at: Instant | None,
    expected: Mapping[str, int] | None = None,
) -> Versions:
    now = await transaction.now(at)
    done: Versions = {}
    added: Versions = {}
    former: Versions = {}
    while missing := [workflow_id for workflow_id in specs if workflow_id not in done]:
        # Also those of deleted workflows: a number is given once. Read before the specifications: if another process
        # adds a version in between, its number is found taken below.
        numbers: dict[str, int] = dict(await transaction.rows("last_numbers", project, missing))
        rows = await transaction.rows("newest_versions", project, missing)
        newest = newest_of(rows)
        former |= newest
        done |= {name: found for name, found in newest.items() if found.spec == specs[name]}
        wanted = {
            name: WorkflowVersion(name, numbers.get(name, 0) + 1, specs[name], now)
            for name in missing
            if name not in done
        }
        for name in wanted:
            refuse_changed("workflow", name, newest[name].version if name in newest else 0, expected)
        new = [(version.workflow_id, version.version, encode(version.spec)) for version in wanted.values()]
        stored = await transaction.column("add_versions", project, now, *columns(new)) if new else []
        added |= {name: wanted[name] for name in stored}
        done |= added
    transaction.add_event(EventKind.WORKFLOW_CHANGED, about_workflows(added.values()))
    transaction.record(changes.put_workflows(former.values(), added.values()))
    return {workflow_id: done[workflow_id] for workflow_id in specs}


async def delete_workflows(
    transaction: Transaction, project: str, workflow_ids: list[str], now: Instant
) -> tuple[list[str], Collection[JobId]]:
    """Delete workflows with the jobs behind them. Returns the ids of both that existed."""
    # Jobs are locked first: a deployment waits for them, and then finds that the workflow is deleted.
    await lock_jobs(transaction, project, [JobId(name) for name in workflow_ids])
    versions = await transaction.rows("living_versions", project, workflow_ids)
    behind = await _behind(transaction, project, versions, "lock_jobs")
    gone = await delete_jobs(transaction, project, sorted(behind.jobs), now)
    runs = await transaction.column("unstarted_apart", project, list(gone))
    await cancel_unstarted(transaction, runs, now)
    await transaction.run("delete_versions", project, workflow_ids, now)
    newest: dict[str, int] = {row["id"]: row["version"] for row in versions}
    transaction.add_event(EventKind.WORKFLOW_DELETED, deleted_workflows(newest))
    transaction.record(changes.deleted_workflows(newest))
    return [name for name in dict.fromkeys(workflow_ids) if name in newest], gone.keys()


async def _behind(source: Database | Transaction, project: str, versions: Sequence[Row], look: str) -> JobsBehind:
    named = NamedJobs.by(versions)
    guessed = await source.rows("jobs_under", project, list(named.unreadable)) if named.unreadable else []
    jobs = await source.rows(look, project, sorted(named.jobs.union(row[0] for row in guessed)))
    return behind_of(project, jobs, named)
