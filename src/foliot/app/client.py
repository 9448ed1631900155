"""The application that users create: declarations, and the services for everything that is stored."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Unpack

from foliot.app.bound_service import bind_service
from foliot.app.lifecycle import Application
from foliot.app.map_run import MapRun
from foliot.app.registry import JobName
from foliot.domain.input.fanout import map_options
from foliot.domain.input.job import job_options
from foliot.domain.input.timing import Moment, Span
from foliot.domain.input.typed import MapOptions, RunOptions
from foliot.domain.input.words import flag, text
from foliot.errors import InvalidInput, InvalidRun
from foliot.service.commands.jobs import JobService
from foliot.service.commands.launches import LaunchService
from foliot.service.commands.maps import Items, MapService
from foliot.service.commands.run_request import RunRequest
from foliot.service.commands.runs import RunService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.workflows import WorkflowService


class Foliot(Application):
    """An application: jobs, workflows, schedules and hooks, on one storage.

    Declarations are applied when the application opens: by `async with app`, by the first call that needs the storage,
    or by `foliot serve`. `runs`, `jobs`, `schedules` and `workflows` change and read what is stored.
    """

    # Properties, not attributes set once: those would keep the application alive in a reference cycle.

    @property
    def runs(self) -> RunService:
        """The methods that cancel, retry, mark, wait for and read runs."""
        return bind_service(RunService, self.open, lambda services: services.runs)

    @property
    def launches(self) -> LaunchService:
        """The method that reports how a run of your own launcher begins and ends."""
        return bind_service(LaunchService, self.open, lambda services: services.launches)

    @property
    def jobs(self) -> JobService:
        """The methods that pause, delete, wait for and read jobs, and that connect jobs by dependencies."""
        return bind_service(JobService, self.open, lambda services: services.jobs)

    @property
    def schedules(self) -> ScheduleService:
        """The methods that create, change, pause, delete and read schedules."""
        return bind_service(ScheduleService, self.open, lambda services: services.schedules)

    @property
    def workflows(self) -> WorkflowService:
        """The methods that deploy and delete workflows, and that start, read and change executions."""
        return bind_service(WorkflowService, self.open, lambda services: services.workflows)

    async def enqueue(
        self,
        job: JobName,
        payload: Any = None,
        *,
        run_at: Moment | None = None,
        delay: Span | None = None,
        dedupe_key: str | None = None,
        dedupe: str | timedelta = "forever",
        **options: Unpack[RunOptions],
    ) -> str:
        """Create a run, to start now, at a time (`run_at`) or after a delay, and return its id.

        If another run of the job has taken the `dedupe_key`, return the id of that run and create nothing. `dedupe` is
        how long a key is taken: "forever", "active" (until that run has ended) or a timedelta.
        """
        request = RunRequest(
            payload=payload,
            run_at=run_at,
            delay=delay,
            dedupe_key=dedupe_key,
            dedupe=dedupe,
            options=job_options(**options),
        )
        return await (await self.open()).runs.enqueue(self._name(job), request)

    async def enqueue_many(
        self,
        job: JobName,
        payloads: Iterable[Any],
        *,
        run_at: Moment | None = None,
        delay: Span | None = None,
        **options: Unpack[RunOptions],
    ) -> list[str]:
        """Create one run for each payload, all or none, and return their ids in the same order."""
        _refuse_key(options)
        request = RunRequest(run_at=run_at, delay=delay, options=job_options(**options))
        return [*await (await self.open()).runs.enqueue_many(self._name(job), payloads, request)]

    def map(self, job: JobName, items: Items, *, ordered: bool = True, **options: Unpack[MapOptions]) -> MapRun:
        """Run a job once for each item, and yield the results: `async for result in app.map(job, items)`.

        The items are payloads, from a list or any other iterable, also an asynchronous one. Results are in the order of
        the items, or, with `ordered=False`, in the order in which they end.
        """
        name, fields = self._name(job), map_options(**options)

        async def create() -> str:
            return await (await self.open()).maps.start(name, items, fields)

        return MapRun(self._maps, self.wait, ordered=flag(ordered, "ordered", InvalidRun), create=create)

    async def start_map(
        self, job: JobName, items: Items, *, ordered: bool = True, **options: Unpack[MapOptions]
    ) -> MapRun:
        """Start `app.map`, and return when the fanout has started. `app.attach_map` finds it by its `run_id`."""
        return await self.map(job, items, ordered=ordered, **options).start()

    def attach_map(self, run_id: str, *, ordered: bool = True) -> MapRun:
        """Return a fanout that was started before, also by another program, to read its results."""
        known = text(run_id, "run_id", InvalidInput)
        return MapRun(self._maps, self.wait, ordered=flag(ordered, "ordered", InvalidRun), run_id=known)

    @property
    def _maps(self) -> MapService:
        return bind_service(MapService, self.open, lambda services: services.maps)


def _refuse_key(options: Mapping[str, Any]) -> None:
    named = next((name for name in ("dedupe_key", "dedupe") if name in options), None)
    if named is not None:
        raise InvalidRun(
            f"{named} is for one run, not for many",
            hint="Create each run that needs a key with enqueue.",
            field=named,
        )
