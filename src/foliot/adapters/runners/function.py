"""A function as a job: what it can be called with, and how what it raises is told.

A dict payload becomes keyword arguments, any other payload the one positional argument, no payload none.

Isolated interpreters import this module while a run waits: it imports little.
"""

import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

_MAX_ERROR: Final = 8_000


@dataclass(frozen=True, slots=True)
class Handler:
    """A function and what it can be called with."""

    function: Callable[..., Any]
    is_async: bool
    required: frozenset[str]
    accepted: frozenset[str] | None
    """None: any keyword."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "Handler":
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:  # not every builtin says what it takes: calling it will tell
            return cls(function, is_async=False, required=frozenset(), accepted=None)
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        return cls(
            function,
            inspect.iscoroutinefunction(function),
            frozenset(parameter.name for parameter in named if parameter.default is parameter.empty),
            None if takes_any else frozenset(parameter.name for parameter in named),
        )

    def mismatch(self, payload: Mapping[str, Any]) -> str | None:
        """What is wrong with calling the function so, if anything."""
        missing = self.required - payload.keys()
        if missing:
            return f"the payload lacks {', '.join(sorted(missing))}"
        surplus = () if self.accepted is None else payload.keys() - self.accepted
        if surplus:
            return f"the function does not take {', '.join(sorted(surplus))}"
        return None


def bind(function: Callable[..., Any], payload: Any) -> Callable[[], Any]:
    """Ready to be called, without a frame of ours in between."""
    if payload is None:
        return function
    return partial(function, **payload) if isinstance(payload, dict) else partial(function, payload)


def describe(error: BaseException) -> str:
    """The traceback from the job's own frame on: how it was called is of no interest to its author."""
    own = error.__traceback__.tb_next if error.__traceback__ else None
    text = "".join(traceback.format_exception(type(error), error, own)).strip()[-_MAX_ERROR:]
    return text.encode(errors="backslashreplace").decode()  # a lone surrogate could not be stored
