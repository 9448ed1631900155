"""Opening an application: applying its declarations to a storage, and building nodes."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeVar, Unpack
from weakref import WeakSet

from foliot.app.background import Background, run_through, same_loop, wait_on
from foliot.app.loop_binding import LoopBinding, already_open, still_in_use, wrong_loop
from foliot.app.registry import Registry
from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.deploy.deployment import Declared
from foliot.domain.input.keywords import read_keywords
from foliot.domain.input.timing import Span, millis
from foliot.domain.input.typed import DefaultOptions
from foliot.domain.job.job import Options
from foliot.domain.notification.settings import NOT_CONFIGURED, NotificationSettings
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.schedule.firing import MakeRun
from foliot.domain.schedule.tick_run import LAUNCH_JOB, LAUNCH_SPEC, LAUNCH_TIMEOUT, make_launch_run, make_run
from foliot.domain.vocabulary.places import APPLICATION_CALL
from foliot.domain.workflow.jobs import jobs_of_all
from foliot.engine.node import Node
from foliot.engine.settings import Settings
from foliot.errors import InvalidSchedule
from foliot.ports.clock import Clock
from foliot.ports.launcher import RunLauncher, ask
from foliot.ports.runner import Runner
from foliot.service.commands.launcher import ServiceLauncher
from foliot.service.services import Services
from foliot.wiring.machine import node_label
from foliot.wiring.processes import build_node
from foliot.wiring.runners import UNRESTRICTED, RunnerPolicy, build_notifications, build_resolvers, build_runners
from foliot.wiring.services import open_services

Answer = TypeVar("Answer")


class Application(Registry):
    """Declarations on one storage."""

    def __init__(
        self,
        storage: str = DEFAULT_STORAGE,
        *,
        launcher: RunLauncher | None = None,
        launch_timeout: Span = timedelta(milliseconds=LAUNCH_TIMEOUT),
        clock: Clock | None = None,
        **defaults: Unpack[DefaultOptions],
    ) -> None:
        """`launcher` starts the workflows of schedules in place of Foliot. A run that it has started ends as timed out
        if its end is not reported within `launch_timeout`, or within the timeout of the workflow if that has one.

        `default_overlap`, `default_catchup` and `default_jitter` are for schedules that do not have these options.
        """
        read = read_keywords(APPLICATION_CALL, defaults, InvalidSchedule)
        super().__init__(ScheduleDefaults(**read.fill(APPLICATION_CALL)))
        self._launch_timeout = millis(launch_timeout, "launch_timeout")
        Options(timeout=self._launch_timeout).check()
        self._url = storage
        self._clock = clock
        self._launcher = launcher
        self._reset()
        _APPLICATIONS.add(self)

    def _reset(self) -> None:
        """Set the state of an application that is not open."""
        self._binding: LoopBinding | None = None
        self._bind_lock = threading.Lock()
        self._background = Background()
        self._blocks = 0
        """The number of open `async with` blocks."""
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
        """Open the storage and apply the declarations. Does nothing if the application is open.

        `services` are open services to use instead. `is_inline`: every call of their storage is done when it returns.
        """
        binding, loop = self._binding, asyncio.get_running_loop()
        if binding is None or binding.services is None or services is not None or binding.loop is not loop:
            return await self._open(services, is_inline)
        return binding.services

    async def close(self) -> None:
        """Close the storage. The next call that needs the storage opens it again.

        Refused while a block or a node uses it. Waiting for them would deadlock a job that closes the application of
        its own worker.
        """
        binding = self._binding
        if binding is None:
            return
        if self._is_used and not binding.is_unused:
            raise still_in_use()
        if binding.loop is not asyncio.get_running_loop():
            if not binding.is_unused:
                raise wrong_loop()
            self._forget_users()
        self._binding = None
        await binding.close()

    async def _open(self, given: Services | None, is_inline: bool) -> Services:
        while True:
            binding, stale = self._bind(asyncio.get_running_loop())
            if stale is not None:
                await stale.close()
            async with binding.opening:
                if binding is not self._binding:
                    continue  # closed, or bound to another loop, while we waited
                if binding.services is None:
                    opened = given or await open_services(self._url, self._clock)
                    opened.schedules.default_layers.app = self._schedule_defaults
                    services = await self._applied(opened)
                    await binding.attach(services, is_inline=is_inline)
                    return services
                if given is not None and given is not binding.services:
                    await given.close()
                    raise already_open()
                return binding.services

    def _bind(self, loop: asyncio.AbstractEventLoop) -> tuple[LoopBinding, LoopBinding | None]:
        """Return the binding to this loop, and the unused binding to another loop that it replaces, if any.

        Raises WrongLoop if the application is open on another loop. The lock is for loops in several threads.
        """
        with self._bind_lock:
            former = self._binding
            if former is not None and former.loop is loop:
                return former, None
            if former is not None:
                if not former.is_unused:
                    raise wrong_loop()
                self._forget_users()
            self._binding = LoopBinding(loop)
            return self._binding, former

    def _forget_users(self) -> None:
        """Forget blocks and nodes. Those that are left belong to a loop that is closed and cannot end any more."""
        self._blocks = 0
        self._nodes.clear()

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
        await services.jobs.put(jobs, coming=jobs_of_all(self._workflows))
        if self._workflows:
            await services.workflows.put(self._workflows)
        if self._schedules:
            await services.schedules.declare(self._schedules)

    def wait(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        """Make an asynchronous call from synchronous code, in any thread: `app.wait(app.enqueue("report"))`.

        The call runs on the loop that the application is open on, such as the server's, and otherwise on a background
        loop, on which the application then is open until `app.wait(app.close())`.
        """
        binding = self._binding
        loop = binding.loop if binding is not None and binding.loop.is_running() else self._background.loop
        if loop is not _running_loop():
            return wait_on(loop, call)
        if binding is not None and binding.is_inline:
            return run_through(call)
        call.close()
        raise same_loop()

    def _leave_behind(self) -> None:
        """Reset the application in a forked child: the open services belong to the parent."""
        if self._binding is not None:
            self._binding.leave_behind()
        self._reset()

    @property
    def launcher(self) -> "Launcher":
        """The launcher of workflows: the one given to `Foliot`, or the built-in one."""
        return Launcher(self, self._launcher)

    @property
    def has_own_launcher(self) -> bool:
        """Whether the user gave a launcher for ticks of workflows."""
        return self._launcher is not None

    @property
    def tick_launcher(self) -> MakeRun:
        """The function that makes the runs of ticks."""
        return partial(make_launch_run, timeout=self._launch_timeout) if self.has_own_launcher else make_run

    def runners(self, settings: Settings, policy: RunnerPolicy = UNRESTRICTED) -> dict[str, Runner]:
        """Return a runner for each kind of job, with the functions of this application."""
        return build_runners(self._functions, self.launcher, settings.slots, policy, echo=settings.echo)

    async def node(
        self,
        settings: Settings | None = None,
        policy: RunnerPolicy = UNRESTRICTED,
        notifications: NotificationSettings = NOT_CONFIGURED,
    ) -> Node:
        """Return a node, which is a scheduler and a worker for this process. It is not started yet."""
        chosen = settings or Settings(label=node_label())
        runners = self.runners(chosen, policy)
        services = await self.open()
        subscriptions, resolvers = self.hooks.subscriptions(services.storage), build_resolvers(services, policy)
        notifying = build_notifications(services, notifications, policy)
        node = build_node(services, runners, chosen, self.tick_launcher, subscriptions, resolvers, notifying)
        self._nodes.add(node)
        return node


class Launcher:
    """The launcher given by the user, or the built-in one, which opens the application when first called."""

    def __init__(self, app: Application, own: RunLauncher | None) -> None:
        self._app = app
        self._own = own

    async def start(
        self, workflow_id: str, version: int | None, user_id: str | None, scheduled_for: Any, idempotency_key: str
    ) -> bool | str:
        launcher = self._own
        if launcher is None:
            services = await self._app.open()
            launcher = ServiceLauncher(services.runs, services.workflows)
        return await ask(
            launcher,
            workflow_id=workflow_id,
            version=version,
            user_id=user_id,
            scheduled_for=scheduled_for,
            idempotency_key=idempotency_key,
        )


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
