"""Converts the options of a step in Python to domain values."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foliot.domain.input.keywords import read_keywords
from foliot.domain.input.words import text
from foliot.domain.vocabulary.workflow import APPROVAL
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import Approval
from foliot.errors import InvalidJob

_EXAMPLE: Final = 'Write True, or {"timeout": "1h", "default": "reject"}.'


def read_approval(value: Any) -> Approval | None:
    """Return the approval of a step, or None. Without a timeout the step waits for ever."""
    match value:
        case None | False:
            return None
        case True:
            return Approval()
        case Approval():
            return value
        case Mapping():
            read = read_keywords(APPROVAL, {str(name): item for name, item in value.items()}, within="approve.")
            return approval_of(read)
    raise InvalidJob(f"approve must be True or a dict, not {type(value).__name__}", hint=_EXAMPLE, field="approve")


def approval_of(read: Mapping[str, Any]) -> Approval:
    """Return an approval with the options that were read."""
    return Approval(**{field.attribute: read[field.name] for field in APPROVAL if field.name in read})


def read_test(
    exit_code: int | Sequence[int], contains: str | None, path: str | None, equals: Mapping[str, Any]
) -> OutputTest | None:
    """Return the condition of an edge on the output of its parent, or None."""
    codes = tuple(exit_code) if isinstance(exit_code, list | tuple) else (exit_code,)
    if any(type(code) is not int for code in codes):
        raise InvalidJob(f"exit_code {exit_code!a} is not a number or a list of numbers", hint="Write 3 or [3, 4].")
    for name, value in (("contains", contains), ("path", path)):
        if value is not None:
            text(value, name)
    test = OutputTest(exit_code=codes, contains=contains, path=path, **equals)
    return None if test == OutputTest() else test
