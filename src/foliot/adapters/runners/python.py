"""Runs Python functions in this process.

Coroutine functions run on the event loop; plain functions run in threads, so that they may block. A thread cannot be
killed: when such an attempt is ended it is given up, and its slot stays taken (`abandoned`) until the function returns.

A dict payload becomes keyword arguments, any other payload the one positional argument, no payload none.
"""

import asyncio
import contextvars
import inspect
import traceback
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from foliot.domain.context import Context, enter
from foliot.domain.outcome import Failure, Reason, Success
from foliot.domain.payload import encode_payload
from foliot.errors import InvalidRun, suggest
from foliot.ports.runner import Attempt

Answer = tuple[Any, BaseException | None]
"""What a function returned, or what it raised."""

_MAX_ERROR = 8_000
_SUCCESS = Success()


@dataclass(frozen=True, slots=True)
class Handler:
    """A function and what it can be called with."""

    function: Callable[..., Any]
    is_async: bool
    required: frozenset[str]
    accepted: frozenset[str] | None
    """None: any keyword."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "Handler":
        named = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        ]
        takes_any = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
        return cls(
            function,
            inspect.iscoroutinefunction(function),
            frozenset(parameter.name for parameter in named if parameter.default is parameter.empty),
            None if takes_any else frozenset(parameter.name for parameter in named),
        )

    def mismatch(self, payload: Mapping[str, Any]) -> str | None:
        """What is wrong with calling the function so, if anything."""
        missing = self.required - payload.keys()
        if missing:
            return f"the payload lacks {', '.join(sorted(missing))}"
        surplus = () if self.accepted is None else payload.keys() - self.accepted
        if surplus:
            return f"the function does not take {', '.join(sorted(surplus))}"
        return None


class PythonRunner:
    """Carries out jobs whose handler was registered with the application."""

    def __init__(self, handlers: Mapping[str, Handler], *, threads: int) -> None:
        self._handlers = handlers
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="foliot-job")
        self._abandoned: set[asyncio.Future[Any]] = set()

    @property
    def abandoned(self) -> int:
        return len(self._abandoned)

    async def run(self, attempt: Attempt) -> Success | Failure:
        name = str(attempt.spec.get("handler", attempt.job_id))
        handler = self._handlers.get(name)
        if handler is None:
            near = suggest(name, self._handlers, otherwise="Is the module that registers it imported by this worker?")
            return Failure(f'no function is registered as "{name}". {near}', Reason.HANDLER_MISSING)
        payload = attempt.payload
        if isinstance(payload, dict):
            mismatch = handler.mismatch(payload)
            if mismatch is not None:
                return Failure(mismatch, Reason.PAYLOAD, retryable=False)
        enter(Context(attempt.run_id, attempt.job_id, attempt.number, attempt.tick, attempt.log.write))
        return await self._call(handler, payload)

    async def _call(self, handler: Handler, payload: Any) -> Success | Failure:
        call = _bind(handler.function, payload)
        result, error = await (_awaited(call) if handler.is_async else self._in_thread(call))
        if error is not None:
            return Failure(describe(error), Reason.EXCEPTION)
        if result is None:
            return _SUCCESS
        try:
            return Success(encode_payload(result, what="output"))
        except InvalidRun as refusal:
            return Failure(str(refusal), Reason.OUTPUT, retryable=False)

    async def _in_thread(self, call: Callable[[], Any]) -> Answer:
        context = contextvars.copy_context()
        future = asyncio.get_running_loop().run_in_executor(self._pool, context.run, _answer, call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if not future.done():
                self._abandoned.add(future)
                future.add_done_callback(self._forget)
            raise

    def _forget(self, future: asyncio.Future[Any]) -> None:
        self._abandoned.discard(future)
        if not future.cancelled():
            future.exception()


def _answer(call: Callable[[], Any]) -> Answer:
    """Call a function. Whatever it raises is about the job: SystemExit must not end the worker, and StopIteration
    cannot even cross into the event loop."""
    try:
        return call(), None
    except BaseException as error:
        return None, error


async def _awaited(call: Callable[[], Awaitable[Any]]) -> Answer:
    """The same for a coroutine, except that a cancellation from outside goes on."""
    try:
        return await call(), None
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        return None, error


def _bind(function: Callable[..., Any], payload: Any) -> Callable[[], Any]:
    if payload is None:
        return function
    if isinstance(payload, dict):
        return lambda: function(**payload)
    return lambda: function(payload)


def describe(error: BaseException) -> str:
    """The traceback from the job's own frame on: how it was called is of no interest to its author."""
    own = error.__traceback__.tb_next if error.__traceback__ else None
    return "".join(traceback.format_exception(type(error), error, own)).strip()[-_MAX_ERROR:]
