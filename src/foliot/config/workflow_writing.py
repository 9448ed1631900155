"""A stored workflow, written as the JSON document that it can be read from (`config.workflow_json`).

What is as it would be without saying is left out. Functions of an application have no name that a document could say.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from foliot.config.keys import EXECUTION, GATE_KIND, KIND_KEYS, OPTIONS
from foliot.config.schema import Key
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import SECOND, Instant, Millis, to_iso
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.job.kinds.agent import ARGS as AGENT_ARGS
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.domain.secrets import public_value
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import ON_SUCCESS, Approval, Edge, Step, StepOverlap, WorkflowSpec
from foliot.errors import InvalidWorkflow, Problem

Written = dict[str, Any]

_UNWRITABLE: Final = "Change it where it is defined. A step that a document can say has a command, a call or a job."

_TO_LEAVE_OUT: Final = "Leave it out where it is defined."
_USUAL: Final = {field: getattr(Options(), field) for field in Options.__struct_fields__}
_DESCRIBED: Final = ("description", "category", "owner", "tags", "labels")
_RETRY: Final = ("factor", "cap", "jitter", "delays")
_SPEC: Final[Mapping[str, Callable[[Any], Any]]] = {
    "umask": lambda mask: f"{mask:03o}",
    "expect_status": lambda ranges: [f"{first}-{last}" for first, last in ranges],
}
"""Fields of a specification that are written in another way than they are kept."""


def write_workflow(workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Written:
    """The document of a workflow with these of its schedules. Refused for one that no document can say."""
    problems = [*_problems(spec)]
    if problems:
        raise InvalidWorkflow(workflow_id, problems, cannot="be written as a document", hint=_UNWRITABLE)
    usual = WorkflowSpec(steps=())
    plain = ("description", "owner", "tags", "enabled", "params", "partial_counts_as", "final_on_cancel")
    written = {
        "id": workflow_id,
        **_unusual(spec, usual, plain),
        **_options(spec.options),
        **({"schedules": [*_schedules(workflow_id, schedules)]} if schedules else {}),
        "steps": [_step(step) for step in spec.steps],
    }
    document: Written = msgspec.json.decode(msgspec.json.encode(written))
    return document


def public_workflow(document: Written) -> Written:
    """A document as anybody may see it: with stars for what may be a secret. It cannot be deployed as it is."""
    shown = {name: public_value(name, value) for name, value in document.items()}
    for name in ("steps", "schedules"):
        if name in document:
            shown[name] = [{key: public_value(key, value) for key, value in one.items()} for one in document[name]]
    return shown


def _problems(spec: WorkflowSpec) -> Iterator[Problem]:
    """What cannot be written."""
    known = {key.name for key in EXECUTION}
    for name in _options(spec.options).keys() - known:
        yield Problem.error(f"{name} of a workflow has no place in a document", _TO_LEAVE_OUT)
    for step in spec.steps:
        if step.definition is not None:
            for name in step.definition.spec.keys() - _fields(step.definition.runner):
                yield Problem.error(f'step "{step.name}": {name} has no place in a document', _TO_LEAVE_OUT)


def _fields(runner: str) -> set[str]:
    own = {key.field for key in KIND_KEYS[runner]} if runner in KIND_KEYS else set()
    return own | set(AGENT_ARGS if runner == "agent" else ())


def _step(step: Step) -> Written:
    written: Written = {"name": step.name}
    if step.after:
        written["after"] = [_edge(edge) for edge in step.after]
    if step.is_final:
        written["final"] = True
    if step.overlap is not StepOverlap.ALLOW:
        written["overlap"] = step.overlap
    payload = step.payload if step.definition is None or step.payload is not None else step.definition.payload_template
    if payload is not None:
        written["payload"] = payload
    return written | _work(step)


def _work(step: Step) -> Written:
    if step.definition is not None:
        return _definition(step.definition)
    if step.approval is not None:
        return {"approve": _approval(step.approval)}
    return {"job": step.job, **step.spec}


def _edge(edge: Edge) -> str | Written:
    if edge.when == ON_SUCCESS and edge.test is None:
        return edge.parent
    written: Written = {"step": edge.parent, "when": sorted(edge.when)}
    if edge.test is not None:
        written |= _unusual(edge.test, OutputTest(), edge.test.__struct_fields__)
    return written


def _approval(approval: Approval) -> bool | Written:
    timeout = {} if approval.timeout is None else {"timeout_sec": _seconds(approval.timeout)}
    return {**timeout, **_unusual(approval, Approval(), ("default",))} or True


def _definition(job: JobSpec) -> Written:
    inner = {"inner_kind": job.inner_kind} if job.kind == GATE_KIND else {}
    args = {name: job.spec[name] for name in AGENT_ARGS if job.runner == "agent" and name in job.spec}
    return {
        "kind": job.kind,
        **inner,
        **dict(_said(KIND_KEYS[job.runner].keys, job.spec)),
        **({"args": args} if args else {}),
        **_unusual(job, JobSpec(kind=job.kind), _DESCRIBED),
        **_options(job.options),
        **({} if job.gate is None else _gate(job.gate)),
    }


def _said(keys: tuple[Key, ...], spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in keys:
        if key.field in spec and spec[key.field] is not None:
            yield key.name, _SPEC.get(key.field, lambda value: value)(spec[key.field])


def _gate(gate: Gate) -> Written:
    usual = Gate(depends_on=())
    plain = ("depends_on", "on_missing", "on_dep_fail", "partial_counts_as", "timezone")
    written = _unusual(gate, usual, plain)
    if gate.window_kind is not usual.window_kind:
        written["window"] = gate.window_kind
    spans = {"window_sec": "window", "wait_sec": "wait", "cooldown_sec": "cooldown"}
    return written | {
        name: _seconds(getattr(gate, field))
        for name, field in spans.items()
        if getattr(gate, field) != getattr(usual, field)
    }


def _options(options: Options) -> Written:
    """The options that are not as usual, by the names of their keys."""
    retry, usual = options.retry, Options().retry
    kept = {field: getattr(options, field) for field in Options.__struct_fields__ if field != "retry"}
    named = {
        **{name: value for name, value in kept.items() if value != _USUAL[name]},
        **_unusual(retry, usual, ("retries",)),
        **{f"retry_{name}": value for name, value in _unusual(retry, usual, _RETRY).items()},
        **({"retry_delay": retry.base} if retry.base != usual.base else {}),
    }
    if retry.delays:
        named["retries"] = retry.retries  # a list of pauses alone would mean as many retries
    return {key.name: _option(key, named[key.field]) for key in OPTIONS if key.field in named}


def _option(key: Key, value: Any) -> Any:
    if not key.name.endswith("_sec"):
        return value
    return [_seconds(part) for part in value] if isinstance(value, tuple) else _seconds(value)


def _schedules(workflow_id: str, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Iterator[Written]:
    for name, spec in schedules.items():
        yield _schedule(name.removeprefix(f"{workflow_id}:"), spec)


def _schedule(name: str, spec: ScheduleSpec) -> Written:
    usual = ScheduleSpec(type=spec.type)
    plain = ("timezone", "user_id", "jitter_mode", "overlap", "catchup", "dst", "dom_dow", "payload")
    moments = {"start_at": spec.start_at, "end_at": spec.end_at}
    return {
        "name": name,
        **_rule(spec),
        **_unusual(spec, usual, plain),
        **{key: to_iso(moment) for key, moment in moments.items() if moment is not None},
        **({"jitter_ms": spec.jitter} if spec.jitter else {}),
        **({} if spec.catchup_max_age is None else {"catchup_max_age_sec": _seconds(spec.catchup_max_age)}),
    }


def _rule(spec: ScheduleSpec) -> Written:
    match spec.type:
        case ScheduleType.INTERVAL:
            return {"every": int(spec.expr)}
        case ScheduleType.ONCE:
            return {"at": to_iso(Instant(int(spec.expr)))}
        case ScheduleType.MANUAL if not spec.expr:
            return {"manual": True}
        case _:
            return {"schedule": spec.expr}


def _unusual(value: msgspec.Struct, usual: msgspec.Struct, names: tuple[str, ...]) -> Written:
    """The fields that are not as they would be without saying."""
    return {name: getattr(value, name) for name in names if getattr(value, name) != getattr(usual, name)}


def _seconds(span: Millis) -> int | float:
    return span // SECOND if span % SECOND == 0 else span / SECOND
