"""A Python job: a function of the application, called in the worker, or any function, in a process of its own."""

from foliot.domain.kinds.process import ProcessSpec


class PythonSpec(ProcessSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a Python job says. The fields of a process are for `call` alone."""

    handler: str | None = None
    """The name under which the application registered the function: it runs in the worker's process."""
    call: str | None = None
    """module:function, looked up in a process of its own."""

    def __post_init__(self) -> None:
        if (self.handler is None) == (self.call is None):
            raise ValueError("give either `handler` or `call`")
