"""Stops rounds between two storage verbs, so that other rounds happen in between.

A storage verb is atomic; a round with several verbs is not. A slow round waits before each verb until it is let pass.
Meanwhile schedules are edited, leases expire, and other processes make the same decisions.
"""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from foliot.ports.storage import Storage
from foliot.ports.trees import TreeStore
from foliot.testing.simulation.faults import INJECTED

_STORES = ("ledger", "work", "items", "admission", "orders", "definitions", "queries", "upkeep")


class VerbPause:
    """Blocks all verbs while the watch reads, so that it reads one consistent state."""

    def __init__(self) -> None:
        self._is_over = asyncio.Event()
        self._is_over.set()

    async def __aenter__(self) -> None:
        self._is_over.clear()

    async def __aexit__(self, *error: object) -> None:
        self._is_over.set()

    async def wait_over(self) -> None:
        while not self._is_over.is_set():
            await self._is_over.wait()


class Turnstile:
    """Controls the verbs of the rounds of one process."""

    def __init__(self, pause: VerbPause) -> None:
        self._pause = pause
        self._slow: set[asyncio.Task[Any]] = set()
        self._waiting: dict[asyncio.Task[Any], asyncio.Future[None]] = {}

    def slow_down(self, task: asyncio.Task[Any]) -> None:
        self._slow.add(task)
        task.add_done_callback(self._slow.discard)

    def let_pass(self, task: asyncio.Task[Any]) -> None:
        """Let a slow round do its next verb."""
        if task in self._waiting:
            self._waiting.pop(task).set_result(None)

    def open(self) -> None:
        """Make no round slow any more. A round that waits runs to its end when it is let pass."""
        self._slow.clear()

    async def enter(self) -> None:
        task = asyncio.current_task()
        if task is not None and task in self._slow:
            self._waiting[task] = asyncio.get_running_loop().create_future()
            try:
                await self._waiting[task]
            finally:
                self._waiting.pop(task, None)
        await self._pause.wait_over()


class _TurnstileStore:
    """A store behind a turnstile."""

    is_remote = True
    """Verbs interleave as those of a server do, also with SQLite."""

    def __init__(self, store: object, turnstile: Turnstile) -> None:
        self._store = store
        self._turnstile = turnstile

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb: Callable[..., Any] = getattr(self._store, name)
        if name == "signal":
            return verb

        async def pass_through(*arguments: Any, **named: Any) -> Any:
            await self._turnstile.enter()
            try:
                return await verb(*arguments, **named)
            except INJECTED:
                _expect(asyncio.current_task())
                raise

        return pass_through


def _expect(task: "asyncio.Task[Any] | None") -> None:
    """Retrieve the injected error if it ends a task that is not awaited, such as an attempt."""
    if task is not None:
        task.add_done_callback(_retrieve)


def _retrieve(task: "asyncio.Task[Any]") -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, INJECTED):
        # The injected error was replaced by another one, which is a defect.
        context = {"message": "a task ended with an error that was not injected", "exception": error, "task": task}
        task.get_loop().call_exception_handler(context)


class _TurnstileStorage:
    def __init__(self, storage: Storage, turnstile: Turnstile, trees: TreeStore) -> None:
        for name in _STORES:
            setattr(self, name, _TurnstileStore(getattr(storage, name), turnstile))
        self.trees = _TurnstileStore(trees, turnstile)
        self.signal = storage.signal
        self.close = storage.close


def with_turnstile(storage: Storage, turnstile: Turnstile, *, trees: Callable[[TreeStore], TreeStore]) -> Storage:
    """Return the storage with every verb behind the turnstile, and `trees` applied to its tree store."""
    return cast(Storage, _TurnstileStorage(storage, turnstile, trees(storage.trees)))
