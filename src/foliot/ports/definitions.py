"""The definitions port: jobs, schedules and workflows, stored and read by those who deploy them."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.workflow.spec import WorkflowSpec


class NewSchedule(NamedTuple):
    """A schedule to be created, or edited when one of that id exists; `uid` is used only when it is created."""

    uid: ScheduleUid
    id: ScheduleId
    spec: ScheduleSpec


class Deployment(NamedTuple):
    """Workflows with the schedules that are stored in the same transaction."""

    workflows: Mapping[str, WorkflowSpec]
    schedules: Sequence[NewSchedule] = ()
    gone: Collection[ScheduleId] = ()
    """Schedules to be deleted."""


class WorkflowVersion(NamedTuple):
    """A stored version. It never changes, except that jobs which it names may be renamed."""

    workflow_id: str
    version: int
    spec: WorkflowSpec
    created_at: Instant


class Behind(NamedTuple):
    """The jobs behind a workflow, see `domain.workflow.jobs`."""

    jobs: set[JobId]
    """Those that are deleted with it."""
    doubtful: set[JobId]
    """Jobs with the names that its steps would have, where neither the workflow nor the job can be read. They may have
    another owner, and are kept."""


class Definitions(Protocol):
    # -- jobs

    async def put_jobs(self, jobs: Sequence[tuple[JobId, JobSpec]], *, at: Instant | None = None) -> list[Job]:
        """Create or replace definitions. Saving what is already there changes nothing, not even `updated_at`.

        Of two definitions of one job the last counts, and is the answer to both.
        A row that cannot be read is replaced as well: its revision goes on rising.
        """
        ...

    async def get_jobs(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        """Those of the named jobs that exist. Raises `RowUnreadable` if one of them cannot be read."""
        ...

    async def page_jobs(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        """Jobs by id, those after `after`."""
        ...

    async def delete_jobs(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        """Delete jobs with their schedules and cancel their runs that have not started; history is kept.

        Returns the ids that existed.
        """
        ...

    async def rename_jobs(self, renames: Mapping[JobId, JobId], *, at: Instant | None = None) -> dict[JobId, JobId]:
        """Give jobs other ids (old -> new): definition, runs, dedupe keys, limits and schedules, with their history.

        Schedules named after the job (`<old id>:<name>`) are named after it again, unless that name is taken; uids and
        ledgers stay. Only a job that exists gets a new id, and only one that is free, so renaming twice is a no-op.
        Returns the renames that were done. Attempts under way go on. A run that is created for an old id at the same
        moment keeps it, and ends as a run of a deleted job.

        Gates and all versions of workflows that name the job name the new id. Their jobs, and the jobs of those
        workflows, get a higher revision.

        Raises `JobInUse`, and renames nothing, while one of the jobs is named by an open execution (as its workflow, by
        a step, or in the jobs that it copied), by a workflow of which a run is leased and about to be opened, or by a
        run that waits for its gate. An open execution of a deleted workflow keeps its id from being given.
        """
        ...

    async def watch_jobs(self, job_ids: Collection[JobId]) -> None:
        """Keep the ends of these jobs' runs, past ones included, for the gates that depend on them."""
        ...

    # -- schedules

    async def put_schedules(self, schedules: Sequence[NewSchedule], *, at: Instant | None = None) -> list[Schedule]:
        """Create schedules, or edit those that exist by opening a revision (see `domain.schedule.edit`).

        Saving an equal specification changes nothing. An edit never un-pauses. A row that cannot be read is repaired
        from the revision that it was copied from.
        """
        ...

    async def get_schedules(self, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]: ...

    async def page_schedules(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        """Schedules by id, those after `after`."""
        ...

    async def pause_schedules(
        self, schedule_ids: Collection[ScheduleId], *, paused: bool, at: Instant | None = None
    ) -> list[Schedule]:
        """Pause or resume. Pausing twice keeps the first moment. Returns the schedules that exist."""
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
        """Store each as a new version, counted from 1; one that equals the newest is that version again.

        A newest version that cannot be read equals nothing: putting the workflow again adds a readable one.
        """
        ...

    async def deploy(self, deployment: Deployment, *, at: Instant | None = None) -> dict[str, WorkflowVersion]:
        """Store workflows as `put_workflows` does, with the jobs behind them (`domain.workflow.jobs`) and schedules,
        and delete the schedules in `gone`. All of it, or nothing."""
        ...

    async def get_workflows(
        self, wanted: Collection[tuple[str, int | None]]
    ) -> dict[tuple[str, int | None], WorkflowVersion]:
        """Those of the versions that exist; None asks for the newest. Raises `RowUnreadable` if one cannot be read."""
        ...

    async def page_workflows(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowVersion]:
        """The newest version of each workflow, by id. Raises `RowUnreadable`, naming the workflow, if one cannot be
        read."""
        ...

    async def delete_workflows(self, workflow_ids: Collection[str], *, at: Instant | None = None) -> list[str]:
        """Delete workflows with the jobs behind them and all schedules that start them, and cancel what has not begun.

        Open executions go on, and history is kept, so versions can still be read by their numbers; only the newest is
        none any more. A workflow that is put again goes on counting. Returns the ids that existed.

        The jobs behind a version that cannot be read are those parts of workflows that are named as its steps would
        be. See `jobs_behind`.
        """
        ...

    async def jobs_behind(self, workflow_id: str) -> Behind:
        """What `delete_workflows` would delete and keep. Nothing, if there is no such workflow."""
        ...

    async def pause_step(self, workflow_id: str, step: str, *, paused: bool) -> None:
        """Pause or resume a step: executions that reach a paused step skip it."""
        ...

    async def paused_steps(self, workflow_id: str) -> set[str]: ...
