"""The part of the storage that keeps jobs. See `ports.storage` for what all verbs promise."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job import Job, JobSpec


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
        """Give jobs other ids (old -> new): definition, runs, dedupe keys, limits and schedules; history comes along.

        Schedules named after the job (`<old id>:<name>`) are named after it again, unless that name is taken; uids and
        ledgers stay. Only a job that exists gets a new id, and only one that is free, so that doing it again, with
        all new ids there, does nothing; what was done comes back. Work under way goes on. A run that is created for an
        old id at this very moment keeps it, and ends as one of a deleted job.

        Who names the job names the new id: gates, all versions of workflows, executions that are not over. What was
        decided about those before, or about opening one, is not saved any more. The jobs of such workflows, and those
        whose gates they are, get a higher revision.
        """
        ...
