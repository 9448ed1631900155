"""Of which kind a job is, and which keys mean something to it."""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

import msgspec

from foliot.config.keys import GATE_ALIAS, GATE_KIND, HOMES, INNER_KIND, KIND_KEYS, LATER_KINDS, OF_KINDS
from foliot.config.schema import Fields, Found, Reading
from foliot.domain.job.kinds import ALIASES
from foliot.errors import suggest

OF_JOBS: Final = (*KIND_KEYS, GATE_KIND, *LATER_KINDS)
OF_STEPS: Final = (*KIND_KEYS, GATE_KIND)
_ALIASES: Final = {**ALIASES, GATE_ALIAS: GATE_KIND}
_TELLING: Final = {"argv": "shell", "url": "http", "call": "python", "prompt": "agent"}
"""Keys that tell how a gate without a command is carried out."""
_MERGED: Final = frozenset(key.name for key in OF_KINDS if key.is_merged)
_OF_GATES: Final = frozenset({INNER_KIND.name})
_FOREIGN: Final = {
    kind: frozenset(key.name for key in OF_KINDS if key.name not in schema) for kind, schema in KIND_KEYS.items()
}
"""The keys of other kinds."""


class Kind(NamedTuple):
    name: str
    runner: str
    """By which kind of runner it is carried out: another one only for a gate."""

    @property
    def is_gate(self) -> bool:
        return self.name == GATE_KIND

    @property
    def is_later(self) -> bool:
        return self.name in LATER_KINDS

    @property
    def foreign(self) -> frozenset[str]:
        """The keys of other kinds that mean nothing to it. A kind that is to come may hold a job of any other."""
        if self.is_later:
            return _OF_GATES
        return _FOREIGN[self.runner] - _OF_GATES if self.is_gate else _FOREIGN[self.runner]


def kind_of(own: Fields, defaults: Fields, known: Collection[str], reading: Reading) -> Kind | None:
    """The kind of a job that says this, out of those that are known; None if there is no such kind."""
    name = _read(own.get("kind") or defaults.get("kind"), known, reading)
    if name != GATE_KIND:
        return None if name is None else Kind(name, name)
    runner = _read(own["inner_kind"], KIND_KEYS, reading) if "inner_kind" in own else _told(own)
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


def _told(own: Fields) -> str:
    """How a gate is carried out that does not say: a request if its command is one as JSON, else by a shell."""
    if "command" in own:
        return "http" if _is_request(own["command"].value) else "shell"
    return next((kind for key, kind in _TELLING.items() if key in own), "shell")


def _is_request(command: str) -> bool:
    """Whether it is an object with a method or a URL. `{ echo hi; }` is none, though it begins like one."""
    try:
        value: Any = msgspec.json.decode(command)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(value, dict) and not value.keys().isdisjoint(("method", "url"))


def refuse_foreign_keys(kind: Kind, own: Fields, reading: Reading) -> None:
    foreign = kind.foreign
    for name in [name for name in own if name in foreign]:
        homes = [home for home, schema in HOMES.items() if name in schema]
        hint = f"It belongs to jobs of kind {' or '.join(homes)}."
        reading.problems.error(own[name].place, f"{name} means nothing to a job of kind {kind.runner}", hint)


def over_defaults(own: Fields, defaults: Fields, kind: Kind) -> Fields:
    """What the job says over what is said for all; tables such as `env` are laid over each other key by key."""
    foreign = kind.foreign
    fields = Fields({name: found for name, found in (defaults | own).items() if name not in foreign})
    for name in fields.keys() & _MERGED & defaults.keys() & own.keys():
        fields[name] = _merged(own[name], defaults[name])
    return fields


def _merged(own: Found, default: Found) -> Found:
    """One table over the other, as they were read and as they were written."""
    written = {own.name: {**_table(default), **_table(own)}}
    return Found({**default.value, **own.value}, own.table._replace(value=written), own.name)


def _table(found: Found) -> dict[str, Any]:
    """As it was written; nothing where that is no table, which has become a problem."""
    value = found.node.value
    return value if isinstance(value, dict) else {}
