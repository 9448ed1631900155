"""Definitions: the part of a job that a worker needs to execute a run, identified by an id.

    job:report@7            the job, at one revision
    step:etl@3.17/extract   a step, by version of its workflow and revision of the workflow's job
    tree:01J.../report      a job as it was when a tree was opened, stored in the tree's body
    map:report              a fanout over the items of its run, with one run of the job for each

The definition of an id never changes, so a worker that has it never needs to read it again.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import DefinitionId, JobId, RunId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.job import ItemVariables, JobSpec, Options, options_in, overlay
from foliot.domain.job.kinds import TIMEOUTS
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.outcome import Reason
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.retry import Retry
from foliot.errors import RowUnreadable

_MAP: Final = ".map"
_GIVEN: Final = msgspec.json.Decoder(dict[str, Any])


class Definition(Struct, frozen=True, kw_only=True):
    """What to execute and its timeout. `error`: why it cannot be executed."""

    id: DefinitionId
    kind: str = ""
    """The runner that executes it."""
    spec: Mapping[str, Any] = {}
    written: Mapping[str, Any] = {}
    """Fields with environment variables, as they were written. Logs show these instead of the values."""
    timeout: Millis | None = None
    variables: Mapping[str, str] = {}
    """Environment variables of one run, in addition to those of the specification."""
    not_after: Instant | None = None
    """The moment from which an attempt of one run does not start."""
    item: ItemVariables | None = None
    """How processes get the payload as the item of a fanout."""
    manifest: bool = False
    """Whether processes get a file that lists the results of the fanout that the run belongs to."""
    revision: int | None = None
    """The revision of the job. None: a step."""
    error: str | None = None
    reason: Reason = Reason.LAUNCH_FAILED
    """The reason with which the run fails if `error` is set."""

    def __repr__(self) -> str:
        # A specification may hold secrets, and a repr ends up in logs.
        return f"<Definition {self.id}>"

    def with_overrides(self, run_id: RunId, overrides: bytes | None) -> "Definition":
        """Return the definition with the options and fields of one run."""
        if overrides is None or self.error is not None:
            return self
        try:
            given = _GIVEN.decode(overrides)
            timeout = overlay(Options(timeout=self.timeout), _known_options(given)).timeout
            fields = given.get("spec") or {}
            variables = msgspec.convert(given.get("variables") or {}, dict[str, str])
            not_after = msgspec.convert(given.get("not_after"), int | None)
            return replace(
                self,
                spec={**self.spec, **fields},
                timeout=timeout,
                variables=variables,
                not_after=None if not_after is None else Instant(not_after),
            )
        except UNREADABLE as cause:
            # The run is not executed without its overrides: they may exist to avoid the job's own settings.
            return replace(self, error=str(RowUnreadable("run", run_id, cause)))


@lru_cache(maxsize=4_096)
def job_definition_id(job_id: JobId, revision: int | None) -> DefinitionId:
    return DefinitionId(f"job:{job_id}@{'' if revision is None else revision}")


def step_definition_id(workflow_id: str, version: int, revision: int | None, step: str) -> DefinitionId:
    return DefinitionId(f"step:{workflow_id}@{version}.{'' if revision is None else revision}/{step}")


def tree_definition_id(run_id: RunId, job_id: JobId) -> DefinitionId:
    return DefinitionId(f"tree:{run_id}/{job_id}")


def map_definition_id(job_id: JobId) -> DefinitionId:
    return DefinitionId(f"map:{job_id}")


def map_job_id(job_id: JobId) -> JobId:
    """Return the job id of the fanouts that run a job for each item."""
    return JobId(f"{job_id}{_MAP}")


def mapped_job(job_id: JobId) -> JobId | None:
    """Return the job that a fanout with this job id runs for each item. None: it is no such id."""
    return JobId(job_id.removesuffix(_MAP)) if job_id.endswith(_MAP) else None


class StepReference(NamedTuple):
    """A step of a version of a workflow."""

    workflow_id: str
    version: int
    step: str


class TreeReference(NamedTuple):
    """A job in the body of a tree."""

    run_id: RunId
    job_id: JobId


class MapReference(NamedTuple):
    """A fanout over a registered job."""

    job_id: JobId

    @property
    def spec(self) -> JobSpec:
        return JobSpec(kind=FANOUT, spec={"job": self.job_id}, options=Options(queue=TREES_QUEUE))


def read_reference(definition_id: DefinitionId) -> StepReference | TreeReference | MapReference:
    """Return what the id of a definition refers to. Raise ValueError for the id of a job, or of nothing."""
    kind, _, rest = definition_id.partition(":")
    if kind == "map" and rest:
        return MapReference(JobId(rest))
    place, separator, name = rest.partition("/")
    if kind == "tree" and separator:
        return TreeReference(RunId(place), JobId(name))
    if kind == "step" and separator:
        workflow_id, _, numbers = place.rpartition("@")
        return StepReference(workflow_id, int(numbers.partition(".")[0]), name)
    raise ValueError(f"{definition_id[:128]!a} is not the id of a definition")


def definition_of_job(definition_id: DefinitionId, spec: JobSpec, revision: int | None = None) -> Definition:
    """Return the definition of a job. A job without a timeout gets the default of its kind."""
    default = TIMEOUTS.get(spec.runner)
    return Definition(
        id=definition_id,
        kind=spec.runner,
        spec=spec.spec,
        written=spec.written,
        timeout=default if spec.options.timeout is None else spec.options.timeout,
        revision=revision,
        item=spec.item,
        manifest=spec.manifest,
    )


def options_of_run(options: Options, overrides: bytes | None) -> Options:
    """Return the options of a job with the overrides of one run. Raises one of `UNREADABLE` if these cannot be read."""
    return options if overrides is None else overlay(options, _known_options(_GIVEN.decode(overrides)))


def _known_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options, without those of a later version of Foliot."""
    options = _fields_of(Options, options_in(given))
    if isinstance(options.get("retry"), dict):
        options["retry"] = _fields_of(Retry, options["retry"])
    return options


def _fields_of(kind: type[Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in kind.__struct_fields__}
