"""Reading text, whole numbers, true and false, and words of which there are only a few.

What cannot be read is refused with the error of the thing it was given for.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from foliot.domain.input.timing import number
from foliot.errors import InvalidInput, InvalidJob, shown, suggest

Word = TypeVar("Word", bound=StrEnum)
Refusal = type[InvalidInput]


class PartialAs(StrEnum):
    """What a run that succeeded in part counts as."""

    SUCCESS = "success"
    FAILED = "failed"


def word_of(words: type[Word], refusal: Refusal = InvalidJob) -> Callable[[Any, str], Word]:
    """A reader of these words, to be called with a value and the name under which it was given."""

    known = {word.value: word for word in words}

    def read(value: Any, name: str) -> Word:
        # What cannot even be looked up, such as a list, is none of them.
        found = known.get(value) if isinstance(value, str) else None
        return found or words(one_of([*known], value, name, refusal))

    return read


def one_of(words: Sequence[str], value: Any, name: str, refusal: Refusal = InvalidJob) -> Any:
    """The value, which must be one of the words."""
    if value not in words:
        hint = suggest(value if isinstance(value, str) else "", words, otherwise=f"Use one of: {', '.join(words)}.")
        raise refusal(f"{name} {shown(value)} does not exist", hint=hint, field=name)
    return value


def text(value: Any, name: str, refusal: Refusal = InvalidJob) -> str:
    if not isinstance(value, str):
        raise refusal(f"{name} must be text, not {type(value).__name__}", hint="Write it in quotes.", field=name)
    return value


def flag(value: Any, name: str, refusal: Refusal = InvalidJob) -> bool:
    if not isinstance(value, bool):
        raise refusal(f"{name} must be true or false, not {shown(value)}", hint="Write True or False.", field=name)
    return value


def whole_number(value: Any, name: str, refusal: Refusal = InvalidJob) -> int:
    if int(number(value, name)) != value:
        raise refusal(f"{name} must be a whole number, not {shown(value)}", hint="Leave out the fraction.", field=name)
    return int(value)
