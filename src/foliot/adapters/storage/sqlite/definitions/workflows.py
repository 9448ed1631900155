"""Stores, reads and deletes workflows. Versions are added and never changed."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.shared.event_items import about_workflows, deleted_workflows
from foliot.adapters.storage.shared.expected import refuse_changed
from foliot.adapters.storage.shared.tree_rows import (
    NamedJobs,
    as_stored_workflow,
    behind_of,
    jobs_behind,
    newest_of,
    version_of,
)
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Row, Session
from foliot.adapters.storage.sqlite.definitions.jobs import delete_jobs, job_rows, pause_jobs, put_jobs
from foliot.adapters.storage.sqlite.definitions.schedules import delete_schedules, put_schedules
from foliot.adapters.storage.sqlite.rows.cancel import cancel_runs
from foliot.adapters.storage.sqlite.rows.schedules import named_schedules, pause_stored
from foliot.adapters.storage.sqlite.rows.watch import watch_jobs
from foliot.domain.access.trail import AuditKind
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job.job import watched_by
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.ports.definitions import Deployment, JobsBehind, WorkflowVersion


class WorkflowDefinitions(PortBase):
    async def put_workflows(
        self, workflows: Mapping[str, WorkflowSpec], *, at: Instant | None = None
    ) -> dict[str, WorkflowVersion]:
        return await self._writer.submit(
            "put_workflows", lambda tx: put_workflows(tx, self._project, workflows, tx.now(at))
        )

    async def deploy(self, deployment: Deployment, *, at: Instant | None = None) -> dict[str, WorkflowVersion]:
        return await self._writer.submit("deploy", lambda tx: _deploy(tx, self._project, deployment, tx.now(at)))

    async def get_workflows(
        self, wanted: Collection[tuple[str, int | None]]
    ) -> dict[tuple[str, int | None], WorkflowVersion]:
        def query(session: Session) -> dict[tuple[str, int | None], WorkflowVersion]:
            named = [key for key in wanted if key[1] is not None]
            ids, numbers = encode([name for name, _ in named]), encode([version for _, version in named])
            rows = session.rows(SQL["named_versions"], (self._project, ids, numbers)) if named else ()
            found: dict[tuple[str, int | None], WorkflowVersion] = {
                (known.workflow_id, known.version): known for known in map(version_of, rows)
            }
            newest = _newest(session, self._project, [name for name, version in wanted if version is None])
            return found | {(name, None): known for name, known in newest.items()}

        return self._reader.peek(query) if len(wanted) == 1 else await self._reader.read(query)

    async def page_workflows(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowVersion]:
        def query(session: Session) -> list[WorkflowVersion]:
            ids = session.column(SQL["page_workflows"], (self._project, after or "", limit))
            found = _newest(session, self._project, ids)
            return [found[workflow_id] for workflow_id in ids if workflow_id in found]

        return await self._reader.read(query)

    async def jobs_behind(self, workflow_id: str) -> JobsBehind:
        def query(session: Session) -> JobsBehind:
            rows = session.rows(SQL["living_versions"], (self._project, encode_names([workflow_id])))
            return _behind(session, self._project, rows)

        return await self._reader.read(query)

    async def pause_step(self, workflow_id: str, step: str, *, paused: bool) -> None:
        def work(tx: Transaction) -> None:
            if tx.run(SQL["pause_step" if paused else "resume_step"], (self._project, workflow_id, step)):
                names = [changes.step_id(workflow_id, step)]
                tx.record(tx.now(None), changes.paused(AuditKind.STEP, names, is_paused=paused))

        await self._writer.submit("pause_step", work)

    async def paused_steps(self, workflow_id: str) -> set[str]:
        values = (self._project, workflow_id)
        return set(await self._reader.read(lambda session: session.column(SQL["paused_steps"], values)))


def put_workflows(
    tx: Transaction,
    project: str,
    workflows: Mapping[str, WorkflowSpec],
    now: Instant,
    *,
    expected: Mapping[str, int] | None = None,
) -> dict[str, WorkflowVersion]:
    known = newest_of(_newest_rows(tx, project, workflows))
    # Includes deleted workflows: a version number is assigned once.
    numbers: dict[str, int] = dict(tx.rows(SQL["last_numbers"], (project, encode_names(workflows))))
    added: dict[str, WorkflowVersion] = {}
    for workflow_id, given in workflows.items():
        spec = as_stored_workflow(given)
        if workflow_id not in known or known[workflow_id].spec != spec:
            refuse_changed("workflow", workflow_id, known[workflow_id].version if workflow_id in known else 0, expected)
            added[workflow_id] = WorkflowVersion(workflow_id, numbers.get(workflow_id, 0) + 1, spec, now)
    rows = [(project, name, version, encode(spec), created_at) for name, version, spec, created_at in added.values()]
    tx.run_many(SQL["add_versions"], rows)
    tx.add_event(now, EventKind.WORKFLOW_CHANGED, about_workflows(added.values()))
    tx.record(now, changes.put_workflows(known.values(), added.values()))
    return {workflow_id: added.get(workflow_id) or known[workflow_id] for workflow_id in workflows}


def _deploy(tx: Transaction, project: str, deployment: Deployment, now: Instant) -> dict[str, WorkflowVersion]:
    stored = {row[0] for row in job_rows(tx, project, deployment.jobs)}
    versions = put_workflows(tx, project, deployment.workflows, now, expected=deployment.versions)
    jobs = {**jobs_behind(versions.values()), **deployment.jobs}
    put_jobs(tx, project, list(jobs.items()), now, expected=deployment.revisions)
    watch_jobs(tx, project, watched_by(jobs))
    schedules = put_schedules(tx, project, deployment.schedules, now)
    delete_schedules(tx, named_schedules(tx, project, deployment.gone).schedules, now)
    if deployment.pauses_new:
        pause_jobs(tx, project, [job_id for job_id in deployment.jobs if job_id not in stored], now)
        pause_stored(tx, deployment.created(schedules), now, paused=True)
    return versions


def delete_workflows(
    tx: Transaction, project: str, workflow_ids: Collection[str], now: Instant
) -> tuple[list[str], Collection[JobId]]:
    """Delete workflows with the jobs behind them. Returns the ids of both that existed."""
    names = encode_names(workflow_ids)
    versions = tx.rows(SQL["living_versions"], (project, names))
    gone = delete_jobs(tx, project, sorted(_behind(tx, project, versions).jobs), now)
    cancel_runs(tx, tx.column(SQL["unstarted_apart"], (project, encode_names(gone))), now)
    tx.run(SQL["delete_versions"], (now, project, names))
    newest = {workflow_id: version for workflow_id, version, *_ in versions}
    tx.add_event(now, EventKind.WORKFLOW_DELETED, deleted_workflows(newest))
    tx.record(now, changes.deleted_workflows(newest))
    return [workflow_id for workflow_id in dict.fromkeys(workflow_ids) if workflow_id in newest], gone.keys()


def _behind(session: Session, project: str, versions: Sequence[Row]) -> JobsBehind:
    named = NamedJobs.by(versions)
    guessed = session.column(SQL["jobs_under"], (project, encode_names(named.unreadable)))
    return behind_of(project, job_rows(session, project, named.jobs.union(guessed)), named)


def _newest(session: Session, project: str, workflow_ids: Iterable[str]) -> dict[str, WorkflowVersion]:
    return {found.workflow_id: found for found in map(version_of, _newest_rows(session, project, workflow_ids))}


def _newest_rows(session: Session, project: str, workflow_ids: Iterable[str]) -> list[Row]:
    return session.rows(SQL["newest_versions"], (project, encode_names(workflow_ids)))
