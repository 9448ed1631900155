"""What an edge may ask about its parent besides the result: exit code, text and JSON of its output."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from foliot.domain.ids import RunId
from foliot.domain.run.payload import decode_payload
from foliot.domain.workflow.conditions import Result

MISSING: Final = object()
"""What a path leads to when it leads nowhere; JSON's null is something."""


class RunOutput(Struct, frozen=True, kw_only=True):
    """How the run of a step ended: the part that children may look at."""

    exit_code: int | None = None
    output: bytes | None = None
    """JSON."""


class StepOutput(NamedTuple):
    """What the run of a step left behind."""

    result: Result | None
    run_id: RunId | None
    run_output: RunOutput


class OutputTest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Holds when everything that is asked holds."""

    exit_code: tuple[int, ...] = ()
    contains: str | None = None
    """Text that the output has somewhere."""
    path: str | None = None
    """Where to look in the output: names and numbers joined by dots. Alone it asks whether there is anything."""
    equals: Any | UnsetType = UNSET
    """What `path` leads to; without a path, the whole output."""

    @property
    def asks_output(self) -> bool:
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
    """What names, one after the other, lead to, or MISSING. A number counts into a list."""
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
    """Text as it was printed, anything else as JSON."""
    value = decode_payload(output)
    return value if isinstance(value, str) else (output or b"").decode()


def _is_equal(found: Any, wanted: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return type(found) is type(wanted) and found == wanted if bool in (type(found), type(wanted)) else found == wanted
