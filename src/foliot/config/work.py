"""What a job or a step does: the specification that its runner reads, and the options of its runs.

A fanout has two sets of options: those of the parent, which a coordinator opens, and those of its children.
"""

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from foliot.config.document import Node
from foliot.config.inputs import check_inputs
from foliot.config.kinds import Kind, implied_kind, job_spec
from foliot.config.reading import Fields, Reading
from foliot.domain.fanout.spec import FANOUT, Reducer, RunOn
from foliot.domain.job.job import Options
from foliot.domain.job.kinds import KINDS, check_spec
from foliot.domain.job.kinds.http import read_command
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.retry import Retry
from foliot.domain.vocabulary.kind import FANOUT_FIELDS
from foliot.errors import InvalidInput

_OWN: Final = {field.name: field.attribute for field in FANOUT_FIELDS if field.name != "reducer"}
_OF_PARENT: Final = ("timeout", "max_concurrent", "concurrency_key", "concurrency_limit", "priority")
_OF_CHILDREN: Final = ("queue", "executor", "labels", "priority", "retry", "delivery", "max_lost")
_INHERITED: Final = ("env", "working_dir", "user", "umask", "limits", "grace", "output_cap")
"""What the reducer has in common with the children."""
_MAIN: Final = {"python": "call", "agent": "prompt"}
_STEP_OUTPUT: Final = "steps."


def read_work(
    kind: Kind, fields: Fields, options: Options, node: Node, reading: Reading
) -> tuple[dict[str, Any], Options]:
    """Return specification and options of a job, and report its problems."""
    if not kind.is_fanout:
        return job_spec(kind.runner, fields, node, reading), options
    own = _own_fields(kind, fields)
    inner = {} if "job" in own else job_spec(kind.runner, fields, node, reading)
    spec = {**inner, **own, "child_options": _some(options, _OF_CHILDREN)}
    _check_source(fields, node, reading)
    if "job" in own and own["job"] == fields.value("id"):
        reading.problems.error(fields["job"].place, "a fanout cannot start itself", "Name another job or workflow.")
    reducer = _reducer(fields, inner, node, reading)
    if reducer is not None:
        spec["reducer"] = msgspec.to_builtins(reducer)
    try:
        check_spec(FANOUT, spec)
    except InvalidInput as error:
        if not reading.problems.errors:
            reading.refuse(node.place, error)
    return spec, replace(_only(options, _OF_PARENT), queue=TREES_QUEUE)


def _own_fields(kind: Kind, fields: Fields) -> dict[str, Any]:
    own: dict[str, Any] = {"inner_kind": kind.runner, **fields.take(_OWN)}
    if "window" in fields:
        own["window"] = fields.value("window")
    inputs = own.get("inputs_from", "")
    if inputs.startswith(_STEP_OUTPUT):
        # Rendered when the step starts, like every template of a step.
        own["items"] = f"{{{{ {own.pop('inputs_from')} }}}}"
    return own


def _check_source(fields: Fields, node: Node, reading: Reading) -> None:
    """Report a fanout with no source of items, or with two."""
    given = [name for name in ("inputs_from", "items") if name in fields]
    if not given:
        hint = (
            'Name the source of the items, inputs_from = "file:///etc/targets.txt", or list them: items = ["a", "b"].'
        )
        reading.problems.error(node.place, "a job of kind fanout needs inputs_from or items", hint)
    source = fields.get("inputs_from")
    if source is not None and not source.value.startswith(_STEP_OUTPUT):
        check_inputs(source, reading)
    if len(given) > 1:
        reading.problems.error(fields["items"].place, "inputs_from and items both give the items", "Keep one of them.")


def _reducer(fields: Fields, inner: dict[str, Any], node: Node, reading: Reading) -> Reducer | None:
    found = fields.get("reducer")
    if found is None:
        return None
    given = found.value
    if not given.get("command", "").strip():
        reading.problems.error(found.place, "the reducer needs a command", 'Give one, such as command = "merge.sh".')
        return None
    kind = given.get("inner_kind") or implied_kind(given["command"])
    if kind not in KINDS:
        reading.problems.error(found.place, f"kind {kind[:64]!a} does not exist", f"Use one of: {', '.join(KINDS)}.")
        return None
    retry = Retry(retries=given.get("retries", 0), factor=1.0, **_named(given, retry_delay="base"))
    try:
        spec = read_command(given["command"]) if kind == "http" else {_MAIN.get(kind, "command"): given["command"]}
        spec = {**_inherited(kind, inner), **spec}
        retry.check()
        check_spec(kind, spec)
    except InvalidInput as error:
        reading.refuse(found.place, error)
        return None
    run_on = RunOn(given.get("run_on", RunOn.SUCCESS))
    return Reducer(kind=kind, spec=spec, run_on=run_on, retry=retry, timeout=given.get("timeout"))


def _inherited(kind: str, inner: dict[str, Any]) -> dict[str, Any]:
    known = KINDS[kind].__struct_fields__
    return {name: inner[name] for name in _INHERITED if name in inner and name in known}


def _named(given: dict[str, Any], **names: str) -> dict[str, Any]:
    return {attribute: given[name] for name, attribute in names.items() if name in given}


def _only(options: Options, names: tuple[str, ...]) -> Options:
    return Options(**{name: getattr(options, name) for name in names})


def _some(options: Options, names: tuple[str, ...]) -> dict[str, Any]:
    """Return these options as they are stored, without defaults."""
    stored: dict[str, Any] = msgspec.to_builtins(_only(options, names))
    return stored
