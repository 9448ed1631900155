"""Bringing what was declared into a storage, and to work."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from foliot.app.declaring import Declarations
from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.deployment import Declared
from foliot.domain.launch import LAUNCH_JOB, LAUNCH_SPEC
from foliot.domain.workflow.jobs import jobs_of_all
from foliot.engine.node import Node, Settings
from foliot.ports.clock import Clock
from foliot.ports.launcher import RunLauncher
from foliot.service.background import Background
from foliot.service.launcher import DeskLauncher
from foliot.wiring import (
    DEFAULT_SURROUNDINGS,
    Services,
    Surroundings,
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
        self._services: Services | None = None
        self._opening = asyncio.Lock()
        self._background = Background()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self, services: Services | None = None) -> Services:
        """Open the storage, or take an open one, and apply what was declared. Safe to call again."""
        if self._services is not None:
            return self._services
        async with self._opening:
            if self._services is None:
                services = services or await open_services(self._url, self._clock)
                try:
                    await self._apply(services)
                except BaseException:
                    await services.close()
                    raise
                self._services = services
            return self._services

    async def close(self) -> None:
        """Let go of the storage. Safe to call again; the next call that needs it opens it anew."""
        services, self._services = self._services, None
        if services is not None:
            await services.close()

    async def _apply(self, services: Services) -> None:
        jobs = {LAUNCH_JOB: LAUNCH_SPEC, **self._jobs}
        await services.workflows.check(self._workflows, Declared(jobs=jobs, workflows=self._workflows))
        await services.registrar.put_jobs(jobs, coming=jobs_of_all(self._workflows))
        if self._workflows:
            await services.workflows.register(self._workflows)
        if self._schedules:
            await services.registrar.put_schedules(self._schedules)

    def wait(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        """Make one of the async calls from code that has no event loop: `app.wait(app.enqueue("report"))`.

        An application is used either so or with `await`, not both at once.
        """
        return self._background.run(call)

    @property
    def launcher(self) -> RunLauncher:
        """Starts runs for ticks: the application's own launcher, or ours."""
        return self._launcher or _Launcher(self)

    @property
    def has_own_launcher(self) -> bool:
        """Whether ticks of workflows are handed to a launcher of the application's."""
        return self._launcher is not None

    async def node(self, settings: Settings | None = None, surroundings: Surroundings = DEFAULT_SURROUNDINGS) -> Node:
        """The scheduler and worker of this process, not yet started."""
        chosen = settings or Settings(label=node_label())
        runners = build_runners(self._functions, self.launcher, chosen.slots, surroundings)
        services = await self.open()
        return build_node(services, runners, chosen, self._launcher, self.listeners.listen(services.executions))


class _Launcher:
    """Ours, opened when it is first needed."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def start(
        self, workflow_id: str, version: int | None, user_id: str | None, scheduled_for: Any, idempotency_key: str
    ) -> bool:
        services = await self._app.open()
        launcher = DeskLauncher(services.desk, services.workflows, services.executions)
        return await launcher.start(workflow_id, version, user_id, scheduled_for, idempotency_key)
