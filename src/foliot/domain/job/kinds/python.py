"""A Python job: a function of the application, called in the worker, or any function, called in a new process."""

from keyword import iskeyword
from typing import Annotated, Final

from msgspec import Meta, to_builtins

from foliot.domain.job.kinds.process import ProcessSpec

MAX_CALL: Final = 500


class PythonSpec(ProcessSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a Python job. Those of a process are only for `call`."""

    handler: str | None = None
    """The name of a function that the application has registered. It runs in the worker's process."""
    call: Annotated[str, Meta(max_length=MAX_CALL)] | None = None
    """module:function, imported and called in a new process."""

    def __post_init__(self) -> None:
        if (self.handler is None) == (self.call is None):
            raise ValueError("give either `handler` or `call`")
        if self.call is not None:
            _check_call(self.call)
        elif to_builtins(self).keys() != {"handler"}:
            raise ValueError("a function of the application runs in the worker and has no process settings of its own")
        if self.stdin is not None:
            raise ValueError("a function takes a payload, not `stdin`")


def _check_call(call: str) -> None:
    """Accept only names that an import statement could use: no relative name, no path, no expression."""
    module, _, function = call.partition(":")
    for name in (*module.split("."), function):
        if not name.isidentifier() or iskeyword(name):
            raise ValueError(f"`call` is module:function, as in shop.tasks:send_report, not {call[:80]!a}")
