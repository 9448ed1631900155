"""The run of a step: its definition, its payload, its variables, and templates in its fields."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, convert
from msgspec.structs import replace

from foliot.domain.chain.spec import SCOUT, ChainSpec, Stage
from foliot.domain.chain.state import Chain, ChainStep
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE, Instant, Millis, to_iso
from foliot.domain.job.definition import tree_definition_id
from foliot.domain.job.job import Delivery, JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import NewRun
from foliot.domain.tree.tree import Tree
from foliot.domain.workflow.spec import GRAPH

STEP_TRIGGER: Final = "chain"
SCOUT_TIMEOUT: Final = Millis(10 * MINUTE)
_TEMPLATES: Final = {
    **{name: name for name in ("chain_id", "chain_class", "stage", "depth", "attempt", "expires_at", "deadline")},
    "chainId": "chain_id",
    "chainClass": "chain_class",
    "expiresAt": "expires_at",
}
"""What may be between two braces -> the field of the metadata."""
_TEMPLATE: Final = re.compile(rf"\{{\{{\s*({'|'.join(_TEMPLATES)})\s*\}}\}}")
_TEMPLATED: Final = ("env", "prompt", "args", "command", "argv", "url", "body", "headers", "stdin")
"""Fields of a specification in which templates are replaced, except in the command line of a shell."""
_LAST_LINE: Final = "last_line"
_COMMANDS: Final = frozenset({"shell", "agent"})


class ChainBody(Struct, frozen=True, kw_only=True):
    """The immutable data of a chain, stored when it is opened."""

    class_id: str
    spec: ChainSpec
    jobs: Mapping[JobId, JobSpec]
    """The definitions of the stages, by the job ids of their runs."""
    stage_jobs: Mapping[str, JobId]
    """Stage -> the job id of its runs."""
    origin: RunId | None = None
    """The run that started an imperative chain."""
    payload: Any = None
    """The payload of the run, for all its steps."""

    @property
    def is_imperative(self) -> bool:
        return self.origin is not None


def stage_job(class_id: str, stage: str, given: Stage) -> JobId:
    """Return the job id of the runs of a stage."""
    return JobId(given.job) if given.job is not None else JobId(f"{class_id}.{stage}")


def stage_spec(stages: Mapping[str, Stage], registered: JobSpec | None) -> JobSpec:
    """Return what the runs of a stage execute: of one stage, or of several that run the same registered job.

    The chain retries, not the run; a lost action is not repeated.
    """
    given = next(iter(stages.values()))
    spec = JobSpec(kind=given.kind, spec=given.spec, written=given.written) if registered is None else registered
    options = convert(given.options, Options) if registered is None else spec.options
    is_repeatable = all(stage.idempotent or name == SCOUT for name, stage in stages.items())
    if options.queue != TREES_QUEUE:  # an execution or a fanout continues after a crash
        delivery = Delivery.AT_LEAST_ONCE if is_repeatable else Delivery.AT_MOST_ONCE
        options = replace(options, retry=Retry(), delivery=delivery)
    if SCOUT in stages and options.timeout is None:
        # Before it is armed, a chain has no expiry that would end a scout that hangs.
        options = replace(options, timeout=SCOUT_TIMEOUT)
    codes = {code for name, stage in stages.items() for code in stage.codes(name)}
    return replace(spec, options=options, spec=_with_codes(spec, codes))


def _with_codes(spec: JobSpec, codes: Any) -> Mapping[str, Any]:
    """Let the exit codes that decide something count as successes, and read JSON from the last line."""
    if spec.runner not in _COMMANDS:
        return spec.spec
    own = {"success_codes": sorted({0, *codes})}
    return {"output": _LAST_LINE, **spec.spec, **own}


def metadata(body: ChainBody, chain: Chain, step: ChainStep) -> dict[str, Any]:
    """Return what a step is told about its chain. It cannot change it."""
    limits = body.spec.limits
    return {
        "chain_id": chain.id,
        "chain_class": body.class_id,
        "stage": step.stage,
        "depth": step.depth,
        "attempt": step.attempt,
        "expires_at": _moment(chain.expires_at),
        "deadline": _moment(chain.deadline),
        "max_depth": limits.max_depth,
        "max_children": limits.max_children,
    }


def _moment(at: Instant | None) -> str | None:
    return None if at is None else to_iso(at)


def step_run(
    tree: Tree, body: ChainBody, chain: Chain, step: ChainStep, payload: Any = None, job: JobSpec | None = None
) -> NewRun:
    """Return the run of a step. `job`: the registered job that it runs, if it is no stage."""
    about = metadata(body, chain, step)
    job_id = body.stage_jobs.get(step.stage, JobId(step.stage))
    spec = body.jobs.get(job_id)
    known = job if spec is None else spec
    overrides: dict[str, Any] = {"variables": _variables(about)}
    if chain.expires_at is not None:
        overrides["not_after"] = chain.expires_at
    if spec is not None:
        rendered = _rendered(spec, about)
        if rendered:
            overrides["spec"] = rendered
    return NewRun(
        id=step.run_id,
        job_id=job_id,
        due_at=step.due_at,
        payload=_payload(body, chain, about, payload, known),
        options=Options() if known is None else known.options,
        overrides=msgspec.json.encode(overrides),
        trigger=STEP_TRIGGER,
        parent_id=tree.run_id,
        root_id=tree.root_id,
        child_key=step.key,
        definition_id=None if spec is None else tree_definition_id(tree.run_id, job_id),
        exempt=tree.held,
        scheduled_for=tree.planned,
        is_gated=job is not None and job.gate is not None,
    )


def _payload(body: ChainBody, chain: Chain, about: Mapping[str, Any], given: Any, job: JobSpec | None) -> bytes | None:
    """Return the payload of a step: the metadata, and what the request gave it, or the scout found, or the run had.

    A job that an imperative chain starts gets what it was given, as from any other caller.
    """
    if body.is_imperative:
        return None if given is None else msgspec.json.encode(given)
    found = body.payload if chain.data is None else chain.data
    payload = {"chain": about, "data": found if given is None else given}
    return msgspec.json.encode(payload if job is None or job.kind != GRAPH else _params(job, payload))


def _params(workflow: JobSpec, payload: dict[str, Any]) -> dict[str, Any]:
    """Return those of the metadata, the data and the fields of the data that are parameters of the workflow."""
    data, known = payload["data"], workflow.payload_template
    offered = {**data, **payload} if isinstance(data, dict) else payload
    return {name: value for name, value in offered.items() if isinstance(known, dict) and name in known}


def _variables(about: Mapping[str, Any]) -> dict[str, str]:
    names = {
        "FOLIOT_CHAIN_ID": "chain_id",
        "FOLIOT_CHAIN_CLASS": "chain_class",
        "FOLIOT_CHAIN_STAGE": "stage",
        "FOLIOT_CHAIN_DEPTH": "depth",
        "FOLIOT_CHAIN_ATTEMPT": "attempt",
        "FOLIOT_CHAIN_EXPIRES_AT": "expires_at",
        "FOLIOT_CHAIN_DEADLINE": "deadline",
    }
    return {variable: str(about[name]) for variable, name in names.items() if about[name] is not None}


def _rendered(spec: JobSpec, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a specification that contain templates, with values instead."""
    fields = {name: value for name, value in spec.spec.items() if name in _TEMPLATED and not _is_program(spec, name)}
    rendered = {name: _render(value, about) for name, value in fields.items()}
    return {name: value for name, value in rendered.items() if value != fields[name]}


def _is_program(spec: JobSpec, name: str) -> bool:
    """Whether it is a command line of a shell: values belong into its environment, not into its program text."""
    return spec.runner == "shell" and name == "command"


def _render(value: Any, about: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _TEMPLATE.sub(lambda found: "" if (known := about[_TEMPLATES[found[1]]]) is None else str(known), value)
    if isinstance(value, Mapping):
        return {name: _render(one, about) for name, one in value.items()}
    return [_render(one, about) for one in value] if isinstance(value, list | tuple) else value
