"""From the words of a step, as people write them in Python, to the values used inside."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foliot.domain.input.timing import millis
from foliot.domain.input.words import text, word_of
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import Answer, Approval
from foliot.errors import InvalidJob, suggest

_APPROVAL: Final = ("timeout_sec", "default")
_EXAMPLE: Final = 'Write True, or {"timeout_sec": 3600, "default": "reject"}.'


def read_approval(value: Any) -> Approval | None:
    """Whether a step asks a person, and what happens if nobody answers in time. No time at all: it waits for ever."""
    match value:
        case None | False:
            return None
        case True:
            return Approval()
        case Approval():
            return value
        case Mapping():
            return _approval(value)
    raise InvalidJob(f"approve must be True or a dict, not {type(value).__name__}", hint=_EXAMPLE, field="approve")


def _approval(given: Mapping[str, Any]) -> Approval:
    for name in given:
        if name not in _APPROVAL:
            raise InvalidJob(
                f"approve has no {str(name)[:64]!a}", hint=suggest(str(name), _APPROVAL) or _EXAMPLE, field="approve"
            )
    timeout = millis(given.get("timeout_sec") or 0, "timeout_sec")
    if timeout < 0:
        raise InvalidJob("timeout_sec must be at least 0", hint="0 waits for ever.", field="approve")
    return Approval(timeout=timeout or None, default=word_of(Answer)(given.get("default", Answer.REJECT), "default"))


def read_test(
    exit_code: int | Sequence[int], contains: str | None, path: str | None, equals: Mapping[str, Any]
) -> OutputTest | None:
    """What an edge asks about the output of its parent; None when it asks nothing."""
    codes = tuple(exit_code) if isinstance(exit_code, list | tuple) else (exit_code,)
    if any(type(code) is not int for code in codes):
        raise InvalidJob(f"exit_code {exit_code!a} is no number, or list of numbers", hint="Write 3 or [3, 4].")
    for name, value in (("contains", contains), ("path", path)):
        if value is not None:
            text(value, name)
    test = OutputTest(exit_code=codes, contains=contains, path=path, **equals)
    return None if test == OutputTest() else test
