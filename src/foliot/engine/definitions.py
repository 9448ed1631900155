"""What the jobs of claimed runs say, read once per revision; for the steps of executions, once per execution."""

import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from foliot.domain.ids import JobId, RunId
from foliot.domain.job import Job, Options, options_in, overlay
from foliot.domain.lease import Claim
from foliot.domain.payload import UNREADABLE
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.passage import Plan, step_as_job
from foliot.engine.plans import Plans
from foliot.errors import NotFound, RowUnreadable
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

K = TypeVar("K", bound=str)
V = TypeVar("V")

_DEFAULTS: Final = Options()
_GIVEN: Final = msgspec.json.Decoder(dict[str, Any])
_EXECUTIONS: Final = 1_000
"""How many are kept."""


class Definition(NamedTuple):
    """What a run is to do, and how it is handled. No job: there is no such definition any more, or an error says why it
    cannot be read."""

    job: Job | None
    options: Options
    error: RowUnreadable | None = None


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
        self._illegible_jobs: dict[JobId, RowUnreadable] = {}
        self._illegible_executions: dict[RunId, RowUnreadable] = {}

    async def load(self, claims: Iterable[Claim]) -> None:
        """Make sure that the definitions of these claims are at hand, with one read for all that are not.

        One that cannot be read is the trouble of those alone that need it.
        """
        needed = {(claim.job_id, claim.job_revision) for claim in claims if claim.root is None}
        wanted = {job_id for job_id, revision in needed if self._is_outdated(job_id, revision)}
        if wanted:
            found, errors = await _read(self._storage.jobs.get, wanted)
            for job_id in wanted:
                self._jobs.pop(job_id, None)
                self._illegible_jobs.pop(job_id, None)
            self._jobs.update(found)
            self._illegible_jobs.update(errors)
        await self._load_executions({claim.root for claim in claims if claim.root is not None})

    def of(self, claim: Claim) -> Definition:
        """What its job says, with what was given for this run alone laid over it."""
        job = self._jobs.get(claim.job_id) if claim.root is None else self._step(claim)
        options = _DEFAULTS if job is None else job.spec.options
        error = self._trouble(claim) if job is None else None
        if claim.overrides is None:
            return Definition(job, options, error)
        try:
            given = _GIVEN.decode(claim.overrides)
            job = _with_fields(job, given.get("spec"))
        except UNREADABLE as cause:
            return Definition(None, options, RowUnreadable("run", claim.run_id, cause))
        return Definition(job, _with_options(claim, options, options_in(given)), error)

    def _trouble(self, claim: Claim) -> RowUnreadable | None:
        if claim.root is None:
            return self._illegible_jobs.get(claim.job_id)
        return self._illegible_executions.get(claim.root)

    async def _load_executions(self, roots: set[RunId]) -> None:
        """Keep these with their plans. Those whose jobs have got other ids meanwhile are read again: what was read of
        the one names them otherwise than what was read of the other. Somebody else who loads may forget what we have,
        so nothing is waited for after the last look."""
        gone: set[RunId] = set()
        while missing := roots - self._executions.keys() - gone:
            found, errors = await _read(self._storage.executions.get, missing)
            gone |= missing - found.keys()
            self._illegible_executions.update(errors)
            for run_id, execution in found.items():
                try:
                    plan = await self._plans.get(execution.workflow_id, execution.version, execution.revision)
                except NotFound:
                    gone.add(run_id)
                    continue
                except RowUnreadable as error:
                    gone.add(run_id)
                    self._illegible_executions[run_id] = error
                    continue
                if plan is not None:
                    self._executions[run_id] = execution, plan
                    self._illegible_executions.pop(run_id, None)
        self._forget_all_but(roots, self._executions)
        self._forget_all_but(roots, self._illegible_executions)

    def _forget_all_but(self, roots: set[RunId], known: dict[RunId, Any]) -> None:
        """Forget what was loaded first, where it is too much."""
        excess = len(known) - self._kept
        if excess > 0:
            others = (run_id for run_id in known if run_id not in roots)
            for run_id in list(islice(others, excess)):
                del known[run_id]

    def _step(self, claim: Claim) -> Job | None:
        execution, plan = self._executions.get(claim.root or RunId(""), (None, None))
        if execution is None or plan is None:
            return None
        return step_as_job(plan, execution, claim.item or "", claim.job_id)

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
    except (AttributeError, TypeError, ValueError, msgspec.MsgspecError):
        # Written by a newer Foliot, perhaps. The job's own options are better than a worker that cannot go on.
        log.exception("overrides_not_readable", extra={"run": claim.run_id})
        return options


async def _read(
    get: Callable[[Collection[K]], Awaitable[dict[K, V]]], names: Collection[K]
) -> tuple[dict[K, V], dict[K, RowUnreadable]]:
    """What there is of these, and why some cannot be read: those are found by asking for one after the other."""
    try:
        return await get(names), {}
    except RowUnreadable as error:
        if len(names) == 1:
            return {}, dict.fromkeys(names, error)
    found: dict[K, V] = {}
    errors: dict[K, RowUnreadable] = {}
    for name in names:
        one, trouble = await _read(get, [name])
        found |= one
        errors |= trouble
    return found, errors
