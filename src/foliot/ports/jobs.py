"""The part of the storage that keeps jobs. See `ports.storage` for what all verbs promise."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job, JobSpec


class JobStore(Protocol):
    async def put(self, jobs: Sequence[tuple[JobId, JobSpec]], *, at: Instant | None = None) -> list[Job]:
        """Create or replace definitions. Saving what is already there changes nothing, not even `updated_at`.

        Of two definitions of one job the last counts, and is the answer to both.
        One that cannot be read is replaced as well: its revision goes on rising.
        """
        ...

    async def get(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        """Those of the named jobs that exist. Raises `RowUnreadable` if one of them cannot be read."""
        ...

    async def page(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        """Jobs by id, those after `after`."""
        ...

    async def delete(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        """Delete jobs with their schedules and cancel their runs that have not started; history is kept.

        Returns the ids that existed.
        """
        ...

    async def rename(self, renames: Mapping[JobId, JobId], *, at: Instant | None = None) -> dict[JobId, JobId]:
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
