"""Reads text and flags that are arguments of a call. The caller chooses the class of the error."""

from typing import Any

from foliot.errors import InvalidInput, InvalidJob, shown

Refusal = type[InvalidInput]


def text(value: Any, name: str, refusal: Refusal = InvalidJob) -> str:
    if not isinstance(value, str):
        raise refusal(f"{name} must be text, not {type(value).__name__}", hint="Write it in quotes.", field=name)
    return value


def flag(value: Any, name: str, refusal: Refusal = InvalidJob) -> bool:
    if not isinstance(value, bool):
        raise refusal(f"{name} must be true or false, not {shown(value)}", hint="Write True or False.", field=name)
    return value
