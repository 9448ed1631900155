"""Interpreters that are started ahead, so that a call need not wait for one.

    a call finds none   -> one more is wanted from now on, up to a few
    a call takes one    -> another is started in its place
    one waits too long  -> it is let go, and one less is wanted

So there is none before the first call, one for a job that runs every minute, a few where calls come in bursts, and
after a quiet while none again. Each serves one call: nothing that a function does can be seen by the next.
"""

import asyncio
import logging
import os
from dataclasses import dataclass, field
from typing import Final

from foliot.adapters.runners.isolated.interpreter import Interpreter
from foliot.adapters.runners.process.descriptors import leave_some
from foliot.adapters.runners.process.launch import Launch
from foliot.adapters.runners.process.patience import Patience
from foliot.adapters.runners.process.proctable import Tag

log = logging.getLogger(__name__)

MOST: Final = 8
IDLE: Final = 150.0
"""Seconds that a spare waits: more than two minutes, so that what runs every two minutes always finds one."""

_LAST_WAIT: Final = 1.0
_NOBODY: Final = Tag("spare")


@dataclass(slots=True)
class Shelf:
    """The spares of one launch, the oldest first: equal in everything that is fixed when an interpreter starts."""

    launch: Launch
    wanted: int = 0
    ready: list[tuple[float, Interpreter]] = field(default_factory=list)


class Spares:
    """Keeps spares for the calls of one event loop. They are gone when the loop is."""

    def __init__(self, *, most: int = MOST, idle: float = IDLE) -> None:
        self._most = most
        self._idle = idle
        self._shelves: list[Shelf] = []
        self._keeper: asyncio.Task[None] | None = None
        self._demand = asyncio.Event()

    def take(self, launch: Launch) -> Interpreter | None:
        """One that was started ahead, if there is one; it may have died since. Another is started for the next call."""
        self._start_keeper()
        shelf = self._shelf(launch)
        self._demand.set()
        if shelf.ready:
            # The youngest, so that those which are too many grow old.
            return shelf.ready.pop()[1]
        shelf.wanted = min(shelf.wanted + 1, self._most)
        return None

    async def close(self) -> None:
        """Let all of them go. More are started if there are more calls."""
        if self._keeper is not None and not self._keeper.done():
            self._keeper.cancel()
            await asyncio.wait([self._keeper])

    def _shelf(self, launch: Launch) -> Shelf:
        for shelf in self._shelves:
            if shelf.launch == launch:
                return shelf
        self._shelves.append(Shelf(launch))
        return self._shelves[-1]

    def _start_keeper(self) -> None:
        loop = asyncio.get_running_loop()
        if self._keeper is None or self._keeper.done() or self._keeper.get_loop() is not loop:
            for shelf in self._shelves:  # left by a loop that was closed without ending its tasks
                for _, interpreter in shelf.ready:
                    interpreter.forget()
            self._shelves = []
            self._demand = asyncio.Event()
            self._keeper = loop.create_task(self._keep(), name="foliot-spares")

    async def _keep(self) -> None:
        try:
            await self._demand.wait()
            while self._shelves:
                self._demand.clear()
                self._fill()
                await self._until_demand_or_age()
                await _end([interpreter for shelf in self._shelves for interpreter in self._old_of(shelf)])
                self._shelves = [shelf for shelf in self._shelves if shelf.wanted]
        finally:
            shelves, self._shelves = self._shelves, []
            await _end([interpreter for shelf in shelves for _, interpreter in shelf.ready])

    def _fill(self) -> None:
        """Start what is wanted, as long as there are not too many in all."""
        count = sum(len(shelf.ready) for shelf in self._shelves)
        for shelf in self._shelves:
            while len(shelf.ready) < shelf.wanted and count < self._most:
                try:
                    leave_some()
                    interpreter = _start(shelf.launch)
                except (OSError, ValueError) as error:
                    # A call that needs one says what is wrong, to those whom it concerns.
                    log.warning("spare_not_started", extra={"error": str(error)})
                    shelf.wanted = len(shelf.ready)
                    break
                shelf.ready.append((asyncio.get_running_loop().time(), interpreter))
                count += 1

    async def _until_demand_or_age(self) -> None:
        oldest = min((since for shelf in self._shelves for since, _ in shelf.ready), default=None)
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(None if oldest is None else max(oldest + self._idle - now, 0)):
                await self._demand.wait()
        except TimeoutError:
            pass

    def _old_of(self, shelf: Shelf) -> list[Interpreter]:
        """Take those off the shelf that nobody has needed for long, and count on fewer from now on."""
        limit = asyncio.get_running_loop().time() - self._idle
        old = [interpreter for since, interpreter in shelf.ready if since <= limit]
        shelf.ready = [(since, interpreter) for since, interpreter in shelf.ready if since > limit]
        shelf.wanted -= len(old)
        return old


def _start(launch: Launch) -> Interpreter:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        return Interpreter.start(launch, _NOBODY, nowhere, nowhere)
    finally:
        os.close(nowhere)


async def _end(interpreters: list[Interpreter]) -> None:
    """End spares and reap them, before a cancellation is obeyed."""
    patience = Patience()
    for interpreter in interpreters:
        interpreter.kill()
    for interpreter in interpreters:
        await patience.wait(interpreter.ending.ended, _LAST_WAIT)
        interpreter.forget()
    patience.give_way()
