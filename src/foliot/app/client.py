"""The application that users create: declarations, and the services for everything that is stored."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Unpack

from foliot.app.bound_service import bind_service
from foliot.app.lifecycle import Application
from foliot.app.registry import JobName
from foliot.domain.input.job import job_options
from foliot.domain.input.timing import Moment, Span
from foliot.domain.input.typed import RunOptions
from foliot.errors import InvalidRun
from foliot.service.commands.jobs import JobService
from foliot.service.commands.launches import LaunchService
from foliot.service.commands.runs import RunRequest, RunService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.workflows import WorkflowService


class Foliot(Application):
    """A set of jobs and schedules on one storage.

    Declarations are applied when the application opens: by `async with app`, by the first call that needs the storage,
    or by `foliot serve`. `runs`, `jobs`, `schedules` and `workflows` change and read what is stored.
    """

    # Properties, not attributes set once: those would keep the application alive in a reference cycle.

    @property
    def runs(self) -> RunService:
        """Cancel, retry, mark, wait for and read runs."""
        return bind_service(RunService, self.open, lambda services: services.runs)

    @property
    def launches(self) -> LaunchService:
        """Report how the runs that your launcher started begin and end."""
        return bind_service(LaunchService, self.open, lambda services: services.launches)

    @property
    def jobs(self) -> JobService:
        """Pause, delete, wait for and read jobs, and connect them by dependencies."""
        return bind_service(JobService, self.open, lambda services: services.jobs)

    @property
    def schedules(self) -> ScheduleService:
        """Create, change, pause, delete and read schedules."""
        return bind_service(ScheduleService, self.open, lambda services: services.schedules)

    @property
    def workflows(self) -> WorkflowService:
        """Deploy and delete workflows, start executions, and act on them."""
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
        """Create a run, now or at a time, and return its id.

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


def _refuse_key(options: Mapping[str, Any]) -> None:
    named = next((name for name in ("dedupe_key", "dedupe") if name in options), None)
    if named is not None:
        raise InvalidRun(
            f"{named} is for one run, not for many",
            hint="Create each run that needs a key with enqueue.",
            field=named,
        )
