"""What the jobs of claimed runs say, read once per revision; for the steps of executions, once per execution."""

import logging
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from foliot.domain.ids import JobId, RunId
from foliot.domain.job import DEFAULT_PROJECT, Job, Options, options_in, overlay
from foliot.domain.lease import Claim
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.passage import Plan, known_definition
from foliot.engine.plans import Plans
from foliot.errors import NotFound
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

_DEFAULTS: Final = Options()
_NOTHING: Final[Mapping[str, Any]] = {}
_EXECUTIONS: Final = 1_000
"""How many are kept."""


class Definitions:
    """A cache of definitions that knows when it is out of date: a claim names its job's revision.

    A step does what the version of its workflow says that its execution began with, whatever was changed since.
    """

    def __init__(self, storage: Storage, plans: Plans, *, kept: int = _EXECUTIONS) -> None:
        self._storage = storage
        self._plans = plans
        self._kept = kept
        self._jobs: dict[JobId, Job] = {}
        self._executions: dict[RunId, tuple[Execution, Plan]] = {}

    async def load(self, claims: Iterable[Claim]) -> None:
        """Make sure that the definitions of these claims are at hand, with one read for all that are not."""
        needed = {(claim.job_id, claim.job_revision) for claim in claims if claim.root is None}
        wanted = {job_id for job_id, revision in needed if self._is_outdated(job_id, revision)}
        if wanted:
            found = await self._storage.jobs.get(wanted)
            for job_id in wanted:
                self._jobs.pop(job_id, None)
            self._jobs.update(found)
        await self._load_executions({claim.root for claim in claims if claim.root is not None})

    def of(self, claim: Claim) -> tuple[Job | None, Options]:
        """The job, None when there is no such definition any more, and how this run is handled: what was given for this
        run alone is laid over both."""
        job = self._jobs.get(claim.job_id) if claim.root is None else self._step(claim)
        options = _DEFAULTS if job is None else job.spec.options
        if claim.overrides is None:
            return job, options
        given = _given(claim)
        return _with_fields(job, given.get("spec")), _with_options(claim, options, options_in(given))

    async def _load_executions(self, roots: set[RunId]) -> None:
        """Keep these with their plans. Those whose jobs have got other ids meanwhile are read again: what was read of
        the one names them otherwise than what was read of the other. Somebody else who loads may forget what we have,
        so nothing is waited for after the last look."""
        gone: set[RunId] = set()
        while missing := roots - self._executions.keys() - gone:
            found = await self._storage.executions.get(missing)
            gone |= missing - found.keys()
            for run_id, execution in found.items():
                try:
                    plan = await self._plans.get(execution.workflow_id, execution.version, execution.revision)
                except NotFound:
                    gone.add(run_id)
                    continue
                if plan is not None:
                    self._executions[run_id] = execution, plan
        self._forget_all_but(roots)

    def _forget_all_but(self, roots: set[RunId]) -> None:
        """Forget what was loaded first, where it is too much."""
        excess = len(self._executions) - self._kept
        if excess > 0:
            others = (run_id for run_id in self._executions if run_id not in roots)
            for run_id in list(islice(others, excess)):
                del self._executions[run_id]

    def _step(self, claim: Claim) -> Job | None:
        execution, plan = self._executions.get(claim.root or RunId(""), (None, None))
        if execution is None or plan is None:
            return None
        spec = known_definition(plan, claim.item or "", execution.jobs)
        if spec is None:
            return None
        return Job(
            id=claim.job_id,
            project=DEFAULT_PROJECT,
            spec=spec,
            revision=execution.version,
            created_at=execution.opened_at,
            updated_at=execution.opened_at,
        )

    def _is_outdated(self, job_id: JobId, revision: int | None) -> bool:
        known = self._jobs.get(job_id)
        return known is None or known.revision != revision


def _with_fields(job: Job | None, fields: Mapping[str, Any] | None) -> Job | None:
    if job is None or not fields:
        return job
    spec = msgspec.structs.replace(job.spec, spec={**job.spec.spec, **fields})
    return msgspec.structs.replace(job, spec=spec)


def _with_options(claim: Claim, options: Options, given: Mapping[str, Any]) -> Options:
    if not given:
        return options
    try:
        return overlay(options, given)
    except (TypeError, ValueError, msgspec.MsgspecError):
        # Written by a newer Foliot, perhaps. The job's own options are better than a worker that cannot go on.
        log.exception("overrides_not_readable", extra={"run": claim.run_id})
        return options


def _given(claim: Claim) -> Mapping[str, Any]:
    """What was given for this run alone."""
    try:
        given: Mapping[str, Any] = msgspec.json.decode(claim.overrides or b"{}", type=dict[str, Any])
    except msgspec.MsgspecError:
        log.exception("overrides_not_readable", extra={"run": claim.run_id})
        return _NOTHING
    return given
