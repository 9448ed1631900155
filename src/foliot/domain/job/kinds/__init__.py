"""The kinds of jobs: the part of a definition that is read by the runner of its kind.

A kind is a struct with the fields of its specification. A specification is checked when the job is defined, not when
it first runs.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct, ValidationError, convert

from foliot.domain.chain.spec import CHAIN, ChainSpec
from foliot.domain.fanout.spec import FANOUT, OWN_FIELDS, FanoutFields, inner_spec
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
"""The default timeout of an attempt. Kinds that are not listed have none."""


def check_spec(kind: str, spec: Mapping[str, Any]) -> None:
    """Raise InvalidJob if the runner of the kind could not execute the specification. Kinds that are not listed in
    `KINDS` or `TREE_CHECKS` are not checked."""
    if kind in TREE_CHECKS:
        TREE_CHECKS[kind](spec)
    if kind not in KINDS:
        return
    known = read_spec(KINDS[kind], spec)
    if isinstance(known, ProcessSpec):
        for name in spec:
            if name != "stdin" and _has_nul(spec[name]):
                hint = "Remove it: a process cannot receive text with NUL characters."
                raise InvalidJob(f"{name} contains a NUL character", hint=hint, field=name)


def _check_fanout(spec: Mapping[str, Any]) -> None:
    """Check the fields of the fanout, those of its children and those of its reducer."""
    own = read_spec(FanoutFields, {name: value for name, value in spec.items() if name in OWN_FIELDS})
    if own.job is None:
        check_spec(own.inner_kind, inner_spec(spec))
    if own.reducer is not None:
        check_spec(own.reducer.kind, own.reducer.spec)


def _check_chain(spec: Mapping[str, Any]) -> None:
    """Check the class, and what its stages execute."""
    own = read_spec(ChainSpec, spec)
    own.check()
    for stage in own.stages.values():
        if stage.job is None:
            check_spec(stage.kind, stage.spec)


TREE_CHECKS: Final[Mapping[str, Callable[[Mapping[str, Any]], None]]] = {FANOUT: _check_fanout, CHAIN: _check_chain}
"""The kinds of jobs whose runs are opened as trees, and how their specifications are checked."""
_TREE_SPECS: Final[Mapping[str, type[Struct]]] = {FANOUT: FanoutFields, CHAIN: ChainSpec}


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return any(map(_has_nul, items))


def read_spec(kind: type[Spec], spec: Mapping[str, Any]) -> Spec:
    """Return a specification as a struct of its kind. Raise InvalidJob if it is not valid."""
    try:
        return convert(spec, kind, str_keys=True)
    except ValidationError as error:
        is_unknown = "unknown field" in str(error)
        fields = f"Its fields are: {', '.join(kind.__struct_fields__)}."
        hint = fields if is_unknown else "See the options of each kind in docs/reference/configuration.md."
        raise InvalidJob(f"not a valid {name_of(kind)} job: {shortened(str(error))}", hint=hint, field="spec") from None
    except UnicodeEncodeError:
        hint = "Replace the lone surrogate with a whole character."
        raise InvalidJob(
            f"not a valid {name_of(kind)} job: it contains a lone surrogate", hint=hint, field="spec"
        ) from None


def name_of(kind: type[Struct]) -> str:
    return next(name for name, known in (*KINDS.items(), *_TREE_SPECS.items()) if known is kind)
