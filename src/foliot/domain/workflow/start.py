"""What an execution begins with: a version, parameters, and, where it repeats another one, from where."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from foliot.domain.ids import RunId
from foliot.domain.workflow.rerun import CarriedOutput
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidRun, shortened, suggest


class ExecutionStart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Stored with the run of the execution, among what was given for this run alone."""

    version: int
    rerun_of: RunId | None = None
    """The execution whose results are kept, as far as the next two leave them."""
    rerun_version: int | None = None
    """The version of that execution."""
    steps: tuple[str, ...] = ()
    """Run again, with all that comes after them."""
    marked: tuple[str, ...] = ()
    """Count as successes; what comes after them is run again."""
    carried: dict[str, CarriedOutput] = {}
    """What the other steps left behind, where somebody may ask for it."""
    user_id: str | None = None
    idempotency_key: str | None = None
    """What a launcher was given."""

    @classmethod
    def read(cls, overrides: bytes | None, spec: Mapping[str, Any]) -> "ExecutionStart":
        """What the run says, else the version that the workflow has when it starts."""
        given = {} if overrides is None else msgspec.json.decode(overrides).get("start", {})
        return msgspec.convert({"version": spec["version"], **given}, cls)


class StartInput(msgspec.Struct, frozen=True):
    """What people are shown of it, also for the run of a job that is no workflow."""

    user_id: str | None = None
    idempotency_key: str | None = None
    rerun_of: str | None = None
    """The execution that it repeats."""
    rerun_version: int | None = None
    """The version of that execution."""

    @classmethod
    def read(cls, overrides: bytes | None) -> "StartInput":
        """What was given for a run. What cannot be read tells nothing."""
        try:
            return NO_START_INPUT if overrides is None else msgspec.json.decode(overrides, type=_Given).start
        except msgspec.MsgspecError:
            return NO_START_INPUT


NO_START_INPUT: Final = StartInput()


class _Given(msgspec.Struct):
    start: StartInput = NO_START_INPUT


def read_params(spec: WorkflowSpec, given: Any) -> dict[str, Any]:
    """The parameters of an execution: the defaults with what was given laid over them."""
    if given is None:
        return spec.params
    if not isinstance(given, dict):
        raise InvalidRun(
            f"parameters are named values, not {type(given).__name__}",
            hint=f"Give an object with: {_named(spec) or 'nothing, there are none'}.",
            field="payload",
        )
    for name in given:
        if name not in spec.params:
            hint = suggest(name, spec.params, otherwise=f"There are: {_named(spec) or 'none'}.")
            raise InvalidRun(f"parameter {name[:64]!a} does not exist", hint=hint, field="payload")
    return {**spec.params, **given}


def _named(spec: WorkflowSpec) -> str:
    return shortened(", ".join(list(spec.params)[:20]), 400)
