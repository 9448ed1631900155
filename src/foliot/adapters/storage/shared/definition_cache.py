"""Finds and caches the definitions of runs by their ids (`domain.job.definition`).

An id always means the same definition, so a cached one never becomes outdated and a process reads each only once.
Adapters call `Definitions.missing`, read those rows, and pass them to `Definitions.find`.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from foliot.adapters.storage.shared.documents import decode_job_spec, read_column
from foliot.adapters.storage.shared.finish_plan import UNKNOWN_OPTIONS
from foliot.domain.gate.decision import Gated
from foliot.domain.ids import DefinitionId, JobId, RunId
from foliot.domain.job.definition import (
    Definition,
    MapReference,
    StepReference,
    TreeReference,
    definition_of_job,
    job_definition_id,
    options_of_run,
    read_reference,
)
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.outcome import Reason
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.workflow.plan import definition_of
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import RowUnreadable

_KEPT: Final = 10_000
_SOURCES_KEPT: Final = 100
"""A definition is dropped after this many others were used since."""
_WORKFLOW: Final = msgspec.json.Decoder(WorkflowSpec)


class _Body(msgspec.Struct):
    """The part of a tree's body that its children refer to."""

    jobs: dict[str, JobSpec] = {}


_BODY: Final = msgspec.json.Decoder(_Body)


class Reference(NamedTuple):
    """The columns of a run that identify its definition."""

    job_id: JobId
    revision: int | None
    """The current revision of the job. None: the job was deleted."""
    definition_id: DefinitionId | None

    @property
    def id(self) -> DefinitionId:
        return self.definition_id or job_definition_id(self.job_id, self.revision)


class ResolvedDefinition(NamedTuple):
    """A definition with its job. Without a job, the definition has the error."""

    definition: Definition
    job: JobSpec | None = None

    def options(self, overrides: bytes | None) -> Options:
        """Return the options of a run: those of its job, with the overrides given for this run."""
        if self.job is None and self.definition.reason is not Reason.HANDLER_MISSING:
            return UNKNOWN_OPTIONS
        try:
            return options_of_run(Options() if self.job is None else self.job.options, overrides)
        except UNREADABLE:
            return UNKNOWN_OPTIONS


def gated_of(row: Sequence[Any], known: ResolvedDefinition) -> Gated:
    """Build a gated run from a row that begins with run_id, job_id, planned, due_at. A deleted job has no gate."""
    gate = None if known.job is None else known.job.gate
    is_deleted = known.definition.reason is Reason.HANDLER_MISSING
    run_id, job_id, planned, due_at, *_ = row
    return Gated(run_id, job_id, planned, due_at, gate, None if is_deleted else known.definition.error)


class Missing(NamedTuple):
    """Keys of the rows to read."""

    jobs: set[JobId]
    versions: set[tuple[str, int]]
    bodies: set[RunId]

    def __bool__(self) -> bool:
        return bool(self.jobs or self.versions or self.bodies)


class Definitions:
    """The recently used definitions of one process. Not thread-safe."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._recent: dict[DefinitionId, ResolvedDefinition] = {}
        self._former: dict[DefinitionId, ResolvedDefinition] = {}
        self._children: OrderedDict[str, Mapping[str, JobSpec]] = OrderedDict()
        """The steps of recent workflow versions and the jobs of recent trees, by source."""

    def missing(self, references: Iterable[Reference]) -> Missing:
        missing = Missing(set(), set(), set())
        for reference in references:
            if self._cached(reference) is not None:
                continue
            if reference.definition_id is None:
                if reference.revision is not None:
                    missing.jobs.add(reference.job_id)
                continue
            try:
                named = read_reference(reference.definition_id)
            except ValueError:
                continue
            if isinstance(named, MapReference) or _source(reference.definition_id) in self._children:
                continue
            if isinstance(named, StepReference):
                missing.versions.add((named.workflow_id, named.version))
            else:
                missing.bodies.add(named.run_id)
        return missing

    def find(
        self, references: Collection[Reference], found: "DefinitionRows"
    ) -> dict[DefinitionId, ResolvedDefinition]:
        """Return the definition of each reference, by its id. `found` has the rows that were missing.

        If a job was changed after its revision was read, its newest definition is returned under the old id.
        """
        known = {reference.id: one for reference in references if (one := self._cached(reference)) is not None}
        if len(known) == len(references):
            return known
        return known | {one.id: self._resolve(one, found) for one in references if one.id not in known}

    def _cached(self, reference: Reference) -> ResolvedDefinition | None:
        """Return the cached definition, or None. Using a definition keeps it in the cache."""
        known = self._recent.get(reference.id)
        if known is None and (known := self._former.get(reference.id)) is not None:
            self._keep(known)
        return known

    def _resolve(self, reference: Reference, found: "DefinitionRows") -> ResolvedDefinition:
        try:
            known = self._read(reference, found)
        except RowUnreadable as error:
            # Not cached: the row may be repaired.
            return ResolvedDefinition(Definition(id=reference.id, error=str(error)))
        if known.job is not None:
            self._keep(known)
        return known

    def _read(self, reference: Reference, found: "DefinitionRows") -> ResolvedDefinition:
        if reference.definition_id is None:
            return _job(reference, found.jobs)
        named = read_column(read_reference, reference.definition_id, "run of job", reference.job_id)
        if isinstance(named, MapReference):
            return ResolvedDefinition(definition_of_job(reference.id, named.spec), named.spec)
        jobs = self._children.get(_source(reference.definition_id))
        if jobs is None:
            jobs = _jobs_of_tree(named, found) if isinstance(named, TreeReference) else _steps(named, found)
            self._keep_children(_source(reference.definition_id), jobs)
        spec = jobs.get(named[-1])
        return _deleted(reference) if spec is None else ResolvedDefinition(definition_of_job(reference.id, spec), spec)

    def _keep_children(self, source: str, jobs: Mapping[str, JobSpec]) -> None:
        """Cache decoded children, so that a large workflow is decoded once and not once per step."""
        if jobs:
            self._children[source] = jobs
            if len(self._children) > _SOURCES_KEPT:
                self._children.popitem(last=False)

    def _keep(self, known: ResolvedDefinition) -> None:
        self._recent[known.definition.id] = known
        if len(self._recent) >= self._kept:
            self._former, self._recent = self._recent, {}


class DefinitionRows(NamedTuple):
    """The rows that `Missing` named."""

    jobs: Mapping[JobId, tuple[Any, int]]
    """Specification and revision."""
    versions: Mapping[tuple[str, int], Any]
    """The specification of each version of a workflow."""
    bodies: Mapping[RunId, Any]


NO_ROWS: Final = DefinitionRows({}, {}, {})


def _job(reference: Reference, rows: Mapping[JobId, tuple[Any, int]]) -> ResolvedDefinition:
    row = rows.get(reference.job_id)
    if row is None:
        return _deleted(reference)
    document, revision = row
    spec = read_column(decode_job_spec, document, "job", reference.job_id)
    return ResolvedDefinition(definition_of_job(job_definition_id(reference.job_id, revision), spec, revision), spec)


def _source(definition_id: DefinitionId) -> str:
    """Return the workflow version or the tree that contains the definition."""
    return definition_id.partition("/")[0]


def _steps(named: StepReference, found: DefinitionRows) -> Mapping[str, JobSpec]:
    """Return what each step of a version runs, except steps that name a job: those jobs are stored in the tree."""
    document = found.versions.get((named.workflow_id, named.version))
    if document is None:
        return {}
    kind = f"version {named.version} of workflow"
    spec = read_column(_WORKFLOW.decode, document, kind, named.workflow_id)
    return {step.name: definition_of(step, {}) for step in spec.steps if step.job is None}


def _jobs_of_tree(named: TreeReference, found: DefinitionRows) -> Mapping[str, JobSpec]:
    document = found.bodies.get(named.run_id)
    return {} if document is None else read_column(_BODY.decode, document, "execution", named.run_id).jobs


def _deleted(reference: Reference) -> ResolvedDefinition:
    error = f'job "{reference.job_id}" has been deleted'
    return ResolvedDefinition(Definition(id=reference.id, error=error, reason=Reason.HANDLER_MISSING))
