"""Writes a stored job, workflow or class of chains as TOML, as it could be in a configuration file.

Values that may be secrets are masked. Characters that would be a variable in a file are escaped: `$${`. A value that
was written with variables, in a file, is written so again.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from foliot.config.chain_writing import as_written, public_chain, write_chain
from foliot.config.job_writing import URL_OPTIONS, public_job, write_job
from foliot.config.toml_writing import write_key, write_table
from foliot.config.workflow_writing import Written, public_workflow, write_workflow
from foliot.domain.chain.spec import CHAIN as CHAIN_KIND
from foliot.domain.chain.spec import STAGES
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.notification.rule import SEALED
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.secrets import HIDDEN
from foliot.domain.vocabulary.chain import CHAIN, INTERVAL, STAGE
from foliot.domain.vocabulary.field import Schema
from foliot.domain.vocabulary.places import JOB, SCHEDULE, STEP, WORKFLOW, WORKFLOW_SCHEDULE
from foliot.domain.vocabulary.schedule import POLICY, RULE
from foliot.domain.vocabulary.workflow import APPROVAL, EDGE
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidWorkflow, NotWritable

_DEFAULT: Final = "default"
_PLAIN_SCHEDULE: Final = frozenset({"name", *(field.name for field in (*RULE, *POLICY))})
"""The keys of a schedule that can be beside those of its job."""
_INNER: Final[Mapping[str, Mapping[str, Schema]]] = {
    "jobs": {"schedules": SCHEDULE},
    "workflows": {"schedules": WORKFLOW_SCHEDULE, "steps": STEP},
    "chains": {"intervals": INTERVAL, "stages": STAGE, **dict.fromkeys(STAGES, STAGE)},
    "steps": {"after": EDGE, "approve": APPROVAL},
}
"""The tables in a table, with the options of each."""
_CHANGE_IT: Final = "Change it where it is defined."


class WrittenText(NamedTuple):
    """A definition as TOML."""

    toml: str
    is_masked: bool
    """Whether it has *** in place of secrets."""


def write_job_text(job_id: JobId, job: JobSpec, schedules: Mapping[ScheduleId, ScheduleSpec]) -> WrittenText:
    """Return a job, a fanout or a class of chains as TOML. Raise NotWritable if no text can contain it."""
    if job.kind == CHAIN_KIND:
        return _text("chains", CHAIN, write_chain(job_id, job, schedules), _public(as_written(job), job_id, schedules))
    given = write_job(job_id, job, schedules)
    shown = write_job(job_id, job.as_written, schedules)
    if given is None or shown is None:
        raise NotWritable(f'job "{job_id}" is a function or has options that no text can contain', hint=_CHANGE_IT)
    return _text("jobs", JOB, _plain(given), _plain(public_job(shown)))


def write_workflow_text(
    workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
) -> WrittenText:
    """Return a workflow as TOML. Raise NotWritable if a step is a function."""
    try:
        given = write_workflow(workflow_id, spec, schedules)
        shown = write_workflow(workflow_id, spec.as_written, schedules)
    except InvalidWorkflow as error:
        raise NotWritable(error.message, hint=error.hint) from None
    return _text("workflows", WORKFLOW, given, public_workflow(shown))


def secret_tree(job_id: JobId, job: JobSpec, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Written:
    """Return the table of a job or a class of chains as it could be in a file, with its secrets."""
    if job.kind == CHAIN_KIND:
        return _escaped("chains", CHAIN, write_chain(job_id, job, schedules), None)
    urls = {name: url for name in URL_OPTIONS if (url := getattr(job.notify, name)) and not url.startswith(SEALED)}
    return _escaped("jobs", JOB, {**(write_job(job_id, job, schedules) or {}), **urls}, None)


def secret_workflow_tree(workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Written:
    """Return the table of a workflow as it could be in a file, with its secrets; empty if a step is a function."""
    try:
        return _escaped("workflows", WORKFLOW, write_workflow(workflow_id, spec, schedules), None)
    except InvalidWorkflow:
        return {}


def _public(job: JobSpec, class_id: JobId, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Written:
    return public_chain(write_chain(class_id, job, schedules))


def _plain(document: Written) -> Written:
    """Return a job with the keys of its only schedule beside its own, if that means the same."""
    schedules = document.get("schedules", ())
    if len(schedules) != 1 or schedules[0]["name"] != _DEFAULT or "depends_on" in document:
        return document
    [only] = schedules
    if only.keys() - _PLAIN_SCHEDULE or only.keys() & document.keys() - {"name"}:
        return document
    rule = {key: value for key, value in only.items() if key != "name"}
    rest = {key: value for key, value in document.items() if key not in ("id", "schedules")}
    return {"id": document["id"], **rule, **rest}


def _text(name: str, schema: Schema, given: Written, shown: Written) -> WrittenText:
    """Return the text of a definition. `given`: with the values that are used; `shown`: with what is shown for them."""
    tree = _escaped(name, schema, shown, given)
    _refuse_null(tree, "")
    return WrittenText("\n\n".join(_tables((name,), tree)) + "\n", _has_masks(tree))


# -- tables


def _tables(path: tuple[str, ...], tree: Written) -> Iterator[str]:
    """Yield the table, and then the tables in it that have a header of their own."""
    inner = [key for key in tree if key in _INNER.get(path[-1], ()) and (path[-1] != "steps")]
    yield write_table(f"[[{write_key(path)}]]", {key: value for key, value in tree.items() if key not in inner})
    for key in inner:
        value = tree[key]
        if isinstance(value, list):
            for item in value:
                yield from _tables((*path, key), item)
        elif key == "stages":
            for name, stage in value.items():
                yield write_table(f"[{write_key((*path, key, name))}]", stage)
        else:
            yield write_table(f"[{write_key((*path, key))}]", value)


# -- variables, masks and null


def _escaped(name: str, schema: Schema, shown: Written, given: Written | None) -> Written:
    """Return a table in which nothing is a variable, except where it was one."""
    inner = _INNER.get(name, {})
    found: Written = {}
    for key, value in shown.items():
        before = None if given is None else given.get(key)
        if key in inner:
            found[key] = _inside(key, inner[key], value, before)
            continue
        field = schema.find(key)
        was_variable = given is not None and before != value and not _has_masks(value)
        is_left = was_variable or field is None or field.is_literal
        if field is not None and field.table is not None and not is_left:
            found[key] = _escaped(key, field.table, value, before)
        else:
            found[key] = value if is_left else _without_variables(value)
    return found


def _inside(key: str, schema: Schema, value: Any, given: Any) -> Any:
    match value:
        case list():
            pairs = zip(value, given if isinstance(given, list) else [None] * len(value), strict=True)
            return [_escaped(key, schema, one, other) if isinstance(one, dict) else one for one, other in pairs]
        case dict() if key == "stages":
            return {name: _escaped(name, schema, one, given and given.get(name)) for name, one in value.items()}
        case dict():
            return _escaped(key, schema, value, given)
    return value


def _without_variables(value: Any) -> Any:
    match value:
        case str():
            return value.replace("${", "$${")
        case list():
            return [_without_variables(item) for item in value]
        case dict():
            return {name: _without_variables(item) for name, item in value.items()}
    return value


def _has_masks(value: Any) -> bool:
    each: Callable[[Any], bool] = _has_masks
    match value:
        case str():
            return HIDDEN in value
        case list():
            return any(map(each, value))
        case dict():
            return any(map(each, value.values()))
    return False


def _refuse_null(value: Any, path: str) -> None:
    """Refuse JSON's null in a payload or an output test, which TOML does not have."""
    if value is None:
        raise NotWritable(f"{path} is null, which TOML cannot contain", hint="Read the definition as JSON instead.")
    children = value.items() if isinstance(value, dict) else enumerate(value, 1) if isinstance(value, list) else ()
    for name, item in children:
        _refuse_null(item, f"{path}.{name}" if path else str(name))
