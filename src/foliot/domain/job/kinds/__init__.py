"""What a job of each kind says: the part of a definition that only its runner understands.

A kind is a struct with the fields of its specification. It is checked when the job is defined, not when it first
runs: a runner reads what has been checked.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct, ValidationError, convert

from foliot.domain.instant import SECOND, Millis
from foliot.domain.job.kinds.agent import AgentSpec
from foliot.domain.job.kinds.http import HttpSpec
from foliot.domain.job.kinds.process import ProcessSpec
from foliot.domain.job.kinds.python import PythonSpec
from foliot.domain.job.kinds.shell import ShellSpec
from foliot.errors import InvalidJob, shortened

Spec = TypeVar("Spec", bound=Struct)

KINDS: Final[Mapping[str, type[Struct]]] = {
    "shell": ShellSpec,
    "http": HttpSpec,
    "python": PythonSpec,
    "agent": AgentSpec,
}
ALIASES: Final[Mapping[str, str]] = {"claude": "agent"}
TIMEOUTS: Final[Mapping[str, Millis]] = {"http": Millis(30 * SECOND)}
"""How long an attempt may take where its job does not say; kinds that are not here have no limit."""


def check_spec(kind: str, spec: Mapping[str, Any]) -> None:
    """Refuse a specification that the runner of its kind could not carry out. Other kinds check their own."""
    if kind not in KINDS:
        return
    known = read_spec(KINDS[kind], spec)
    if isinstance(known, ProcessSpec):
        for name in spec:
            if name != "stdin" and _has_nul(spec[name]):
                hint = "Leave it out: nothing behind it would reach the process."
                raise InvalidJob(f"{name} holds the character NUL", hint=hint, field=name)


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return any(map(_has_nul, items))


def read_spec(kind: type[Spec], spec: Mapping[str, Any]) -> Spec:
    """Read a specification, or refuse it with InvalidJob."""
    try:
        return convert(spec, kind)
    except ValidationError as error:
        hint = f"What such a job can say: {', '.join(kind.__struct_fields__)}."
        raise InvalidJob(f"this is no {name_of(kind)} job: {shortened(str(error))}", hint=hint, field="spec") from None
    except UnicodeEncodeError:
        hint = "A lone surrogate has no bytes. Write the character as a whole."
        raise InvalidJob(
            f"this is no {name_of(kind)} job: it holds half a character", hint=hint, field="spec"
        ) from None


def name_of(kind: type[Struct]) -> str:
    return next(name for name, known in KINDS.items() if known is kind)
