"""The output of a step, and the tests of an edge on it: exit code, text, JSON."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from foliot.domain.ids import RunId
from foliot.domain.run.payload import decode_payload
from foliot.domain.workflow.conditions import Result

MISSING: Final = object()
"""The result of a path that does not exist. JSON's null is a value."""


class RunOutput(Struct, frozen=True, kw_only=True):
    """The exit code and the output of a step's run."""

    exit_code: int | None = None
    output: bytes | None = None
    """JSON."""


class StepOutput(NamedTuple):
    """The result of a step, with the output of its run."""

    result: Result | None
    run_id: RunId | None
    run_output: RunOutput


class OutputTest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A test on the output of a parent. All given conditions must hold."""

    exit_code: tuple[int, ...] = ()
    contains: str | None = None
    """Text that the output must contain."""
    path: str | None = None
    """A path into the output: names and numbers joined by dots. Without `equals`, the path must exist."""
    equals: Any | UnsetType = UNSET
    """The required value at `path`, or of the whole output if there is no path."""

    @property
    def reads_output(self) -> bool:
        return self.contains is not None or self.path is not None or self.equals is not UNSET

    def holds(self, run_output: RunOutput) -> bool:
        if self.exit_code and run_output.exit_code not in self.exit_code:
            return False
        if self.contains is not None and self.contains not in _text(run_output.output):
            return False
        if self.path is None and self.equals is UNSET:
            return True
        found = follow(decode_payload(run_output.output), self.path.split(".") if self.path else ())
        return found is not MISSING and (self.equals is UNSET or _is_equal(found, self.equals))


def follow(value: Any, path: Iterable[str]) -> Any:
    """Return the value at a path, or MISSING. A number is an index into a list."""
    for part in path:
        match value:
            case dict() if part in value:
                value = value[part]
            case list() if part.isascii() and part.isdecimal() and int(part) < len(value):
                value = value[int(part)]
            case _:
                return MISSING
    return value


def _text(output: bytes | None) -> str:
    """Return an output that is text as it is, and any other as JSON."""
    value = decode_payload(output)
    return value if isinstance(value, str) else (output or b"").decode()


def _is_equal(found: Any, wanted: Any) -> bool:
    """Compare JSON values: true is not 1."""
    return type(found) is type(wanted) and found == wanted if bool in (type(found), type(wanted)) else found == wanted
