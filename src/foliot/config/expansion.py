"""Variables of the environment inside values.

${HOME}          the variable; one that is not set is a problem
${HOME:-/root}   the text after :- when it is not set or empty
$${HOME}         the text ${HOME} itself
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from foliot.config.document import Node
from foliot.config.problems import Problems
from foliot.errors import suggest

_REFERENCE: Final = re.compile(r"(?P<escape>\$?)\$\{(?P<inside>[^}]*)(?P<end>\}?)")
_INSIDE: Final = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)


def has_variables(value: Any) -> bool:
    """Whether there is a variable in a value as it was written, or in one that it holds."""
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
    """A quick look: whether it is worth while to expand a value."""
    return "${" in value if isinstance(value, str) else isinstance(value, list | dict)


class Variable(str):
    """Text that came from the environment. It has no type of its own: "8" may be meant as a number."""

    __slots__ = ()


class Expansion:
    """Puts variables into values."""

    def __init__(self, environ: Mapping[str, str], problems: Problems) -> None:
        self._environ = environ
        self._problems = problems

    def expand(self, node: Node) -> Any:
        """The value with all variables in it replaced; also in the lists and tables that it holds."""
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
