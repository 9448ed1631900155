"""Reading text, and words of which there are only a few."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from foliot.errors import InvalidJob, suggest

Word = TypeVar("Word", bound=StrEnum)


class PartialAs(StrEnum):
    """What a run that succeeded in part counts as."""

    SUCCESS = "success"
    FAILED = "failed"


def word_of(words: type[Word]) -> Callable[[Any, str], Word]:
    """A reader of these words, to be called with a value and the name under which it was given."""

    def read(value: Any, name: str) -> Word:
        try:
            return words(value)
        except ValueError:
            hint = suggest(str(value), words, otherwise=f"Use one of: {', '.join(words)}.")
            raise InvalidJob(f"{name} {str(value)[:32]!a} does not exist", hint=hint, field=name) from None

    return read


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidJob(f"{name} must be text, not {type(value).__name__}", hint="Write it in quotes.", field=name)
    return value
