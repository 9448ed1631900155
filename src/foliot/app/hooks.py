"""Decorators that register hooks: functions to call when runs, steps and executions start or end."""

from collections.abc import Callable
from typing import Generic, TypeVar, overload

from foliot.service.hooks import ExecutionHook, HookKind, Hooks, RunHook, StepHook

Hook = TypeVar("Hook", bound=Callable[..., object])


class HookDecorator(Generic[Hook]):
    """Registers functions, plain or async, as hooks of one kind.

    Write `@app.on_run_end` or `@app.on_run_end(name="billing")`.

    A plain function must return without blocking. A hook with a name gets each event at least once, also after a
    restart, in one of the processes that register it. A hook without a name is called in every process that registers
    it, with the events that happen while the process runs.
    """

    def __init__(self, hooks: Hooks, kind: HookKind) -> None:
        self._hooks = hooks
        self._kind = kind

    @overload
    def __call__(self, function: Hook) -> Hook: ...

    @overload
    def __call__(self, function: None = None, *, name: str | None = None) -> Callable[[Hook], Hook]: ...

    def __call__(self, function: Hook | None = None, *, name: str | None = None) -> Hook | Callable[[Hook], Hook]:
        if function is None:
            return lambda decorated: self._add(decorated, name)
        return self._add(function, name)

    def _add(self, function: Hook, name: str | None) -> Hook:
        self._hooks.add(self._kind, function, name)
        return function


class HookRegistry:
    """The hooks of an application. They are called in processes with a scheduler, coordinator or worker."""

    def __init__(self) -> None:
        self.hooks = Hooks()

    @property
    def on_run_start(self) -> HookDecorator[RunHook]:
        """Call a function with each run of any job when its first attempt starts."""
        return HookDecorator(self.hooks, HookKind.RUN_START)

    @property
    def on_run_end(self) -> HookDecorator[RunHook]:
        """Call a function with each run of any job when it has ended, however it ended."""
        return HookDecorator(self.hooks, HookKind.RUN_END)

    @property
    def on_step_start(self) -> HookDecorator[StepHook]:
        """Call a function with the execution and the step when the run of the step is created."""
        return HookDecorator(self.hooks, HookKind.STEP_START)

    @property
    def on_step_end(self) -> HookDecorator[StepHook]:
        """Call a function with the execution and the step when the step has a result, also if it was skipped."""
        return HookDecorator(self.hooks, HookKind.STEP_END)

    @property
    def on_workflow_complete(self) -> HookDecorator[ExecutionHook]:
        """Call a function with each execution of a workflow when it has ended."""
        return HookDecorator(self.hooks, HookKind.WORKFLOW_COMPLETE)
