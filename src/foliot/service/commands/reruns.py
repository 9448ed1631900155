"""Prepares executions that repeat another one, in its own version or a newer one."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from msgspec.structs import replace

from foliot.domain.ids import RunId
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.rerun import (
    CarriedOutput,
    carried_outputs,
    lost_steps,
    outputs_to_carry,
    referenced_steps,
    run_again,
)
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.domain.workflow.start import ExecutionStart, read_params
from foliot.errors import InvalidRun, NotFound
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.storage import Storage
from foliot.service.queries.execution_view import ExecutionView

_MOST_NAMED: Final = 5


class RerunPlanner:
    """Decides what an execution that repeats another one starts with."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def plan(
        self,
        before: ExecutionView,
        old: WorkflowVersion,
        new: WorkflowVersion,
        steps: Collection[str] = (),
        marked: Collection[str] = (),
    ) -> tuple[ExecutionStart, dict[str, Any]]:
        """Return how a repetition of an ended execution starts, and its parameters.

        `old` is the version of that execution, `new` the version that the repetition uses.
        """
        failed = [step.name for step in before.steps if step.result == "failure"]
        begin = tuple(steps) or (() if marked else tuple(failed))
        if not begin and not marked:
            raise InvalidRun(f"no step of execution {before.id} has failed", hint="Name the steps to begin at.")
        _refuse_unknown([*begin, *marked], before, new)
        start = ExecutionStart(
            version=new.version,
            rerun_of=RunId(before.id),
            rerun_version=old.version,
            steps=begin,
            marked=tuple(marked),
            user_id=before.user_id,
        )
        await self._refuse_lost(before, old, new, begin)
        carried = await self._carried(before, new.spec, start)
        return replace(start, carried=carried), _params(before, old, new)

    async def _refuse_lost(
        self, before: ExecutionView, old: WorkflowVersion, new: WorkflowVersion, begin: Collection[str]
    ) -> None:
        """Refuse a version without a step whose result is to be kept."""
        if new.version == old.version:
            return
        states = await self._storage.queries.step_states(RunId(before.id))
        lost = lost_steps(graph_of(old.spec.steps), graph_of(new.spec.steps), states, begin)
        if lost:
            names = _named(lost)
            raise InvalidRun(
                f"version {new.version} does not have {names}, whose result execution {before.id} would keep",
                hint=_same_version(before),
            )

    async def _carried(
        self, before: ExecutionView, spec: WorkflowSpec, start: ExecutionStart
    ) -> dict[str, CarriedOutput]:
        """Return the outputs of steps that are not run again, as far as other steps use them."""
        run_id = RunId(before.id)
        states = await self._storage.queries.step_states(run_id)
        again = run_again(graph_of(spec.steps), states, start=start.steps, marked=start.marked)
        asked = referenced_steps(spec) - again
        if not asked:
            return {}
        found = await self._storage.queries.step_outputs(run_id, asked)
        stored = await self._storage.queries.get_runs(
            [output.run_id for output in found.values() if output.run_id is not None]
        )
        for run in stored.values():
            if run.unreadable is not None:
                raise run.unreadable
        already_carried = carried_outputs(await self._storage.queries.overrides(run_id))
        return outputs_to_carry(before.id, found, already_carried, stored)


def _refuse_unknown(names: Sequence[str], before: ExecutionView, new: WorkflowVersion) -> None:
    known = {step.name for step in new.spec.steps}
    was_there = {step.name for step in before.steps}
    for name in names:
        if name in known:
            continue
        if name not in was_there:
            raise NotFound("step", name, known=known)
        raise InvalidRun(
            f'version {new.version} does not have step "{name}", which is to run again',
            hint=f"Name the steps to begin at. {_same_version(before)}",
        )


def _params(before: ExecutionView, old: WorkflowVersion, new: WorkflowVersion) -> dict[str, Any]:
    """Return the parameters that were given. A default is that of the version that runs."""
    defaults = old.spec.params
    given = {name: value for name, value in before.params.items() if name not in defaults or value != defaults[name]}
    if new.version == old.version:
        return before.params
    try:
        read_params(new.spec, given)
    except InvalidRun as error:
        raise InvalidRun(
            f"version {new.version} does not take these parameters: {error.message}", hint=_same_version(before)
        ) from error
    return given


def _same_version(before: ExecutionView) -> str:
    return f"To use version {before.version}: foliot workflows rerun {before.id} --same-version"


def _named(steps: Sequence[str]) -> str:
    more = f" and {len(steps) - _MOST_NAMED} more" if len(steps) > _MOST_NAMED else ""
    names = ", ".join(f'"{name}"' for name in steps[:_MOST_NAMED])
    return f"step {names}{more}" if len(steps) == 1 else f"steps {names}{more}"
