"""Rounds that are stopped in their middle, so that others happen in between.

A storage verb is atomic; what a duty does between two of them is not. A slow round waits before each verb until it is
let pass, and meanwhile the rest of the world goes on: schedules are edited, leases expire, rivals decide the same.
"""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from foliot.ports.storage import Storage
from foliot.ports.trees import TreeStore
from foliot.testing.simulation.faults import PLANTED

_STORES = ("ledger", "work", "admission", "orders", "definitions", "queries", "upkeep")


class Hush:
    """While somebody looks around, nobody begins a verb: what is seen has all been so at one moment."""

    def __init__(self) -> None:
        self._is_over = asyncio.Event()
        self._is_over.set()

    async def __aenter__(self) -> None:
        self._is_over.clear()

    async def __aexit__(self, *error: object) -> None:
        self._is_over.set()

    async def over(self) -> None:
        while not self._is_over.is_set():
            await self._is_over.wait()


class Turnstile:
    """Where the rounds of one process pass on their way to the storage."""

    def __init__(self, hush: Hush) -> None:
        self._hush = hush
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
        """Nobody is slow any more. Whoever stands still goes on, to the end, when it is let pass."""
        self._slow.clear()

    async def enter(self) -> None:
        task = asyncio.current_task()
        if task is not None and task in self._slow:
            self._waiting[task] = asyncio.get_running_loop().create_future()
            try:
                await self._waiting[task]
            finally:
                self._waiting.pop(task, None)
        await self._hush.over()


class _Gated:
    """A store behind a turnstile."""

    is_remote = True
    """Its verbs take turns with others, as those of a server do, whatever storage is behind it."""

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
            except PLANTED:
                _expect(asyncio.current_task())
                raise

        return pass_through


def _expect(task: "asyncio.Task[Any] | None") -> None:
    """Planted trouble may end a task that nobody waits for, such as an attempt: that is as it was meant."""
    if task is not None:
        task.add_done_callback(_retrieve)


def _retrieve(task: "asyncio.Task[Any]") -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, PLANTED):
        # Whatever became of the trouble on its way out was not planted.
        told = {"message": "a task ended by another error than was planted", "exception": error, "task": task}
        task.get_loop().call_exception_handler(told)


class _GatedStorage:
    def __init__(self, storage: Storage, turnstile: Turnstile, trees: TreeStore) -> None:
        for name in _STORES:
            setattr(self, name, _Gated(getattr(storage, name), turnstile))
        self.trees = _Gated(trees, turnstile)
        self.signal = storage.signal
        self.close = storage.close


def gated(storage: Storage, turnstile: Turnstile, *, trees: Callable[[TreeStore], TreeStore]) -> Storage:
    """The same storage, with every verb behind the turnstile, and something in front of its trees."""
    return cast(Storage, _GatedStorage(storage, turnstile, trees(storage.trees)))
