"""The definitions port: stores and reads jobs, schedules, workflows and dependencies."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.schedule.project_pause import PauseOrder, ProjectPause
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.workflow.conditions import Conditions
from foliot.domain.workflow.dependencies import Dependencies
from foliot.domain.workflow.spec import WorkflowSpec


class NewSchedule(NamedTuple):
    """A schedule to create, or to edit if one with that id exists. `uid` is used only for a new one."""

    uid: ScheduleUid
    id: ScheduleId
    spec: ScheduleSpec


class Deployment(NamedTuple):
    """Workflows with the jobs and schedules that are stored in the same transaction."""

    workflows: Mapping[str, WorkflowSpec]
    schedules: Sequence[NewSchedule] = ()
    gone: Collection[ScheduleId] = ()
    """The schedules to delete."""
    jobs: Mapping[JobId, JobSpec] = {}
    revisions: Mapping[JobId, int] | None = None
    """The revisions of jobs that the changes were made for, as `expected` of `put_jobs`. 0: it does not exist."""
    versions: Mapping[str, int] | None = None
    """The same for workflows."""
    pauses_new: bool = False
    """Whether jobs and schedules that it creates are paused."""

    def created(self, stored: Iterable[Schedule]) -> list[Schedule]:
        """Return the schedules that this deployment has created, among those that it has stored.

        One that existed before has kept its own uid.
        """
        uids = {schedule.uid for schedule in self.schedules}
        return [schedule for schedule in stored if schedule.uid in uids]


class WorkflowVersion(NamedTuple):
    """A stored version. It never changes, except that the jobs in it may be renamed."""

    workflow_id: str
    version: int
    spec: WorkflowSpec
    created_at: Instant


class JobsBehind(NamedTuple):
    """The jobs behind a workflow: its own job and those of its steps (`domain.workflow.jobs`)."""

    jobs: set[JobId]
    """The jobs that are deleted with it."""
    doubtful: set[JobId]
    """Unreadable jobs with names that steps of an unreadable workflow would have. They may belong to another owner, and
    are kept."""


class Definitions(Protocol):
    # -- jobs

    async def put_jobs(
        self,
        jobs: Sequence[tuple[JobId, JobSpec]],
        *,
        expected: Mapping[JobId, int] | None = None,
        at: Instant | None = None,
    ) -> list[Job]:
        """Create or replace definitions. Saving an equal definition changes nothing, not even `updated_at`.

        `expected`: the revisions that the changes were made for. Raises `ChangedMeanwhile`, and stores nothing, if a
        job that would change has another one.

        Of two definitions of one job the last is stored, and returned for both.
        An unreadable row is replaced too, with a higher revision.
        """
        ...

    async def get_jobs(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        """Return the jobs that exist. Raises `RowUnreadable` if one of them cannot be read."""
        ...

    async def page_jobs(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        """Return jobs by id, those after `after`."""
        ...

    async def delete_jobs(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        """Delete jobs with their schedules and dependencies, and cancel their runs that have not started; history is
        kept.

        Return the ids that existed.
        """
        ...

    async def pause_job(self, job_id: JobId, *, paused: bool, at: Instant | None = None) -> None:
        """Pause or resume a job, if it exists: executions that reach a step with a paused job skip it.

        Pausing twice keeps the first time. Its schedules are not changed.
        """
        ...

    async def rename_jobs(self, renames: Mapping[JobId, JobId], *, at: Instant | None = None) -> dict[JobId, JobId]:
        """Change the ids of jobs (old -> new): definition, runs, dedupe keys, limits and schedules, with their history.

        Schedules named after the job (`<old id>:<name>`) get its new id, unless that name is taken; uids and ledgers
        stay. Only an existing job is renamed, and only to a free id, so renaming twice is a no-op. Return the renames
        that were done. Running attempts continue. A run that is created concurrently for an old id keeps it, and ends
        as a run of a deleted job.

        Dependencies, gates and all versions of workflows that refer to the job get the new id. The jobs with these
        gates, and the jobs of those workflows, get a higher revision.

        Raises `JobInUse`, and renames nothing, while one of the jobs is used by an open execution (as its workflow, by
        a step, or in the jobs that it copied), by a workflow with a run that is leased to be opened, or by a run that
        waits for its gate. The id of a deleted workflow is not free while it has an open execution.
        """
        ...

    async def watch_jobs(self, look_back: Mapping[JobId, Millis]) -> None:
        """Record the ends of the runs of these jobs, past ones included, for the gates that depend on them.

        `look_back`: job -> how long after its end a gate may read a run. It is raised, never lowered.
        """
        ...

    # -- schedules

    async def put_schedules(
        self,
        schedules: Sequence[NewSchedule],
        *,
        expected: Mapping[ScheduleId, int] | None = None,
        at: Instant | None = None,
    ) -> list[Schedule]:
        """Create schedules, or edit those that exist by opening a revision (see `domain.schedule.edit`).

        `expected`: the numbers of the revisions that the edits were made for, as for `put_jobs`.

        Saving an equal specification changes nothing. An edit never resumes a schedule. An unreadable row is repaired
        from the revision that it was copied from.
        """
        ...

    async def get_schedules(self, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]: ...

    async def page_schedules(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        """Return schedules by id, those after `after`."""
        ...

    async def page_declared_schedules(self, *, after: ScheduleId | None = None, limit: int = 100) -> list[Schedule]:
        """Return the schedules that a file or an application declares, by id. Their number decides the cost, not the
        number of schedules that were created by calls."""
        ...

    async def pause_schedules(
        self, schedule_ids: Collection[ScheduleId], *, paused: bool, at: Instant | None = None
    ) -> list[Schedule]:
        """Pause or resume schedules. Pausing twice keeps the first time. Return the schedules that exist."""
        ...

    async def pause_project(self, order: PauseOrder, *, at: Instant | None = None) -> ProjectPause:
        """Pause all schedules, also those that are created meanwhile, with one record. It begins now.

        No schedule is due while it is in force, and no decision that was made before is saved. If such a pause is in
        force it keeps its beginning, and gets the end and the note of this order. The schedules themselves are not
        changed, so that each can still be paused and resumed.
        """
        ...

    async def resume_project(self, *, at: Instant | None = None) -> ProjectPause | None:
        """End the pause of all schedules and return it. None: none is in force."""
        ...

    async def delete_schedules(
        self, schedule_ids: Collection[ScheduleId], *, at: Instant | None = None
    ) -> list[ScheduleId]:
        """Delete schedules; their planned ticks become cancelled (deleted), their ledger and runs stay."""
        ...

    # -- workflows

    async def put_workflows(
        self, workflows: Mapping[str, WorkflowSpec], *, at: Instant | None = None
    ) -> dict[str, WorkflowVersion]:
        """Store each workflow as a new version, counted from 1. One that equals the newest keeps that version.

        An unreadable newest version equals nothing: putting the workflow again adds a readable version.
        """
        ...

    async def deploy(self, deployment: Deployment, *, at: Instant | None = None) -> dict[str, WorkflowVersion]:
        """Store workflows as `put_workflows` does, with the jobs behind them (`domain.workflow.jobs`), further jobs and
        schedules, and delete the schedules in `gone`, all or nothing. Raises `ChangedMeanwhile`, and stores nothing, if
        a job or a workflow that would change is not the expected one."""
        ...

    async def get_workflows(
        self, wanted: Collection[tuple[str, int | None]]
    ) -> dict[tuple[str, int | None], WorkflowVersion]:
        """Return the versions that exist; None means the newest. Raises `RowUnreadable` if one cannot be read."""
        ...

    async def page_workflows(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowVersion]:
        """Return the newest version of each workflow, by id. Raises `RowUnreadable` with the id of the workflow if one
        cannot be read."""
        ...

    async def delete_workflows(self, workflow_ids: Collection[str], *, at: Instant | None = None) -> list[str]:
        """Delete workflows with the jobs behind them and all schedules that start them, and cancel runs that have not
        begun.

        Open executions continue, and history is kept, so versions can still be read by number; only the newest no
        longer exists. A workflow that is put again continues with the next number. Return the ids that existed.

        The jobs behind an unreadable version are found by the names that its steps would have, see `jobs_behind`.
        """
        ...

    async def jobs_behind(self, workflow_id: str) -> JobsBehind:
        """Return the jobs that `delete_workflows` would delete and keep: none if the workflow does not exist."""
        ...

    async def pause_step(self, workflow_id: str, step: str, *, paused: bool) -> None:
        """Pause or resume a step: executions that reach a paused step skip it."""
        ...

    async def paused_steps(self, workflow_id: str) -> set[str]: ...

    # -- dependencies between jobs (`domain.workflow.dependencies`)
    # A change stores, in the same transaction, the workflow of each changed unit (jobs that edges connect), with its
    # job, and `Job.leads` of the roots of the unit.

    async def dependencies(self) -> Dependencies:
        """Return all edges, by the job that waits."""
        ...

    async def add_dependency(self, child: JobId, parent: JobId, when: Conditions, *, at: Instant | None = None) -> None:
        """Add an edge, or conditions to an edge that exists. Adding an edge twice is a no-op.

        Raises `NotFound` for a job that does not exist, `CycleDetected` for an edge that closes a cycle, and
        `InvalidJob` for an edge that joins two roots with schedules that will fire.
        """
        ...

    async def remove_dependency(self, child: JobId, parent: JobId, *, at: Instant | None = None) -> None:
        """Remove an edge. A missing edge is a no-op."""
        ...
