"""Calls functions of the application when steps resolve and executions end.

Each is called once, in the process that saved the result, after saving it. A process that dies in between makes no
call; a program that must not miss anything reads the events.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from foliot.domain.tree.settlement import Progress
from foliot.service.commands.workflows import WorkflowService
from foliot.service.queries.execution_view import ExecutionView, StepView

log = logging.getLogger(__name__)

OnComplete = Callable[[ExecutionView], Awaitable[None] | None]
OnStep = Callable[[ExecutionView, StepView], Awaitable[None] | None]


class Listeners:
    """Holds the functions and the calls in progress."""

    def __init__(self) -> None:
        self.on_complete: list[OnComplete] = []
        self.on_step: list[OnStep] = []
        self._calls: set[asyncio.Task[None]] = set()

    def listen(self, workflows: WorkflowService) -> Callable[[Progress], None]:
        """Return the function that an engine calls with each progress."""

        def notify(progress: Progress) -> None:
            if self.on_step or (self.on_complete and progress.is_over):
                call = asyncio.get_running_loop().create_task(self._call(workflows, progress))
                self._calls.add(call)
                call.add_done_callback(self._calls.discard)

        return notify

    async def settled(self) -> None:
        """Return when every call has ended."""
        while self._calls:
            await asyncio.wait(self._calls)

    async def _call(self, workflows: WorkflowService, progress: Progress) -> None:
        execution = await workflows.status(progress.run_id)
        if execution is None:
            return
        resolved = {name for name, state in progress.steps.items() if state.result is not None}
        for step in execution.steps:
            if step.name in resolved:
                await _each(self.on_step, execution, step)
        if progress.is_over:
            await _each(self.on_complete, execution)


async def _each(functions: list[Any], *arguments: Any) -> None:
    for function in functions:
        try:
            answer = function(*arguments)
            if inspect.isawaitable(answer):
                await answer
        except Exception:
            # Code of the application: its errors must not prevent the other calls.
            log.exception("listener_failed", extra={"function": getattr(function, "__qualname__", repr(function))})
