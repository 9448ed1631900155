"""Writes a stored workflow as the JSON document that it can be read from (`config.workflow_json`).

Values that are the defaults are left out. Functions of an application have no name that a document could use.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final

import msgspec

from foliot.domain.fanout.spec import FANOUT, OWN_FIELDS, FanoutFields, Reducer
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import SECOND, Instant, to_iso
from foliot.domain.job.job import DEFAULT_QUEUE, JobSpec, Options
from foliot.domain.job.kinds.agent import ARGS as AGENT_ARGS
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.domain.secrets import public_value
from foliot.domain.vocabulary.field import Field, only, without
from foliot.domain.vocabulary.job import DESCRIPTION, GATE, OPTIONS
from foliot.domain.vocabulary.kind import FANOUT_FIELDS, GATE_KIND, KIND_FIELDS
from foliot.domain.vocabulary.schedule import CATCHUP, ENABLED, JITTER, OVERLAP, PAYLOAD, POLICY, TIMEZONE, USER
from foliot.domain.vocabulary.workflow import APPROVAL, EXECUTION, WORKFLOW_ONLY
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import ON_SUCCESS, Approval, Edge, Step, StepOverlap, WorkflowSpec
from foliot.errors import InvalidWorkflow, Problem

Written = dict[str, Any]

_UNWRITABLE: Final = "Change it where it is defined. A document can only have steps with a command, a call or a job."
_TO_LEAVE_OUT: Final = "Leave it out where it is defined."
_HEAD: Final = only(
    WORKFLOW_ONLY, "description", "owner", "tags", "enabled", "params", "partial_counts_as", "final_on_cancel"
)
_FROM_STEP: Final = re.compile(r"\{\{ (steps\..*) \}\}")
"""The items of a fanout that are the output of a step (`config.work`)."""
_DESCRIBED: Final = only(DESCRIPTION, "description", "category", "owner", "tags")


def write_workflow(workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Written:
    """Return the document of a workflow with these of its schedules. Refuse one that cannot be written as such."""
    problems = [*_problems(spec)]
    if problems:
        raise InvalidWorkflow(workflow_id, problems, cannot="be written as a document", hint=_UNWRITABLE)
    written = {
        "id": workflow_id,
        **write_changed(_HEAD, spec, WorkflowSpec(steps=())),
        **_options(spec.options),
        **({"schedules": [*write_schedules(workflow_id, schedules)]} if schedules else {}),
        "steps": [_step(step) for step in spec.steps],
    }
    document: Written = msgspec.json.decode(msgspec.json.encode(written))
    return document


def public_workflow(document: Written) -> Written:
    """Return a document with stars for values that may be secrets. It cannot be deployed as it is."""
    shown = {name: public_value(name, value) for name, value in document.items()}
    for name in ("steps", "schedules"):
        if name in document:
            shown[name] = [{key: public_value(key, value) for key, value in one.items()} for one in document[name]]
    return shown


def _problems(spec: WorkflowSpec) -> Iterator[Problem]:
    """Yield the parts that cannot be written."""
    known = {field.name for field in EXECUTION}
    for name in _options(spec.options).keys() - known:
        yield Problem.error(f"{name} of a workflow has no place in a document", _TO_LEAVE_OUT)
    for step in spec.steps:
        if step.definition is not None:
            for name in unwritable_fields(step.definition):
                yield Problem.error(f'step "{step.name}": {name} has no place in a document', _TO_LEAVE_OUT)


def unwritable_fields(job: JobSpec) -> set[str]:
    """Return the fields of a job that have no place in a document."""
    return job.spec.keys() - _fields(job.runner)


def _fields(runner: str) -> set[str]:
    if runner == FANOUT:
        return {*OWN_FIELDS, *(name for kind in KIND_FIELDS for name in _fields(kind))}
    own = {field.attribute for field in KIND_FIELDS[runner]} if runner in KIND_FIELDS else set()
    return own | set(AGENT_ARGS if runner == "agent" else ())


def _step(step: Step) -> Written:
    written: Written = {"name": step.name}
    if step.after:
        written["after"] = [_edge(edge) for edge in step.after]
    if step.is_final:
        written["final"] = True
    if step.recovers:
        written["recovers"] = True
    if step.overlap is not StepOverlap.ALLOW:
        written["overlap"] = step.overlap
    payload = step.payload if step.definition is None or step.payload is not None else step.definition.payload_template
    if payload is not None:
        written["params" if step.is_subworkflow else "payload"] = payload
    return written | _work(step)


def _work(step: Step) -> Written:
    if step.definition is not None:
        return write_definition(step.definition)
    if step.approval is not None:
        return {"approve": _approval(step.approval)}
    if step.is_subworkflow:
        return {"workflow": step.job}
    return {"job": step.job, **step.spec}


def _edge(edge: Edge) -> str | Written:
    if edge.when == ON_SUCCESS and edge.test is None:
        return edge.parent
    written: Written = {"step": edge.parent, "when": sorted(edge.when)}
    if edge.test is not None:
        usual = OutputTest()
        values = {name: getattr(edge.test, name) for name in edge.test.__struct_fields__}
        written |= {name: value for name, value in values.items() if value != getattr(usual, name)}
    return written


def _approval(approval: Approval) -> bool | Written:
    return write_changed(APPROVAL, approval, Approval()) or True


def _fanout(job: JobSpec) -> Written:
    """Return a fanout with its children and its reducer."""
    own = msgspec.convert({name: job.spec[name] for name in OWN_FIELDS if name in job.spec}, FanoutFields)
    written: Written = {"kind": FANOUT, "inner_kind": own.inner_kind}
    written |= write_changed(without(FANOUT_FIELDS, "reducer"), own, FanoutFields())
    from_step = _FROM_STEP.fullmatch(own.items) if isinstance(own.items, str) else None
    if from_step is not None:
        written["inputs_from"] = from_step[1]
        del written["items"]
    if own.window != FanoutFields().window:
        written["window"] = own.window / SECOND
    if own.reducer is not None:
        written["reducer"] = _reducer(own.reducer)
    options = msgspec.to_builtins(job.options) | {"queue": DEFAULT_QUEUE} | dict(own.child_options)
    return {
        **written,
        **dict(_given(KIND_FIELDS[own.inner_kind], job.spec)),
        **write_changed(_DESCRIBED, job, JobSpec(kind=job.kind)),
        **_options(msgspec.convert(options, Options)),
        **({} if job.gate is None else write_changed((*GATE, TIMEZONE), job.gate, Gate(depends_on=()))),
    }


def _reducer(reducer: Reducer) -> Written:
    command = next((reducer.spec[name] for name in ("command", "call", "prompt") if name in reducer.spec), None)
    written: Written = {
        "command": msgspec.json.encode(reducer.spec).decode() if command is None else command,
        "inner_kind": reducer.kind,
        "run_on": reducer.run_on,
    }
    if reducer.retry.retries:
        written |= {"retries": reducer.retry.retries, "retry_delay": reducer.retry.base / SECOND}
    return written if reducer.timeout is None else {**written, "timeout": reducer.timeout / SECOND}


def write_definition(job: JobSpec) -> Written:
    if job.kind == FANOUT:
        return _fanout(job)
    inner = {"inner_kind": job.inner_kind} if job.kind == GATE_KIND else {}
    args = {name: job.spec[name] for name in AGENT_ARGS if job.runner == "agent" and name in job.spec}
    return {
        "kind": job.kind,
        **inner,
        **dict(_given(KIND_FIELDS[job.runner], job.spec)),
        **({"args": args} if args else {}),
        **write_changed(_DESCRIBED, job, JobSpec(kind=job.kind)),
        **_options(job.options),
        **({} if job.gate is None else write_changed((*GATE, TIMEZONE), job.gate, Gate(depends_on=()))),
    }


def _given(fields: Iterable[Field], spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for field in fields:
        value = spec.get(field.attribute)
        if value is not None:
            yield field.name, dict(_given(field.table, value)) if field.table is not None else field.read.write(value)


def _options(options: Options) -> Written:
    """Return the options that are not the defaults."""
    written = write_changed(OPTIONS, options, Options())
    if options.retry.delays:
        written["retries"] = options.retry.retries  # a list of pauses alone would mean as many retries
    return written


def write_schedules(workflow_id: str, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Iterator[Written]:
    for name, spec in schedules.items():
        yield _schedule(name.removeprefix(f"{workflow_id}:"), spec)


def _schedule(name: str, spec: ScheduleSpec) -> Written:
    changed = write_changed((ENABLED, *POLICY, PAYLOAD, USER), spec, ScheduleSpec(type=spec.type))
    # Written in any case: another application may have other defaults.
    policies = {field.name: field.read.write(getattr(spec, field.attribute)) for field in (OVERLAP, CATCHUP, JITTER)}
    return {"name": name, **_rule(spec), **changed, **policies}


def _rule(spec: ScheduleSpec) -> Written:
    match spec.type:
        case ScheduleType.INTERVAL:
            return {"every": int(spec.expr)}
        case ScheduleType.ONCE:
            return {"at": to_iso(Instant(int(spec.expr)))}
        case ScheduleType.MANUAL if not spec.expr:
            return {"manual": True}
        case _:
            return {"cron": spec.expr}


def write_changed(fields: Iterable[Field], value: msgspec.Struct, usual: msgspec.Struct) -> Written:
    """Return the options whose values are not the default ones."""
    read = {field: attrgetter(field.attribute) for field in fields}
    return {field.name: field.read.write(get(value)) for field, get in read.items() if get(value) != get(usual)}
