"""The kind of a job, the keys that belong to it, and the specification that its runner reads."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import ValidationError, convert
from msgspec.structs import fields as struct_fields

from foliot.config.document import Node
from foliot.config.reading import Fields, Found, Reading
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.job.kinds import ALIASES, KINDS, check_spec
from foliot.domain.job.kinds.agent import ARGS as AGENT_ARGS
from foliot.domain.job.kinds.http import read_command
from foliot.domain.run.output_mask import SHORTEST, named_secrets
from foliot.domain.secrets import HIDDEN
from foliot.domain.vocabulary.kind import FANOUT_FIELDS, GATE_ALIAS, GATE_KIND, HOMES, INNER_KIND, KIND_FIELDS, NOTICES
from foliot.domain.vocabulary.places import OF_KINDS
from foliot.errors import InvalidInput, InvalidJob, Place, suggest

OF_JOBS: Final = (*KIND_FIELDS, GATE_KIND, FANOUT)
OF_STEPS: Final = OF_JOBS
_ALIASES: Final = {**ALIASES, GATE_ALIAS: GATE_KIND}
_KIND_BY_KEY: Final = {"argv": "shell", "url": "http", "call": "python", "prompt": "agent"}
"""Keys from which the kind of runner of a gate without a command follows."""
_MERGED: Final = frozenset(field.name for field in OF_KINDS if field.is_merged)
_OF_GATES: Final = frozenset({INNER_KIND.name})
_OF_FANOUTS: Final = frozenset({INNER_KIND.name, *(field.name for field in FANOUT_FIELDS)})
_FOREIGN: Final = {
    kind: frozenset(field.name for field in OF_KINDS if field.name not in schema)
    for kind, schema in KIND_FIELDS.items()
}
"""The keys of other kinds."""
_GIVEN: Final = {
    kind: {field.name: field.attribute for field in schema if field.name != "args"}
    for kind, schema in KIND_FIELDS.items()
}
_NOTICES: Final = frozenset(field.name for field in NOTICES)
_BOUND: Final = re.compile(r"Expected `(?:int|float)` (?P<side>[<>])= (?P<number>[0-9.]+)")
_MAIN: Final[Mapping[str, tuple[str, str]]] = {
    "shell": ("command", "argv"),
    "http": ("command", "url"),
    "python": ("command", "call"),
    "agent": ("command", "prompt"),
}
"""The keys that say what to do; a job needs one of them. A problem of the whole job is shown there."""


class Kind(NamedTuple):
    name: str
    runner: str
    """The kind that executes it, or the children of a fanout: another one only for gates and fanouts."""

    @property
    def is_gate(self) -> bool:
        return self.name == GATE_KIND

    @property
    def is_fanout(self) -> bool:
        return self.name == FANOUT

    @property
    def foreign(self) -> frozenset[str]:
        """The keys of other kinds."""
        if self.is_fanout:
            return _FOREIGN[self.runner] - _OF_FANOUTS
        return _FOREIGN[self.runner] - _OF_GATES if self.is_gate else _FOREIGN[self.runner]

    @property
    def shared_with_gates(self) -> frozenset[str]:
        """Keys of gates that mean something to this kind without `depends_on`."""
        return frozenset({"window"}) if self.is_fanout else frozenset()


def kind_of(own: Fields, defaults: Fields, known: Collection[str], reading: Reading) -> Kind | None:
    """Return the kind of a job, one of those that are known; None if there is no such kind."""
    name = _read(own.get("kind") or defaults.get("kind"), known, reading)
    if name not in (GATE_KIND, FANOUT):
        return None if name is None else Kind(name, name)
    runner = _read(own["inner_kind"], KIND_FIELDS, reading) if "inner_kind" in own else _implied(own)
    return None if runner is None else Kind(name, runner)


def _read(found: Found | None, known: Collection[str], reading: Reading) -> str | None:
    if found is None:
        return "shell"
    name = _ALIASES.get(found.value, found.value)
    if name in known:
        return str(name)
    words = [*known, *(alias for alias, kind in _ALIASES.items() if kind in known)]
    hint = suggest(found.value, words, otherwise=f"Use one of: {', '.join(known)}.")
    reading.problems.error(found.place, f"kind {found.value[:64]!a} does not exist", hint)
    return None


def _implied(own: Fields) -> str:
    """Return the runner of a gate without `inner_kind`: http if its command is a request as JSON, else shell."""
    if "command" in own:
        return implied_kind(own["command"].value)
    return next((kind for key, kind in _KIND_BY_KEY.items() if key in own), "shell")


def _is_request(command: str) -> bool:
    """Return whether it is a JSON object with a method or a URL. `{ echo hi; }` is not one."""
    try:
        value: Any = msgspec.json.decode(command)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(value, dict) and not value.keys().isdisjoint(("method", "url"))


def refuse_foreign_keys(kind: Kind, own: Fields, reading: Reading) -> None:
    foreign = kind.foreign
    for name in [name for name in own if name in foreign]:
        homes = [home for home, schema in HOMES.items() if name in schema]
        hint = f'It is an option of kind {" or ".join(homes)}. Remove it, or set kind = "{homes[0]}".'
        reading.problems.error(own[name].place, f"{own[name].name} is not an option of kind {kind.runner}", hint)


def over_defaults(own: Fields, defaults: Fields, kind: Kind) -> Fields:
    """Return the job's own fields over those of [defaults]; tables such as `env` are merged key by key."""
    foreign = kind.foreign
    fields = Fields({name: found for name, found in (defaults | own).items() if name not in foreign})
    for name in fields.keys() & _MERGED & defaults.keys() & own.keys():
        fields[name] = _merged(own[name], defaults[name])
    return fields


def _merged(own: Found, default: Found) -> Found:
    """Merge two tables, as they were read and as they were written."""
    written = {own.name: {**_table(default), **_table(own)}}
    return Found({**default.value, **own.value}, own.table._replace(value=written), own.name)


def _table(found: Found) -> dict[str, Any]:
    """Return the table as it was written; an empty one if it is not a table, which is reported elsewhere."""
    value = found.node.value
    return value if isinstance(value, dict) else {}


# -- specifications


def implied_kind(command: str) -> str:
    """Return the kind of a command without `inner_kind`: http if it is a request as JSON, else shell."""
    return "http" if _is_request(command) else "shell"


def job_spec(kind: str, fields: Fields, job: Node, reading: Reading) -> dict[str, Any]:
    """Return the specification of a job, and report its problems."""
    _report_args(kind, fields, reading)
    main = next((fields[name] for name in _MAIN[kind] if name in fields), job)
    if any(name in job.value and name not in fields for name in _MAIN[kind]):
        return {}  # it was given, and what is wrong with it has been reported
    if all(_is_blank(fields.value(name)) for name in _MAIN[kind]):
        message = f"a job of kind {kind} needs {' or '.join(_MAIN[kind])}"
        reading.problems.error(main.place, message, _needed(fields, job))
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
    _warn_of_short_secrets(spec, fields, reading)
    return spec


def _warn_of_short_secrets(spec: Mapping[str, Any], fields: Fields, reading: Reading) -> None:
    """Warn about secrets that are too short to be masked in the output of runs."""
    tables = {table: fields[table] for table in ("env", "headers") if table in fields}
    written = {table: found.node.value for table, found in tables.items()}
    secrets = [(name, secret) for name, secret in named_secrets(spec, written) if secret not in ("", HIDDEN)]
    short = [name for name, secret in secrets if len(secret) < SHORTEST]
    if short:
        names = ", ".join(dict.fromkeys(short))
        message = f"{names}: values under {SHORTEST} characters are not masked in the output of runs"
        hint = "Use a longer secret, or a name that does not sound like one."
        reading.problems.warning(next(iter(tables.values())).place, message, hint)


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
    # The command has precedence over keys, which may come from [defaults].
    return given | read_command(command)


def _python(fields: Fields) -> dict[str, Any]:
    return _named(fields, "python", "call") | _working_dir(fields)


def _agent(fields: Fields) -> dict[str, Any]:
    args = {name: value for name, value in fields.value("args", {}).items() if name in AGENT_ARGS}
    return _named(fields, "agent", "prompt") | args | _working_dir(fields)


def _given(fields: Fields, kind: str) -> dict[str, Any]:
    return fields.take(_GIVEN[kind])


def _named(fields: Fields, kind: str, name: str) -> dict[str, Any]:
    """Return the fields of a kind whose runner has another name for the command."""
    given = _given(fields, kind)
    if "command" in given:
        if name in given:
            raise InvalidJob(f"command and {name} say the same", hint="Keep one of them.")
        given[name] = given.pop("command")
    return given


def _working_dir(fields: Fields) -> dict[str, Any]:
    """A relative directory is relative to the file, not to the directory of the worker."""
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
    """Warn of keys in `args` that have no effect."""
    for name in fields.value("args", {}):
        if name not in _NOTICES and kind != "agent":
            message = f"{name} is not an option of kind {kind}, and is ignored"
            reading.problems.warning(fields["args"].place, message, "Leave it out, or make it a job of kind agent.")


def _check(kind: str, spec: Mapping[str, Any], fields: Fields, main: Found | Node, reading: Reading) -> None:
    """Report every problem of a specification, field by field."""
    try:
        check_spec(kind, spec)
        reading.sandbox_policy.check(user=spec.get("user"), call=spec.get("call"))
    except InvalidInput as error:
        if _check_each(kind, spec, fields, main, reading):
            names = {field.attribute: field.name for field in KIND_FIELDS[kind]}
            key = names.get(error.field, error.field)
            reading.refuse(fields.get(key, main).place, error)


def _check_each(kind: str, spec: Mapping[str, Any], fields: Fields, main: Found | Node, reading: Reading) -> bool:
    """Report fields that are wrong by themselves. Returns whether all are correct."""
    types = _types(kind)
    names = {field.attribute: field.name for field in KIND_FIELDS[kind]}
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
            hint = f"See {key} in docs/reference/configuration.md."
            reading.problems.error(place, _reworded(fact), hint)
    return is_good


def _needed(fields: Fields, job: Node) -> str:
    if fields.value("kind", "") == FANOUT:
        return "The children of a fanout run it for each item. Or name an existing job: job."
    return "Or name other work: job, workflow or approve." if "steps" in job.path else "Give one of them."


def _reworded(fact: str) -> str:
    """Return the message of msgspec about a value, reworded if it is about a bound."""
    bound = _BOUND.fullmatch(fact)
    if fact.startswith("Expected `str` matching"):
        return "the name of a variable must not be empty or contain ="
    if bound is None:
        return fact[:1].lower() + fact[1:]
    return f"must be at {'least' if bound['side'] == '>' else 'most'} {float(bound['number']):.12g}"


@cache
def _types(kind: str) -> dict[str, Any]:
    return {field.name: field.type for field in struct_fields(KINDS[kind])}


def _within(node: Node, inner: str) -> Place:
    """Return where a key of a table is written, given with dots."""
    return node.origin.place((*node.path, *inner.split("."))) if inner else node.place
