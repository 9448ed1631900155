"""Functions as jobs: checking and binding arguments, and describing exceptions.

A dict payload becomes keyword arguments, any other payload the one positional argument, no payload no argument.

Isolated interpreters import this module while a run waits, so it imports little.
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
    """A function and the arguments that it accepts."""

    function: Callable[..., Any]
    is_async: bool
    required: frozenset[str]
    accepted: frozenset[str] | None
    """None means any keyword."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "Handler":
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:  # not every builtin has a signature: the call itself will check
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
        """Return the reason why the function cannot be called with this payload; None if it can."""
        missing = self.required - payload.keys()
        if missing:
            return f"the payload lacks {', '.join(sorted(missing))}"
        surplus = () if self.accepted is None else payload.keys() - self.accepted
        if surplus:
            return f"the function does not take {', '.join(sorted(surplus))}"
        return None


def bind(function: Callable[..., Any], payload: Any) -> Callable[[], Any]:
    """Return a callable without arguments that calls the function, without a frame of ours in between."""
    if payload is None:
        return function
    return partial(function, **payload) if isinstance(payload, dict) else partial(function, payload)


def describe(error: BaseException) -> str:
    """Return the traceback without our own frame: the author of the job does not need it."""
    own = error.__traceback__.tb_next if error.__traceback__ else None
    text = "".join(traceback.format_exception(type(error), error, own)).strip()[-_MAX_ERROR:]
    return text.encode(errors="backslashreplace").decode()  # databases cannot store lone surrogates
