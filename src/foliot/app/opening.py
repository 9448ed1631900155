"""Bringing what was declared into a storage, and to work."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from weakref import WeakSet

from foliot.app.declaring import Declarations
from foliot.app.seat import Seat, already_open, elsewhere, still_used
from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.deployment import Declared
from foliot.domain.launch import LAUNCH_JOB, LAUNCH_SPEC
from foliot.domain.workflow.jobs import jobs_of_all
from foliot.engine.node import Node, Settings
from foliot.ports.clock import Clock
from foliot.ports.launcher import RunLauncher, ask
from foliot.service.background import Background, here_already, run_through, wait_on
from foliot.service.launcher import DeskLauncher
from foliot.wiring import (
    EVERYTHING,
    Reach,
    Services,
    build_node,
    build_runners,
    node_label,
    open_services,
)

Answer = TypeVar("Answer")


class Application(Declarations):
    """Declarations on one storage."""

    def __init__(
        self,
        storage: str = DEFAULT_STORAGE,
        *,
        launcher: RunLauncher | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        self._url = storage
        self._clock = clock
        self._launcher = launcher
        self._start_afresh()
        _APPLICATIONS.add(self)

    def _start_afresh(self) -> None:
        """Open nowhere, used by nobody."""
        self._seat: Seat | None = None
        self._taking = threading.Lock()
        self._background = Background()
        self._blocks = 0
        """How many `async with` blocks are under way."""
        self._nodes: WeakSet[Node] = WeakSet()

    async def __aenter__(self) -> Self:
        await self.open()
        self._blocks += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._blocks = max(0, self._blocks - 1)
        if not self._is_used:
            await self.close()

    async def open(self, services: Services | None = None, *, is_inline: bool = False) -> Services:
        """Open the storage, or take an open one, and apply what was declared. Safe to call again.

        `is_inline`: the storage that is given does every verb before its call returns.
        """
        seat = self._seat
        if seat is None or seat.services is None or services is not None or seat.loop is not asyncio.get_running_loop():
            return await self._open(services, is_inline)
        return seat.services

    async def close(self) -> None:
        """Let go of the storage. Safe to call again; the next call that needs it opens it anew.

        Refused while a block or a node uses it: to wait for them would be to wait for oneself, in a job that closes the
        application of its own worker.
        """
        seat = self._seat
        if seat is None:
            return
        if self._is_used and not seat.is_vacant:
            raise still_used()
        if seat.loop is not asyncio.get_running_loop():
            await self._close_elsewhere(seat)
            return
        self._seat = None
        await seat.close()

    async def _close_elsewhere(self, seat: Seat) -> None:
        with self._taking:
            closing = self._leave(seat)
            self._seat = None
        if closing is not None:
            await asyncio.wrap_future(closing)

    async def _open(self, given: Services | None, is_inline: bool) -> Services:
        while True:
            seat = self._take_seat(asyncio.get_running_loop())
            async with seat.opening:
                if seat is not self._seat:
                    continue  # it was closed, or taken by another loop, while we waited
                if seat.services is None:
                    services = await self._applied(given or await open_services(self._url, self._clock))
                    await seat.settle(services, is_inline=is_inline)
                    return services
                if given is not None and given is not seat.services:
                    await given.close()
                    raise already_open()
                return seat.services

    def _take_seat(self, loop: asyncio.AbstractEventLoop) -> Seat:
        """The seat on this loop; a new one if nobody else sits on another."""
        with self._taking:
            seat = self._seat
            if seat is not None and seat.loop is loop:
                return seat
            if seat is not None:
                self._leave(seat)
            self._seat = Seat(loop)
            return self._seat

    def _leave(self, seat: Seat) -> "Future[None] | None":
        """Give up the seat on another loop, or say that it cannot be given up. What is open there closes by itself."""
        is_ours = self._background.owns(seat.loop) and not self._is_used
        if not seat.is_vacant and not is_ours:
            raise elsewhere()
        self._blocks = 0  # whoever is still in a block cannot go on: its loop is closed
        self._nodes.clear()
        if seat.services is None:
            return None
        # In the background others may still be at work with it.
        return self._background.after_others(seat.close() if is_ours else _let_go(seat))

    async def _applied(self, services: Services) -> Services:
        try:
            await self._apply(services)
        except BaseException:
            await services.close()
            raise
        return services

    @property
    def _is_used(self) -> bool:
        return self._blocks > 0 or any(node.is_running for node in self._nodes)

    async def _apply(self, services: Services) -> None:
        jobs = {LAUNCH_JOB: LAUNCH_SPEC, **self._jobs}
        await services.workflows.check(self._workflows, Declared(jobs=jobs, workflows=self._workflows))
        await services.registrar.put_jobs(jobs, coming=jobs_of_all(self._workflows))
        if self._workflows:
            await services.workflows.register(self._workflows)
        if self._schedules:
            await services.registrar.declare_schedules(self._schedules)

    def wait(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        """Make one of the async calls from plain code, in any thread: `app.wait(app.enqueue("report"))`.

        The call is made on the loop that the application is open on, such as that of the server whose job asks, or on
        one in the background.
        """
        seat = self._seat
        loop = seat.loop if seat is not None and seat.loop.is_running() else self._background.loop
        if loop is not _running_loop():
            return self._background.run(call) if self._background.owns(loop) else wait_on(loop, call)
        if seat is not None and seat.is_inline:
            return run_through(call)
        call.close()
        raise here_already()

    def _leave_behind(self) -> None:
        """In a forked child: what is open belongs to the parent."""
        if self._seat is not None:
            self._seat.leave_behind()
        self._start_afresh()

    @property
    def launcher(self) -> "Launcher":
        """Starts runs for ticks, by the application's own launcher or by ours."""
        return Launcher(self, self._launcher)

    @property
    def has_own_launcher(self) -> bool:
        """Whether ticks of workflows are handed to a launcher of the application's."""
        return self._launcher is not None

    async def node(self, settings: Settings | None = None, reach: Reach = EVERYTHING) -> Node:
        """The scheduler and worker of this process, not yet started."""
        chosen = settings or Settings(label=node_label())
        runners = build_runners(self._functions, self.launcher, chosen.slots, reach)
        services = await self.open()
        node = build_node(services, runners, chosen, self._launcher, self.listeners.listen(services.executions))
        self._nodes.add(node)
        return node


class Launcher:
    """The application's own one, or ours, which is opened when it is first needed. Its answer is always awaited."""

    def __init__(self, app: Application, own: RunLauncher | None) -> None:
        self._app = app
        self._own = own

    async def start(
        self, workflow_id: str, version: int | None, user_id: str | None, scheduled_for: Any, idempotency_key: str
    ) -> bool:
        launcher = self._own
        if launcher is None:
            services = await self._app.open()
            launcher = DeskLauncher(services.desk, services.workflows, services.executions)
        return await ask(
            launcher,
            workflow_id=workflow_id,
            version=version,
            user_id=user_id,
            scheduled_for=scheduled_for,
            idempotency_key=idempotency_key,
        )


async def _let_go(seat: Seat) -> None:
    """Close what a closed loop has left behind, as far as that goes without it; freeing closes the rest."""
    with suppress(Exception):
        await seat.close()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


_APPLICATIONS: Final[WeakSet[Application]] = WeakSet()


def _after_fork_in_child() -> None:
    for application in list(_APPLICATIONS):
        application._leave_behind()


os.register_at_fork(after_in_child=_after_fork_in_child)
