"""Runs Python functions: those that the application registered in this process, all others in one of their own.

In this process coroutine functions run on the event loop; plain functions run in threads, so that they may block. What
such a function gives back to be awaited, as a plain decorator around a coroutine function does, goes on on the loop. A
thread cannot be killed: when such an attempt is ended it is given up, and its slot stays taken (`abandoned`) until the
function returns.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from foliot.adapters.runners.forks import end_copy, generation, watch
from foliot.adapters.runners.function import Handler, bind, describe
from foliot.adapters.runners.isolated import IsolatedCalls
from foliot.domain.run.context import Context, enter
from foliot.domain.run.outcome import DONE, Failure, Reason, Success
from foliot.domain.run.payload import encode_result
from foliot.errors import InvalidRun, suggest
from foliot.ports.runner import Attempt

Running = Coroutine[Any, Any, Success | Failure]
Answer = tuple[Any, BaseException | None]
"""What a function returned, or what it raised."""


class PythonRunner:
    """Carries out jobs that call a function: by the name it is registered under, or by `module:function`."""

    def __init__(self, handlers: Mapping[str, Handler], *, threads: int, isolated: IsolatedCalls | None = None) -> None:
        watch()
        self._handlers = handlers
        self._isolated = IsolatedCalls() if isolated is None else isolated
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="foliot-job")
        self._abandoned: set[asyncio.Future[Answer]] = set()

    @property
    def abandoned(self) -> int:
        return len(self._abandoned)

    def run(self, attempt: Attempt) -> Running:
        return self._isolated.run(attempt) if "call" in attempt.spec else self._run_here(attempt)

    async def close(self) -> None:
        """Let go of what is kept for calls to come."""
        await self._isolated.close()

    def _run_here(self, attempt: Attempt) -> Running:
        name = str(attempt.spec.get("handler", attempt.job_id))
        handler = self._handlers.get(name)
        if handler is None:
            near = suggest(name, self._handlers, otherwise="Is the module that registers it imported by this worker?")
            return _refused(Failure(f'no function is registered as "{name}". {near}', Reason.HANDLER_MISSING))
        payload = attempt.payload
        if isinstance(payload, dict):
            mismatch = handler.mismatch(payload)
            if mismatch is not None:
                return _refused(Failure(mismatch, Reason.PAYLOAD, retryable=False))
        enter(_context(attempt))
        call = bind(handler.function, payload)
        return _awaited(call) if handler.is_async else self._in_thread(call)

    async def _in_thread(self, call: Callable[[], Any]) -> Success | Failure:
        context = contextvars.copy_context()
        future = asyncio.get_running_loop().run_in_executor(self._pool, context.run, _answer, call)
        try:
            result, error = await asyncio.shield(future)
        except asyncio.CancelledError:
            if not future.done():
                self._abandoned.add(future)
                future.add_done_callback(self._forget)
            raise
        if error is not None:
            return _failure(error)
        return await _awaited(lambda: result) if inspect.isawaitable(result) else _success(result)

    def _forget(self, future: asyncio.Future[Answer]) -> None:
        self._abandoned.discard(future)
        if not future.cancelled() and future.exception() is None:
            result, _ = future.result()
            if inspect.iscoroutine(result):
                result.close()  # nobody is there to await it


def _context(attempt: Attempt) -> Context:
    run_id, job_id, number = attempt.run_id, attempt.job_id, attempt.number
    return Context(run_id, job_id, number, attempt.tick, attempt.log.write, attempt.execution, attempt.planned)


def _answer(call: Callable[[], Any]) -> Answer:
    """Call a function. Whatever it raises is about the job: SystemExit must not end the worker, and StopIteration
    cannot even cross into the event loop."""
    origin = generation()
    try:
        answer: Answer = call(), None
    except BaseException as error:
        answer = None, error
    if generation() != origin:
        end_copy(answer[1])
    return answer


async def _awaited(call: Callable[[], Awaitable[Any]]) -> Success | Failure:
    """The same for a coroutine, except that a cancellation from outside goes on."""
    origin = generation()
    try:
        result = await call()
    except BaseException as error:
        if generation() != origin:
            end_copy(error)
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        return _failure(error)
    if generation() != origin:
        end_copy(None)
    return _success(result)


async def _refused(failure: Failure) -> Failure:
    return failure


def _failure(error: BaseException) -> Failure:
    return Failure(describe(error), Reason.EXCEPTION)


def _success(result: Any) -> Success | Failure:
    if result is None:
        return DONE
    try:
        return Success(encode_result(result))
    except InvalidRun as refusal:
        return Failure(str(refusal), Reason.OUTPUT, retryable=False)
