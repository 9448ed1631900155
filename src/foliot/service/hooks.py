"""Calls functions of the application for events: runs that start and end, steps, and executions that end.

Hooks read the events that are stored with each change, so they are called after it and cannot change it. An error of a
hook is logged and affects neither the run nor other hooks.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from foliot.domain.events import Event, EventKind
from foliot.domain.ids import RunId
from foliot.domain.run.run import TERMINAL
from foliot.errors import InvalidInput, shown
from foliot.ports.listeners import Subscription
from foliot.ports.notifier import LISTENER
from foliot.ports.storage import Storage
from foliot.service.queries.execution_view import ExecutionView, StepView, view_execution
from foliot.service.queries.run_view import RunView, view_run

log = logging.getLogger(__name__)

RunHook = Callable[[RunView], Awaitable[None] | None]
StepHook = Callable[[ExecutionView, StepView], Awaitable[None] | None]
ExecutionHook = Callable[[ExecutionView], Awaitable[None] | None]

_MAX_NAME: Final = 128
_CHUNK: Final = 100


class HookKind(StrEnum):
    RUN_START = "on_run_start"
    RUN_END = "on_run_end"
    STEP_START = "on_step_start"
    STEP_END = "on_step_end"
    WORKFLOW_COMPLETE = "on_workflow_complete"


Functions = Mapping[HookKind, Sequence[Callable[..., Any]]]


class Hooks:
    """The hooks of an application. Those with the same name, and those without one, share a position in the events."""

    def __init__(self) -> None:
        self._functions: dict[str | None, dict[HookKind, list[Callable[..., Any]]]] = {}

    def add(self, kind: HookKind, function: Callable[..., Any], name: str | None) -> None:
        _check(kind, function, name)
        self._functions.setdefault(name, {}).setdefault(kind, []).append(function)

    def subscriptions(self, storage: Storage) -> list[Subscription]:
        """Return one listener for each name. Empty if there are no hooks."""
        return [Subscription(name, _Delivery(storage, kinds)) for name, kinds in self._functions.items()]


class _Delivery:
    """Calls the hooks of one listener with views of the runs, steps or executions that an event is about."""

    def __init__(self, storage: Storage, functions: Functions) -> None:
        self._storage = storage
        self._functions = functions

    async def __call__(self, event: Event) -> None:
        match event.kind:
            case EventKind.RUNS_STARTED:
                # A retry is not another start of the run.
                await self._about_runs(HookKind.RUN_START, [run_id for run_id, attempt in event.items if attempt == 1])
            case EventKind.RUNS_ENDED:
                ended = [run_id for run_id, status, _ in event.items if status in TERMINAL]
                await self._about_runs(HookKind.RUN_END, ended)
            case EventKind.STEPS_CHANGED:
                await self._about_steps(event.items)
            case EventKind.EXECUTIONS_ENDED:
                await self._about_executions([run_id for run_id, *_ in event.items])

    async def _about_runs(self, kind: HookKind, run_ids: Sequence[RunId]) -> None:
        if kind not in self._functions:
            return
        for start in range(0, len(run_ids), _CHUNK):
            chunk = run_ids[start : start + _CHUNK]
            found = await self._storage.queries.get_runs(chunk)
            for run_id in chunk:
                if run_id in found:  # else retention has removed it
                    await self._call(kind, view_run(found[run_id]))

    async def _about_steps(self, items: Sequence[Any]) -> None:
        if HookKind.STEP_START not in self._functions and HookKind.STEP_END not in self._functions:
            return
        for run_id, group in groupby(items, key=lambda item: item[0]):
            execution = await self._execution(run_id)
            steps = {} if execution is None else {step.name: step for step in execution.steps}
            for _, name, result in group:
                if name in steps:
                    kind = HookKind.STEP_START if result is None else HookKind.STEP_END
                    await self._call(kind, execution, steps[name])

    async def _about_executions(self, run_ids: Sequence[RunId]) -> None:
        if HookKind.WORKFLOW_COMPLETE not in self._functions:
            return
        for run_id in run_ids:
            execution = await self._execution(run_id)
            if execution is not None:
                await self._call(HookKind.WORKFLOW_COMPLETE, execution)

    async def _execution(self, run_id: RunId) -> ExecutionView | None:
        found = (await self._storage.queries.execution(run_id)).executions
        return view_execution(found[0]) if found else None

    async def _call(self, kind: HookKind, *views: Any) -> None:
        for function in self._functions.get(kind, ()):
            try:
                answer = function(*views)
                if inspect.isawaitable(answer):
                    await answer
            except Exception:
                # Code of the application: its errors must not prevent the other calls.
                name = getattr(function, "__qualname__", repr(function))
                log.exception("hook_failed", extra={"hook": kind.value, "function": name, "id": views[0].id})


def _check(kind: HookKind, function: object, name: object) -> None:
    if not callable(function):
        raise InvalidInput(
            f"{kind} needs a function, not {shown(function)}",
            hint=f'Write @app.{kind} or @app.{kind}(name="billing") above a function.',
        )
    is_name = isinstance(name, str) and name.isprintable() and 0 < len(name) <= _MAX_NAME and name != LISTENER
    if name is not None and not is_name:
        raise InvalidInput(
            f"the name of a hook must be printable text of 1 to {_MAX_NAME} characters, not {shown(name)}",
            hint='Choose a name that stays the same at every start, such as "billing".',
            field="name",
        )
