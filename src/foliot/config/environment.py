"""Variables of the environment: inside values, and in place of keys of the file.

${HOME}                  the variable; one that is not set is a problem
${HOME:-/root}           the text after :- if it is not set or empty
$${HOME}                 the text ${HOME} itself

FOLIOT_<SECTION>_<KEY>   FOLIOT_SERVER_CONCURRENCY=8 is [server] concurrency = 8
FOLIOT_STORAGE           [storage] url
FOLIOT_ENV               [server] mode
FOLIOT_TICK_MS ...       the names of the scheduler's settings in its specification

A variable FOLIOT_... that is empty counts as not set.
"""

import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple

from foliot.config.document import Node, Problems
from foliot.config.positions import KeyPath
from foliot.domain.vocabulary.places import SECTIONS
from foliot.domain.vocabulary.readers import Variable
from foliot.errors import Place, suggest

_REFERENCE: Final = re.compile(r"(?P<escape>\$?)\$\{(?P<inside>[^}]*)(?P<end>\}?)")
_INSIDE: Final = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)
ENVIRONMENT: Final = "environment"
PREFIX: Final = "FOLIOT_"
SHORT: Final[Mapping[str, tuple[str, str]]] = {
    "FOLIOT_STORAGE": ("storage", "url"),
    "FOLIOT_ENV": ("server", "mode"),
    "FOLIOT_TICK_MS": ("server", "tick_ms"),
    "FOLIOT_LOOKAHEAD_MS": ("server", "lookahead_ms"),
    "FOLIOT_MAX_CATCHUP_PER_TICK": ("server", "max_catchup_per_tick"),
    "FOLIOT_DEFAULT_OVERLAP_POLICY": ("defaults", "overlap"),
    "FOLIOT_DEFAULT_CATCHUP_POLICY": ("defaults", "catchup"),
    "FOLIOT_DEFAULT_JITTER_MS": ("defaults", "jitter_ms"),
}


# -- variables inside values


class Variables(Enum):
    """What ${NAME} in a value is."""

    EXPANDED = "expanded"
    """The variable of this process."""
    REFUSED = "refused"
    """A problem: the text comes from somewhere else, and must not read the variables of this process. Apart from that
    it means the same as in a file."""
    PLAIN = "plain"
    """Plain text."""


def has_variables(value: Any) -> bool:
    """Return whether a value as it was written contains a variable."""
    match value:
        case str():
            return any(not found["escape"] for found in _REFERENCE.finditer(value))
        case list():
            return any(map(has_variables, value))
        case dict():
            return any(map(has_variables, value.values()))
        case _:
            return False


def may_hold_variables(value: Any) -> bool:
    """Return quickly whether a value may contain variables."""
    return "${" in value if isinstance(value, str) else isinstance(value, list | dict)


class Expansion:
    """Replaces variables in values, or refuses them."""

    def __init__(self, environ: Mapping[str, str], problems: Problems, *, refuses: bool = False) -> None:
        self._environ = environ
        self._problems = problems
        self._refuses = refuses

    def expand(self, node: Node) -> Any:
        """Return the value with all variables in it replaced, in nested lists and tables as well."""
        match node.value:
            case str() as text:
                return self._text(node) if may_hold_variables(text) else text
            case list():
                return [self.expand(child) for child in node.children()]
            case dict():
                return {child.path[-1]: self.expand(child) for child in node.children()}
            case _:
                return node.value

    def _text(self, node: Node) -> str:
        expanded = _REFERENCE.sub(lambda found: self._replacement(found, node), node.value)
        return Variable(expanded)

    def _replacement(self, found: re.Match[str], node: Node) -> str:
        if found["escape"]:
            return found[0].removeprefix("$")
        if self._refuses:
            message = f"{found[0][:40]!a} is a variable of the environment, which only a configuration file can have"
            self._problems.error(node.place, message, "Write the value itself, or $${ for the characters ${.")
            return ""
        inside = _INSIDE.fullmatch(found["inside"])
        if inside is None or not found["end"]:
            self._problems.error(
                node.place,
                f"{found[0][:40]!a} is not a variable",
                "Write ${NAME} or ${NAME:-default}, or $${ for the characters ${ themselves.",
            )
            return ""
        return self._value(inside, node)

    def _value(self, inside: re.Match[str], node: Node) -> str:
        name, default = inside["name"], inside["default"]
        value = self._environ.get(name)
        if value or (value is not None and default is None):
            return value
        if default is not None:
            return str(default)
        otherwise = f"Set it, or give a default: ${{{name}:-...}}."
        self._problems.error(
            node.place, f"variable {name[:64]} is not set", suggest(name, self._environ, otherwise=otherwise)
        )
        return ""


# -- variables in place of keys


class Environment(NamedTuple):
    """The variables for one section. `names`: key -> variable."""

    names: Mapping[str, str]
    directory: Path

    def place(self, path: KeyPath) -> Place:
        name = str(path[1]) if len(path) > 1 else ""
        return Place(ENVIRONMENT, 0, self.names.get(name, ""))


def section_from(environ: Mapping[str, str], section: str) -> Node:
    """Return the variables for a section, as a table."""
    names = {key: name for name, (of, key) in SHORT.items() if of == section and environ.get(name)}
    names |= {key: name for key, name in _long_names(section).items() if environ.get(name)}
    values = {key: Variable(environ[name]) for key, name in names.items()}
    return Node(values, Environment(names, Path.cwd()), (section,))


def report_unknown_variables(environ: Mapping[str, str], problems: Problems) -> None:
    """Warn of variables whose names begin like settings but are not settings."""
    known = {name for section in SECTIONS for name in _long_names(section).values()} | set(SHORT)
    for section, schema in SECTIONS.items():
        prefix = f"{PREFIX}{section.upper()}_"
        for name in sorted(environ):
            if name.startswith(prefix) and name not in known:
                key = name.removeprefix(prefix).lower()
                place = Place(ENVIRONMENT, 0, name[:64])
                problems.warning(place, f"[{section}] has no key {key[:64]!a}", schema.advice(key, SECTIONS.values()))


def _long_names(section: str) -> dict[str, str]:
    """Return key -> variable."""
    names = (name for field in SECTIONS[section] for name in field.names)
    return {name: f"{PREFIX}{section.upper()}_{name.upper()}" for name in names}
