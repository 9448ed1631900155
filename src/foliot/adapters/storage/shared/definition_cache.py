"""Finds what runs are to do, by the ids of their definitions (`domain.job.definition`), whatever the database.

An id always means the same, so that what is known never becomes outdated: a definition is read once by a process.
Adapters ask `Definitions.missing` what they must read, hand the rows over, and ask again.
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
"""A definition is forgotten when so many others were used since."""
_WORKFLOW: Final = msgspec.json.Decoder(WorkflowSpec)


class _Body(msgspec.Struct):
    """The part of a tree's body that its children refer to."""

    jobs: dict[str, JobSpec] = {}


_BODY: Final = msgspec.json.Decoder(_Body)


class Reference(NamedTuple):
    """What is stored with a run about what it does."""

    job_id: JobId
    revision: int | None
    """Of the job, as it is now. None: the job has been deleted."""
    definition_id: DefinitionId | None

    @property
    def id(self) -> DefinitionId:
        return self.definition_id or job_definition_id(self.job_id, self.revision)


class Known(NamedTuple):
    """A definition with the rest of its job. No job: the definition says why."""

    definition: Definition
    job: JobSpec | None = None

    def options(self, overrides: bytes | None) -> Options:
        """How runs of it are handled, with what was given for one of them."""
        if self.job is None and self.definition.reason is not Reason.HANDLER_MISSING:
            return UNKNOWN_OPTIONS
        try:
            return options_of_run(Options() if self.job is None else self.job.options, overrides)
        except UNREADABLE:
            return UNKNOWN_OPTIONS


def gated_of(row: Sequence[Any], known: Known) -> Gated:
    """run_id, job_id, planned, due_at, and more; with the gate that its definition has. A deleted job has no gate."""
    gate = None if known.job is None else known.job.gate
    is_deleted = known.definition.reason is Reason.HANDLER_MISSING
    run_id, job_id, planned, due_at, *_ = row
    return Gated(run_id, job_id, planned, due_at, gate, None if is_deleted else known.definition.error)


class Missing(NamedTuple):
    """What must be read."""

    jobs: set[JobId]
    versions: set[tuple[str, int]]
    bodies: set[RunId]

    def __bool__(self) -> bool:
        return bool(self.jobs or self.versions or self.bodies)


class Definitions:
    """The definitions that one process knows: those that were used lately. Used by one thread."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._recent: dict[DefinitionId, Known] = {}
        self._former: dict[DefinitionId, Known] = {}
        self._children: OrderedDict[str, Mapping[str, JobSpec]] = OrderedDict()
        """What the steps of recent versions, and the jobs of recent trees, do."""

    def missing(self, references: Iterable[Reference]) -> Missing:
        missing = Missing(set(), set(), set())
        for reference in references:
            if self._known(reference) is not None:
                continue
            if reference.definition_id is None:
                if reference.revision is not None:
                    missing.jobs.add(reference.job_id)
                continue
            try:
                named = read_reference(reference.definition_id)
            except ValueError:
                continue
            if _source(reference.definition_id) in self._children:
                continue
            if isinstance(named, StepReference):
                missing.versions.add((named.workflow_id, named.version))
            else:
                missing.bodies.add(named.run_id)
        return missing

    def find(self, references: Collection[Reference], found: "Found") -> dict[DefinitionId, Known]:
        """All of these, by the ids that were asked for. What was missing is in `found`.

        A job may have been changed since its revision was read; then its newest definition is the answer.
        """
        known = {reference.id: one for reference in references if (one := self._known(reference)) is not None}
        if len(known) == len(references):
            return known
        return known | {one.id: self._take(one, found) for one in references if one.id not in known}

    def _known(self, reference: Reference) -> Known | None:
        """A definition that is used now stays known until many others were read."""
        known = self._recent.get(reference.id)
        if known is None and (known := self._former.get(reference.id)) is not None:
            self._keep(known)
        return known

    def _take(self, reference: Reference, found: "Found") -> Known:
        try:
            known = self._read(reference, found)
        except RowUnreadable as error:
            # Not kept: the row may be repaired.
            return Known(Definition(id=reference.id, error=str(error)))
        if known.job is not None:
            self._keep(known)
        return known

    def _read(self, reference: Reference, found: "Found") -> Known:
        if reference.definition_id is None:
            return _job(reference, found.jobs)
        named = read_column(read_reference, reference.definition_id, "run of job", reference.job_id)
        jobs = self._children.get(_source(reference.definition_id))
        if jobs is None:
            jobs = _jobs_of_tree(named, found) if isinstance(named, TreeReference) else _steps(named, found)
            self._keep_children(_source(reference.definition_id), jobs)
        spec = jobs.get(named[-1])
        return _deleted(reference) if spec is None else Known(definition_of_job(reference.id, spec), spec)

    def _keep_children(self, source: str, jobs: Mapping[str, JobSpec]) -> None:
        """A large workflow is decoded once, not once for each of its steps."""
        if jobs:
            self._children[source] = jobs
            if len(self._children) > _SOURCES_KEPT:
                self._children.popitem(last=False)

    def _keep(self, known: Known) -> None:
        self._recent[known.definition.id] = known
        if len(self._recent) >= self._kept:
            self._former, self._recent = self._recent, {}


class Found(NamedTuple):
    """Rows that were read because they were missing."""

    jobs: Mapping[JobId, tuple[Any, int]]
    """Specification and revision."""
    versions: Mapping[tuple[str, int], Any]
    """The specification of each version of a workflow."""
    bodies: Mapping[RunId, Any]


NOTHING_FOUND: Final = Found({}, {}, {})


def _job(reference: Reference, rows: Mapping[JobId, tuple[Any, int]]) -> Known:
    row = rows.get(reference.job_id)
    if row is None:
        return _deleted(reference)
    document, revision = row
    spec = read_column(decode_job_spec, document, "job", reference.job_id)
    return Known(definition_of_job(job_definition_id(reference.job_id, revision), spec, revision), spec)


def _source(definition_id: DefinitionId) -> str:
    """The version, or the tree, that a definition is part of."""
    return definition_id.partition("/")[0]


def _steps(named: StepReference, found: Found) -> Mapping[str, JobSpec]:
    """What the steps of a version do; not those that name a job, which is part of the tree."""
    document = found.versions.get((named.workflow_id, named.version))
    if document is None:
        return {}
    kind = f"version {named.version} of workflow"
    spec = read_column(_WORKFLOW.decode, document, kind, named.workflow_id)
    return {step.name: definition_of(step, {}) for step in spec.steps if step.job is None}


def _jobs_of_tree(named: TreeReference, found: Found) -> Mapping[str, JobSpec]:
    document = found.bodies.get(named.run_id)
    return {} if document is None else read_column(_BODY.decode, document, "execution", named.run_id).jobs


def _deleted(reference: Reference) -> Known:
    error = f'job "{reference.job_id}" has been deleted'
    return Known(Definition(id=reference.id, error=error, reason=Reason.HANDLER_MISSING))
