"""What the jobs of claimed runs say, read once per revision."""

import logging
from collections.abc import Iterable

import msgspec

from foliot.domain.ids import JobId
from foliot.domain.job import Job, Options, overlay
from foliot.domain.lease import Claim
from foliot.ports.storage import JobStore

log = logging.getLogger(__name__)

_DEFAULTS = Options()


class Definitions:
    """A cache of jobs by id that knows when it is out of date: a claim names its job's revision."""

    def __init__(self, jobs: JobStore) -> None:
        self._store = jobs
        self._jobs: dict[JobId, Job] = {}

    async def load(self, claims: Iterable[Claim]) -> None:
        """Make sure that the definitions of these claims are at hand, with one read for all that are not."""
        wanted = {claim.job_id for claim in claims if self._is_outdated(claim)}
        if wanted:
            found = await self._store.get(wanted)
            for job_id in wanted:
                self._jobs.pop(job_id, None)
            self._jobs.update(found)

    def job(self, claim: Claim) -> Job | None:
        """None when the job has been deleted."""
        return self._jobs.get(claim.job_id)

    def options(self, claim: Claim) -> Options:
        """The job's options with what was given for this run alone laid over them."""
        job = self._jobs.get(claim.job_id)
        options = _DEFAULTS if job is None else job.spec.options
        if claim.overrides is None:
            return options
        try:
            return overlay(options, msgspec.json.decode(claim.overrides))
        except (TypeError, ValueError, msgspec.MsgspecError):
            # Written by a newer Foliot, perhaps. The job's own options are better than a worker that cannot go on.
            log.exception("overrides_not_readable", extra={"run": claim.run_id})
            return options

    def _is_outdated(self, claim: Claim) -> bool:
        known = self._jobs.get(claim.job_id)
        return known is None or known.revision != claim.job_revision
