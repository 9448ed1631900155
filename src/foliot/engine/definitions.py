"""What the jobs of claimed runs say, read once per revision; for the steps of executions, once per execution."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Millis
from foliot.domain.job import Job, Options, options_in, overlay
from foliot.domain.kinds import TIMEOUTS
from foliot.domain.lease import Claim
from foliot.domain.payload import UNREADABLE
from foliot.domain.retry import Retry
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.passage import Plan, step_as_job
from foliot.engine.plans import Plans
from foliot.errors import NotFound, RowUnreadable
from foliot.ports.storage import Storage

K = TypeVar("K", bound=str)
V = TypeVar("V")

_DEFAULTS: Final = Options()
_GIVEN: Final = msgspec.json.Decoder(dict[str, Any])
_EXECUTIONS: Final = 1_000
"""How many are kept."""


class Definition(Struct, frozen=True):
    """What a run is to do, and how it is handled. No job: there is no such definition any more, or an error says why it
    cannot be read."""

    job: Job | None
    options: Options
    error: RowUnreadable | None = None
    timeout: Millis | None = None
    """How long an attempt may take."""


def _defined(job: Job | None, options: Options, error: RowUnreadable | None = None) -> Definition:
    """Each kind of job has its own idea of how long an attempt may take, where nobody has said it."""
    usual = None if job is None else TIMEOUTS.get(job.spec.runner)
    return Definition(job, options, error, usual if options.timeout is None else options.timeout)


_GONE: Final = Definition(None, _DEFAULTS)


class Definitions:
    """A cache of definitions that knows when it is out of date: a claim names its job's revision.

    A step does what the version of its workflow says that its execution began with, whatever was changed since.
    """

    def __init__(self, storage: Storage, plans: Plans, *, kept: int = _EXECUTIONS) -> None:
        self._storage = storage
        self._plans = plans
        self._kept = kept
        self._jobs: dict[JobId, Definition] = {}
        self._executions: dict[RunId, tuple[Execution, Plan]] = {}
        self._unreadable_executions: dict[RunId, RowUnreadable] = {}

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
            self._jobs.update((job_id, _defined(job, job.spec.options)) for job_id, job in found.items())
            self._jobs.update((job_id, Definition(None, _DEFAULTS, error)) for job_id, error in errors.items())
        await self._load_executions({claim.root for claim in claims if claim.root is not None})

    def of(self, claim: Claim) -> Definition:
        """What its job says, with what was given for this run alone laid over it."""
        known = self._jobs.get(claim.job_id, _GONE) if claim.root is None else self._step(claim.root, claim)
        return known if claim.overrides is None else _overlaid(known, claim, claim.overrides)

    async def _load_executions(self, roots: set[RunId]) -> None:
        """Keep these with their plans. A concurrent call may forget some while this one reads others, so all of them
        are stored at the end."""
        known = {run_id: self._executions[run_id] for run_id in roots if run_id in self._executions}
        missing = roots - known.keys()
        found, errors = await _read(self._storage.executions.get, missing) if missing else ({}, {})
        for run_id, execution in found.items():
            try:
                plan = await self._plans.get(execution.workflow_id, execution.version, execution.revision)
            except RowUnreadable as error:
                errors[run_id] = error
            except NotFound:
                continue
            else:
                known[run_id] = execution, plan
        self._executions.update(known)
        self._unreadable_executions.update(errors)
        for run_id in known:
            self._unreadable_executions.pop(run_id, None)
        self._forget_all_but(roots, self._executions)
        self._forget_all_but(roots, self._unreadable_executions)

    def _forget_all_but(self, roots: set[RunId], known: dict[RunId, Any]) -> None:
        """Forget what was loaded first, where it is too much."""
        excess = len(known) - self._kept
        if excess > 0:
            others = (run_id for run_id in known if run_id not in roots)
            for run_id in list(islice(others, excess)):
                del known[run_id]

    def _step(self, root: RunId, claim: Claim) -> Definition:
        execution, plan = self._executions.get(root, (None, None))
        if execution is None or plan is None:
            return Definition(None, _DEFAULTS, self._unreadable_executions.get(root))
        job = step_as_job(plan, execution, claim.item or "", claim.job_id)
        return _GONE if job is None else _defined(job, job.spec.options)

    def _is_outdated(self, job_id: JobId, revision: int | None) -> bool:
        known = self._jobs.get(job_id, _GONE).job
        return known is None or known.revision != revision


def _overlaid(known: Definition, claim: Claim, overrides: bytes) -> Definition:
    """What cannot be read is not carried out: the job's own options may be what this run was to be spared."""
    try:
        given = _GIVEN.decode(overrides)
        job, options = _with_fields(known.job, given.get("spec")), overlay(known.options, _known_options(given))
    except UNREADABLE as cause:
        return Definition(None, known.options, RowUnreadable("run", claim.run_id, cause))
    return _defined(job, options, known.error)


def _known_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """What only a later version knows is left out."""
    options = _fields_of(Options, options_in(given))
    if isinstance(options.get("retry"), dict):
        options["retry"] = _fields_of(Retry, options["retry"])
    return options


def _fields_of(kind: type[Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in kind.__struct_fields__}


def _with_fields(job: Job | None, fields: Mapping[str, Any] | None) -> Job | None:
    if job is None or not fields:
        return job
    spec = msgspec.structs.replace(job.spec, spec={**job.spec.spec, **fields})
    return msgspec.structs.replace(job, spec=spec)


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
