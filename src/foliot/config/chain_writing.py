"""Writes a class of chains as the document that it can be read from: the keys of [[chains]]."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import convert
from msgspec.structs import replace

from foliot.config.workflow_writing import Written, write_changed, write_definition, write_schedules
from foliot.domain.chain.spec import STAGES, ChainSpec, Interval, Stage
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.secrets import public_value
from foliot.domain.vocabulary.chain import BREAKER, CHAIN_ONLY, IDENTITY_OF_CLASS, INTERVAL, LIMITS, STAGE_ONLY
from foliot.domain.vocabulary.field import Field, only
from foliot.domain.vocabulary.job import DESCRIPTION

_HEAD: Final = (*only(IDENTITY_OF_CLASS, "enabled"), *only(DESCRIPTION, "name", "description", "owner", "tags"))
_OWN: Final = only(CHAIN_ONLY, "window", "grace", "good_checks")
_PAYLOAD: Final = only(DESCRIPTION, "payload")


def write_chain(class_id: JobId, job: JobSpec, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Written:
    """Return the document of a class with its schedule. Stages have the keys of [chains.NAME].

    What is stored is written, defaults included: a value that equals a default may be stored all the same.
    """
    spec, stored = convert(job.spec, ChainSpec, str_keys=True), job.spec
    stages = {name: _stage(stage, stored["stages"][name]) for name, stage in spec.stages.items()}
    further = {name: stage for name, stage in stages.items() if name not in STAGES}
    breaker = _given(BREAKER, spec.breaker, stored.get("breaker", {}))
    written: Written = {
        "id": class_id,
        **write_changed((*_HEAD, *_PAYLOAD), job, JobSpec(kind=job.kind)),
        **_rule(class_id, schedules),
        **_given(LIMITS, spec.limits, stored.get("limits", {})),
        **_given(_OWN, spec, stored),
        **({"breaker": breaker} if breaker else {}),
        **({"intervals": [_interval(one) for one in spec.intervals]} if "intervals" in stored else {}),
        **{name: stages[name] for name in STAGES if name in stages},
        **({"stages": further} if further else {}),
    }
    document: Written = msgspec.json.decode(msgspec.json.encode(written))
    return document


def _given(fields: Iterable[Field], value: msgspec.Struct, stored: Mapping[str, Any]) -> Written:
    """Return the options that are stored."""
    return {field.name: field.read.write(getattr(value, field.name)) for field in fields if field.name in stored}


def as_written(job: JobSpec) -> JobSpec:
    """Return a class with the names of environment variables instead of their values: to be shown, not to be run."""
    stages = {name: _stage_as_written(stage) for name, stage in job.spec.get("stages", {}).items()}
    return replace(job.as_written, spec={**job.spec, "stages": stages})


def public_chain(document: Written) -> Written:
    """Return a document with stars for values that may be secrets."""
    shown: dict[str, Any] = {name: public_value(name, value) for name, value in document.items()}
    named = {name: document[name] for name in STAGES if name in document}
    shown |= {name: _public(stage) for name, stage in named.items()}
    if "stages" in document:
        shown["stages"] = {name: _public(stage) for name, stage in document["stages"].items()}
    return shown


def _public(stage: Written) -> Written:
    return {name: public_value(name, value) for name, value in stage.items()}


def _rule(class_id: JobId, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Written:
    """Return the keys of the only schedule that a class has."""
    for written in write_schedules(class_id, schedules):
        return {key: value for key, value in written.items() if key != "name"}
    return {}


def _interval(interval: Interval) -> Written:
    return {field.name: field.read.write(value) for field in INTERVAL if (value := getattr(interval, field.name))}


def _stage(stage: Stage, stored: Mapping[str, Any]) -> Written:
    own = _given(STAGE_ONLY, stage, stored)
    if stage.job is not None:
        return own
    work = write_definition(JobSpec(kind=stage.kind, spec=stage.spec, options=convert(stage.options, Options)))
    return {**{name: value for name, value in work.items() if name != "kind" or name in stored}, **own}


def _stage_as_written(stage: dict[str, Any]) -> dict[str, Any]:
    written = stage.get("written", {})
    return {**stage, "spec": {name: written.get(name, value) for name, value in stage.get("spec", {}).items()}}
