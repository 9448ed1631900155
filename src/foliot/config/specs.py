"""What a job of each kind says: from the words of a file to the specification that its runner reads."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from msgspec import ValidationError, convert
from msgspec.structs import fields as struct_fields

from foliot.config.document import Node
from foliot.config.keys import KIND_KEYS, NOTICES
from foliot.config.schema import Fields, Found, Reading
from foliot.domain.job.kinds import KINDS, check_spec
from foliot.domain.job.kinds.agent import ARGS as AGENT_ARGS
from foliot.domain.job.kinds.http import read_command
from foliot.errors import InvalidInput, InvalidJob, Place

_GIVEN: Final = {
    kind: {key.name: key.field for key in schema if key.name != "args"} for kind, schema in KIND_KEYS.items()
}
_NOTICES: Final = frozenset(key.name for key in NOTICES)
_BOUND: Final = re.compile(r"Expected `(?:int|float)` (?P<side>[<>])= (?P<number>[0-9.]+)")
_MAIN: Final[Mapping[str, tuple[str, str]]] = {
    "shell": ("command", "argv"),
    "http": ("command", "url"),
    "python": ("command", "call"),
    "agent": ("command", "prompt"),
}
"""The keys that say what to do, one of which a job needs: where a complaint about the whole is shown."""


def job_spec(kind: str, fields: Fields, job: Node, reading: Reading) -> dict[str, Any]:
    """The specification of a job, checked. What is wrong with it has become a problem."""
    _report_args(kind, fields, reading)
    main = next((fields[name] for name in _MAIN[kind] if name in fields), job)
    if all(_is_blank(fields.value(name)) for name in _MAIN[kind]):
        message = f"a job of kind {kind} needs {' or '.join(_MAIN[kind])}"
        reading.problems.error(main.place, message, "Say there what it does.")
        return {}
    if kind == "http" and "${" in fields.value("command", ""):
        hint = "Use url, headers and body, where variables are replaced."
        reading.problems.warning(main.place, "variables are not replaced in command", hint)
    try:
        spec = _MAKERS[kind](fields)
    except InvalidInput as error:
        reading.refuse(main.place, error)
        return {}
    _check(kind, spec, fields, main, reading)
    return spec


def _is_blank(value: Any) -> bool:
    return not (value.strip() if isinstance(value, str) else value)


def _shell(fields: Fields) -> dict[str, Any]:
    return _given(fields, "shell") | _working_dir(fields)


def _http(fields: Fields) -> dict[str, Any]:
    given = _given(fields, "http")
    command = given.pop("command", None)
    if command is None:
        return given
    if "url" in given:
        raise InvalidJob("command and url both say where the request goes", hint="Keep one of them.")
    # What the command says itself is nearer than what a key says for all.
    return given | read_command(command)


def _python(fields: Fields) -> dict[str, Any]:
    return _named(fields, "python", "call") | _working_dir(fields)


def _agent(fields: Fields) -> dict[str, Any]:
    args = {name: value for name, value in fields.value("args", {}).items() if name in AGENT_ARGS}
    return _named(fields, "agent", "prompt") | args | _working_dir(fields)


def _given(fields: Fields, kind: str) -> dict[str, Any]:
    return fields.take(_GIVEN[kind])


def _named(fields: Fields, kind: str, name: str) -> dict[str, Any]:
    """The command of such a job is known to its runner by another name."""
    given = _given(fields, kind)
    if "command" in given:
        if name in given:
            raise InvalidJob(f"command and {name} say the same", hint="Keep one of them.")
        given[name] = given.pop("command")
    return given


def _working_dir(fields: Fields) -> dict[str, Any]:
    """A relative directory is meant from where the file is, wherever the worker was started."""
    found = fields.get("working_dir")
    if found is None or not found.value:
        return {}
    return {"working_dir": str(found.node.origin.directory / found.value)}


_MAKERS: Final[Mapping[str, Callable[[Fields], dict[str, Any]]]] = {
    "shell": _shell,
    "http": _http,
    "python": _python,
    "agent": _agent,
}


def _report_args(kind: str, fields: Fields, reading: Reading) -> None:
    """Say what of `args` means nothing, or nothing yet."""
    for name in fields.value("args", {}):
        place = fields["args"].place
        if name in _NOTICES:
            message = f"{name}: notices arrive with a later version; this is ignored"
            reading.problems.warning(place, message, "Leave it out until then.")
        elif kind != "agent":
            message = f"{name} means nothing to a job of kind {kind}; this is ignored"
            reading.problems.warning(place, message, "Leave it out, or make it a job of kind agent.")


def _check(kind: str, spec: Mapping[str, Any], fields: Fields, main: Found | Node, reading: Reading) -> None:
    """Where something is wrong, what that is field by field, so that all of it is said."""
    try:
        check_spec(kind, spec)
        reading.sandbox_policy.check(user=spec.get("user"), call=spec.get("call"))
    except InvalidInput as error:
        if _check_each(kind, spec, fields, main, reading):
            names = {key.field: key.name for key in KIND_KEYS[kind]}
            key = names.get(error.field, error.field)
            reading.refuse(fields.get(key, main).place, error)


def _check_each(kind: str, spec: Mapping[str, Any], fields: Fields, main: Found | Node, reading: Reading) -> bool:
    """Whether each field is right by itself."""
    types = _types(kind)
    names = {key.field: key.name for key in KIND_KEYS[kind]}
    is_good = True
    for name, value in spec.items():
        try:
            if name in types:
                convert(value, types[name])
        except ValidationError as error:
            is_good = False
            key = names.get(name, name)
            fact, _, where = str(error).partition(" - at ")
            inner = where.removeprefix("`key` in ").strip("`").removeprefix("$").strip(".")
            place = _within(fields[key].node, inner) if key in fields else main.place
            hint = f"The reference of the configuration says which values {key} may have."
            reading.problems.error(place, _reworded(fact), hint)
    return is_good


def _reworded(fact: str) -> str:
    """What the checker of types says, in our words where it is about a bound."""
    bound = _BOUND.fullmatch(fact)
    if fact.startswith("Expected `str` matching"):
        return "the name of a variable is not empty and contains no ="
    if bound is None:
        return fact[:1].lower() + fact[1:]
    return f"must be at {'least' if bound['side'] == '>' else 'most'} {float(bound['number']):.12g}"


@cache
def _types(kind: str) -> dict[str, Any]:
    return {field.name: field.type for field in struct_fields(KINDS[kind])}


def _within(node: Node, inner: str) -> Place:
    """Where a key of a table stands, named with dots."""
    return node.origin.place((*node.path, *inner.split("."))) if inner else node.place
