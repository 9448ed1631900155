"""The start of an execution: its version and parameters, and, in a rerun, which steps run again."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from foliot.domain.ids import RunId
from foliot.domain.workflow.rerun import CarriedOutput
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidRun, shortened, suggest


class ExecutionStart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an execution starts. Stored in the overrides of its run."""

    version: int
    rerun_of: RunId | None = None
    """The execution that this one repeats. Steps that do not run again keep their results."""
    rerun_version: int | None = None
    """The version of that execution."""
    steps: tuple[str, ...] = ()
    """Steps to run again, with all steps after them."""
    marked: tuple[str, ...] = ()
    """Steps that count as successes. All steps after them run again."""
    carried: dict[str, CarriedOutput] = {}
    """The outputs of kept steps that other steps use."""
    user_id: str | None = None
    idempotency_key: str | None = None
    """The key that the caller of a launcher gave."""

    @classmethod
    def read(cls, overrides: bytes | None, spec: Mapping[str, Any]) -> "ExecutionStart":
        """Return the start in the overrides of a run. Without a version, that of the workflow's current definition."""
        given = {} if overrides is None else msgspec.json.decode(overrides).get("start", {})
        return msgspec.convert({"version": spec["version"], **given}, cls)


class StartInput(msgspec.Struct, frozen=True):
    """The part of the start that is shown, for runs of workflows and of jobs."""

    user_id: str | None = None
    idempotency_key: str | None = None
    rerun_of: str | None = None
    """The execution that it repeats."""
    rerun_version: int | None = None
    """The version of that execution."""

    @classmethod
    def read(cls, overrides: bytes | None) -> "StartInput":
        """Return the start input in the overrides of a run. Overrides that cannot be read yield none."""
        try:
            return NO_START_INPUT if overrides is None else msgspec.json.decode(overrides, type=_Given).start
        except msgspec.MsgspecError:
            return NO_START_INPUT


NO_START_INPUT: Final = StartInput()


class _Given(msgspec.Struct):
    start: StartInput = NO_START_INPUT


def read_params(spec: WorkflowSpec, given: Any) -> dict[str, Any]:
    """Return the parameters of an execution: the given ones and defaults for the others."""
    return {**spec.params, **checked_params(spec.params, given)}


def checked_params(defaults: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """Return the given parameters. Refuse one that has no default: the workflow does not have it."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InvalidRun(
            f"parameters must be a JSON object, not {type(given).__name__}",
            hint=_list_of_params(defaults),
            field="payload",
        )
    for name in given:
        if name not in defaults:
            hint = suggest(name, defaults, otherwise=_list_of_params(defaults))
            raise InvalidRun(f"parameter {name[:64]!a} does not exist", hint=hint, field="payload")
    return given


def _list_of_params(defaults: Mapping[str, Any]) -> str:
    if not defaults:
        return "The workflow has no parameters."
    return f"The parameters are: {shortened(', '.join(list(defaults)[:20]), 400)}."
