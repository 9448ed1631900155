"""The application object: jobs and schedules as Python code, and a door to everything that runs."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.job import job_options
from foliot.domain.input.schedule import read_schedule
from foliot.domain.input.timing import Moment, Span
from foliot.domain.job import JobSpec, Options, overlay
from foliot.domain.launch import LAUNCH_JOB, LAUNCH_SPEC
from foliot.domain.lease import CancelAnswer
from foliot.domain.logs import LogChunk
from foliot.domain.run import Run, parse_status
from foliot.domain.schedule import ScheduleSpec
from foliot.domain.tick import TickRecord
from foliot.engine.node import Node, Settings
from foliot.errors import InvalidInput, InvalidJob
from foliot.ports.clock import Clock
from foliot.ports.launcher import RunLauncher
from foliot.ports.runner import Runner
from foliot.ports.storage import RunFilter
from foliot.service.background import Background
from foliot.service.desk import Request
from foliot.service.launcher import DeskLauncher
from foliot.service.registrar import ScheduleView, Upserted
from foliot.wiring import Services, build_node, build_runners, node_label, open_services

Function = TypeVar("Function", bound=Callable[..., Any])
Answer = TypeVar("Answer")
JobName = str | Callable[..., Any]

DEFAULT_STORAGE = "sqlite:///foliot.db"
_MOST_RUNS = 10_000


class Foliot:
    """A set of jobs and schedules on one storage.

    What is declared here is applied when the application opens: by `async with app`, by the first call that needs the
    storage, or by `foliot serve`.
    """

    def __init__(
        self,
        storage: str = DEFAULT_STORAGE,
        *,
        launcher: RunLauncher | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._url = storage
        self._clock = clock
        self._launcher = launcher
        self._functions: dict[str, Callable[..., Any]] = {}
        self._names: dict[Callable[..., Any], JobId] = {}
        self._jobs: dict[JobId, JobSpec] = {}
        self._schedules: dict[ScheduleId, ScheduleSpec] = {}
        self._services: Services | None = None
        self._opening = asyncio.Lock()
        self._background = Background()

    # -- declaring

    @overload
    def job(self, function: Function) -> Function: ...

    @overload
    def job(
        self, function: None = None, *, id: str | None = None, **options: Any
    ) -> Callable[[Function], Function]: ...

    def job(self, function: Function | None = None, *, id: str | None = None, **options: Any) -> Any:  # noqa: A002
        """Register a function as a job, named as the function is unless `id` says otherwise.

        Options: retries, retry_delay, retry_factor, retry_cap, retry_jitter, retry_delays, timeout, queue, priority,
        max_concurrent, concurrency_key, concurrency_limit, delivery, max_lost, payload, description.
        """
        if function is not None:
            return self._register(function, id, options)
        return lambda decorated: self._register(decorated, id, options)

    def shell(
        self,
        id: str,  # noqa: A002
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        working_dir: str | None = None,
        **options: Any,
    ) -> str:
        """Register a command: text for /bin/sh, or a list of arguments. Returns the job's id."""
        spec: dict[str, Any] = {"command": command} if isinstance(command, str) else {"argv": list(command)}
        if env:
            spec["env"] = dict(env)
        if working_dir is not None:
            spec["working_dir"] = working_dir
        self._declare(JobId(id), "shell", spec, options)
        return id

    def schedule(
        self,
        id: str,  # noqa: A002
        job: JobName,
        *,
        cron: str | None = None,
        every: Span | None = None,
        at: Moment | None = None,
        **fields: Any,
    ) -> None:
        """Declare when a job runs: by `cron`, `every` so often, or once `at` a moment.

        Further fields are those of `upsert_schedule`: timezone, start_at, end_at, jitter_ms, overlap_policy,
        catchup_policy, catchup_max_age_sec, dst, dom_dow, payload.
        """
        rule = {"job_id": self._name(job), "cron_expr": cron, "interval": every, "at": at}
        self._schedules[ScheduleId(id)] = read_schedule({**rule, **fields})

    # -- opening and closing

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self, services: Services | None = None) -> Services:
        """Open the storage, or take an open one, and apply what was declared. Safe to call again."""
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
        services, self._services = self._services, None
        if services is not None:
            await services.close()

    async def _apply(self, services: Services) -> None:
        jobs = {LAUNCH_JOB: LAUNCH_SPEC, **self._jobs}
        await services.registrar.put_jobs(jobs)
        if self._schedules:
            await services.registrar.put_schedules(self._schedules)

    # -- asking

    def wait(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        """Do one of the calls below from code that has no event loop: `app.wait(app.enqueue("report"))`.

        An application is used either so or with `await`, not both at once.
        """
        return self._background.run(call)

    async def enqueue(
        self,
        job: JobName,
        payload: Any = None,
        *,
        run_at: Moment | None = None,
        delay: Span | None = None,
        dedupe_key: str | None = None,
        dedupe: str | timedelta = "forever",
        **options: Any,
    ) -> str:
        """Create a run, now or at a moment, and return its id: the one thing worth storing.

        With a `dedupe_key` that another run of the job has taken, that run's id comes back and nothing is created:
        `dedupe` says for how long, "forever", "active" (until that run is over) or a timedelta.
        """
        request = Request(
            payload=payload,
            run_at=run_at,
            delay=delay,
            dedupe_key=dedupe_key,
            dedupe=dedupe,
            options=job_options(**options),
        )
        services = await self.open()
        [created] = await services.desk.enqueue(self._name(job), [request])
        return created.run_id

    async def enqueue_many(self, job: JobName, payloads: Sequence[Any], **options: Any) -> list[str]:
        """Create one run for each payload, in order, all or none."""
        given = job_options(**options)
        services = await self.open()
        requests = [Request(payload=payload, options=given) for payload in payloads]
        return [created.run_id for created in await services.desk.enqueue(self._name(job), requests)]

    async def run(self, run_id: str) -> Run:
        """What is known about a run."""
        return await (await self.open()).desk.get(run_id)

    async def runs(self, *, job: JobName | None = None, status: str | None = None, limit: int = 100) -> list[Run]:
        """The newest runs first, 1 to 10,000 of them."""
        _check_limit(limit)
        only = RunFilter(
            job_id=None if job is None else self._name(job),
            status=None if status is None else parse_status(status),
            limit=limit,
        )
        return await (await self.open()).desk.page(only)

    async def cancel(self, run_id: str) -> CancelAnswer:
        """End a run: at once if it has not started, by telling its worker if it has."""
        return await (await self.open()).desk.cancel(run_id)

    async def logs(self, run_id: str) -> list[LogChunk]:
        """What a run printed so far, all attempts."""
        run = await self.run(run_id)
        return await (await self.open()).storage.logs.read(run.id, limit=100_000)

    # -- schedules, by the names of the specification

    async def upsert_schedule(self, schedule_id: str | None = None, **fields: Any) -> Upserted:
        """Create or change a schedule. See the reference for the fields."""
        return await (await self.open()).registrar.upsert_schedule(schedule_id, **fields)

    async def pause_schedule(self, schedule_id: str, paused: bool = True) -> None:
        await (await self.open()).registrar.pause_schedule(schedule_id, paused)

    async def delete_schedule(self, schedule_id: str) -> None:
        await (await self.open()).registrar.delete_schedule(schedule_id)

    async def get_schedule(self, schedule_id: str) -> ScheduleView:
        """The schedule with its next five fire times."""
        return await (await self.open()).registrar.get_schedule(schedule_id)

    async def ticks(self, schedule_id: str, limit: int = 100) -> list[TickRecord]:
        """The newest rows of a schedule's ledger, newest first."""
        services = await self.open()
        schedule = await services.registrar.schedule(schedule_id)
        return await services.storage.schedules.latest_ticks(schedule.uid, limit=limit)

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that are registered as jobs, by the id of the job."""
        return self._functions

    @property
    def launcher(self) -> RunLauncher:
        """Starts runs for ticks: the application's own launcher, or ours."""
        return self._launcher or _Launcher(self)

    # -- working

    async def node(self, settings: Settings | None = None) -> Node:
        """The scheduler and worker of this process, not yet started."""
        chosen = settings or Settings(label=node_label())
        return build_node(await self.open(), self.runners(chosen.slots), chosen, self._launcher)

    def runners(self, threads: int) -> dict[str, Runner]:
        return build_runners(self._functions, self.launcher, threads)

    def _name(self, job: JobName) -> JobId:
        """The id of a job that is named by its id or by its function."""
        if isinstance(job, str):
            return JobId(job)
        if job not in self._names:
            raise InvalidJob(
                f"{job!r} is not a job of this application", hint="Decorate it with @app.job, or name a job by its id."
            )
        return self._names[job]

    def _register(self, function: Function, given: str | None, options: dict[str, Any]) -> Function:
        job_id = JobId(given or function.__name__)
        self._declare(job_id, "python", {"handler": job_id}, options)
        self._functions[job_id] = function
        self._names[function] = job_id
        return function

    def _declare(self, job_id: JobId, kind: str, spec: dict[str, Any], options: dict[str, Any]) -> None:
        if job_id in self._jobs:
            raise InvalidJob(f'job "{job_id}" is declared twice', hint="Give one of them another id.", field="id")
        description = options.pop("description", "")
        payload = options.pop("payload", None)
        declared = JobSpec(
            kind=kind,
            spec=spec,
            description=description,
            payload_template=payload,
            options=overlay(Options(), job_options(**options)),
            source="app",
        )
        declared.check()
        self._jobs[job_id] = declared


def _check_limit(limit: object) -> None:
    if not isinstance(limit, int) or not 1 <= limit <= _MOST_RUNS:
        raise InvalidInput(f"limit must be 1 to {_MOST_RUNS}, not {limit!r}", field="limit")


class _Launcher:
    """Ours, opened when it is first needed."""

    def __init__(self, app: Foliot) -> None:
        self._app = app

    async def start(
        self, workflow_id: str, version: int | None, user_id: str | None, scheduled_for: Any, idempotency_key: str
    ) -> bool:
        launcher = DeskLauncher((await self._app.open()).desk)
        return await launcher.start(workflow_id, version, user_id, scheduled_for, idempotency_key)
