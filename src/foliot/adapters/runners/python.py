"""The python runner: calls functions that the application registered here, and all others in a separate process.

In this process, coroutine functions run on the event loop, and plain functions run in threads, so that they may block.
An awaitable that a plain function returns, for example from a decorator around a coroutine function, is awaited on the
loop. A thread cannot be killed: when its attempt is cancelled, the thread is abandoned, and its slot stays taken
(`abandoned`) until the function returns.

What functions in this process print and log goes to the logs of their runs (`standard_streams`).

Functions in this process must not fork: the child would be a copy of the worker, with its leases, event loop and
connections. A function that forks belongs in an isolated call or a shell job.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from threading import get_ident
from typing import Any

from foliot.adapters.runners.function import Handler, bind, describe
from foliot.adapters.runners.function_chain import ask_and_wait
from foliot.adapters.runners.function_output import FunctionOutput, Home
from foliot.adapters.runners.function_results import FunctionResults
from foliot.adapters.runners.isolated import IsolatedCalls
from foliot.adapters.runners.standard_streams import STREAMS
from foliot.domain.run.context import Context, enter, no_results
from foliot.domain.run.outcome import DONE, Failure, Reason, Success
from foliot.domain.run.payload import encode_result
from foliot.errors import InvalidRun, suggest
from foliot.ports.runner import Attempt

Running = Coroutine[Any, Any, Success | Failure]
Result = tuple[Any, BaseException | None]
"""What a function returned, or what it raised."""


class PythonRunner:
    """Runs jobs that call a function, given by its registered name or as `module:function`.

    `echo`: what functions print in this process goes to the streams of the process as well.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        threads: int,
        isolated: IsolatedCalls | None = None,
        echo: bool = False,
    ) -> None:
        self._handlers = handlers
        self._echo = echo
        self._isolated = IsolatedCalls() if isolated is None else isolated
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="foliot-job")
        self._abandoned: set[asyncio.Future[Result]] = set()

    @property
    def abandoned(self) -> int:
        return len(self._abandoned)

    @cached_property
    def _home(self) -> Home:
        """The event loop of this runner, and its thread. Cached, because each lookup is a system call."""
        return asyncio.get_running_loop(), get_ident()

    def run(self, attempt: Attempt) -> Running:
        return self._isolated.run(attempt) if "call" in attempt.spec else self._run_here(attempt)

    async def close(self) -> None:
        """End the warm interpreters."""
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
        output = FunctionOutput(attempt.log, self._home, attempt.run_id, self._echo)
        enter(_context(attempt, output, self._home))
        call = bind(handler.function, payload)
        return _on_loop(output, call) if handler.is_async else self._captured_in_thread(output, call)

    async def _captured_in_thread(self, output: FunctionOutput, call: Callable[[], Any]) -> Success | Failure:
        """Call a plain function in a thread, with `output` as its standard streams."""
        STREAMS.begin(output)
        try:
            return await self._in_thread(call)
        finally:
            STREAMS.end(output)

    async def _in_thread(self, call: Callable[[], Any]) -> Success | Failure:
        context = contextvars.copy_context()
        future = asyncio.get_running_loop().run_in_executor(self._pool, context.run, _call, call)
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

    def _forget(self, future: asyncio.Future[Result]) -> None:
        self._abandoned.discard(future)
        if not future.cancelled() and future.exception() is None:
            result, _ = future.result()
            if inspect.iscoroutine(result):
                result.close()  # the attempt is over, so it is not awaited


def _context(attempt: Attempt, output: FunctionOutput, home: Home) -> Context:
    return Context(
        attempt.run_id,
        attempt.job_id,
        attempt.number,
        attempt.tick,
        output.write,
        attempt.execution,
        attempt.planned,
        attempt.report,
        # Not the attempt: it refers to the task, and this cycle is never collected (gc=False).
        no_results if attempt.execution is None else partial(FunctionResults, attempt.results, home),
        partial(ask_and_wait, home, attempt.ask_chain),
        attempt.ask_chain,
    )


async def _on_loop(output: FunctionOutput, call: Callable[[], Awaitable[Any]]) -> Success | Failure:
    """Await a coroutine function, with `output` as its standard streams. Does not await `_awaited`: one coroutine less
    for each run."""
    STREAMS.begin(output)
    try:
        try:
            result = await call()
        except BaseException as error:
            return _failure_unless_cancelled(error)
        return _success(result)
    finally:
        STREAMS.end(output)


def _call(call: Callable[[], Any]) -> Result:
    """Call a function and return what it returned or raised.

    Everything that it raises is a failure of the job: SystemExit must not end the worker, and an event loop cannot
    pass StopIteration on.
    """
    try:
        return call(), None
    except BaseException as error:
        return None, error


async def _awaited(call: Callable[[], Awaitable[Any]]) -> Success | Failure:
    """Do the same for a coroutine, except that a cancellation from outside is raised."""
    try:
        result = await call()
    except BaseException as error:
        return _failure_unless_cancelled(error)
    return _success(result)


def _failure_unless_cancelled(error: BaseException) -> Failure:
    """Return the failure. Raise a cancellation from outside."""
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error
    return _failure(error)


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
