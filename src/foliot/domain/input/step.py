"""From the options of a step in Python to the values used inside."""

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
    """Return whether a step asks a person, and what happens without an answer in time. No timeout: it waits."""
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
    """Return what an edge asks about the output of its parent; None if it asks nothing."""
    codes = tuple(exit_code) if isinstance(exit_code, list | tuple) else (exit_code,)
    if any(type(code) is not int for code in codes):
        raise InvalidJob(f"exit_code {exit_code!a} is no number, or list of numbers", hint="Write 3 or [3, 4].")
    for name, value in (("contains", contains), ("path", path)):
        if value is not None:
            text(value, name)
    test = OutputTest(exit_code=codes, contains=contains, path=path, **equals)
    return None if test == OutputTest() else test
