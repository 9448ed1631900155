"""The application object: jobs and schedules as Python code, and a door to everything that runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.job import job_options
from foliot.domain.input.schedule import read_schedule
from foliot.domain.input.timing import Moment, Span
from foliot.domain.job import JobSpec, Options, overlay
from foliot.domain.kinds import KINDS
from foliot.domain.kinds.http import read_command, read_statuses
from foliot.domain.launch import LAUNCH_JOB, LAUNCH_SPEC
from foliot.domain.lease import CancelAnswer
from foliot.domain.logs import LogEnd
from foliot.domain.run import parse_status
from foliot.domain.schedule import ScheduleSpec
from foliot.domain.workflow.builder import Workflow
from foliot.domain.workflow.spec import Edge, WorkflowSpec
from foliot.engine.node import Node, Settings
from foliot.errors import InvalidInput, InvalidJob
from foliot.ports.clock import Clock
from foliot.ports.launcher import RunLauncher
from foliot.ports.storage import RunFilter
from foliot.service.background import Background
from foliot.service.desk import Request
from foliot.service.launcher import DeskLauncher
from foliot.service.listeners import Listeners, OnComplete, OnStep
from foliot.service.logs import Cursor, LogView
from foliot.service.registrar import ScheduleView, Upserted
from foliot.service.views import AttemptView, JobView, RunView, TickView, view_attempt, view_run, view_tick
from foliot.service.workflows import ExecutionView
from foliot.wiring import (
    DEFAULT_SURROUNDINGS,
    Services,
    Surroundings,
    build_node,
    build_runners,
    node_label,
    open_services,
)

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
        self._workflows: dict[str, WorkflowSpec] = {}
        self.listeners = Listeners()
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

    def shell(self, id: str, command: str | Sequence[str], **options: Any) -> str:  # noqa: A002
        """Register a command: text for /bin/sh, or a list of arguments. Returns the job's id.

        Besides the options of a job: env, working_dir, stdin, user, umask, limits, grace, output_cap, output.
        """
        spec = {"command": command} if isinstance(command, str) else {"argv": list(command)}
        return self._declare_kind(id, "shell", spec, options)

    def http(self, id: str, command: str, **options: Any) -> str:  # noqa: A002
        """Register a request: a URL, "METHOD url", or JSON. Returns the job's id.

        Besides the options of a job: headers, body, json, expect_status, follow, max_redirects, verify, output_cap,
        output.
        """
        if "expect_status" in options:
            options["expect_status"] = read_statuses(options["expect_status"])
        return self._declare_kind(id, "http", read_command(command), options)

    def call(self, id: str, function: str, **options: Any) -> str:  # noqa: A002
        """Register `module:function`, called in a process of its own. Returns the job's id.

        Besides the options of a job: env, working_dir, user, umask, limits, grace, output_cap.
        """
        return self._declare_kind(id, "python", {"call": function}, options)

    def agent(self, id: str, prompt: str, **options: Any) -> str:  # noqa: A002
        """Register a prompt for a command-line assistant. Returns the job's id.

        Besides the options of a job and those of `shell`: cli, model, permission_mode, bare, extra_args.
        """
        return self._declare_kind(id, "agent", {"prompt": prompt}, options)

    def workflow(self, workflow: Workflow) -> Workflow:
        """Register a workflow with the functions that are its steps."""
        if workflow.id in self._workflows:
            raise InvalidJob(f'workflow "{workflow.id}" is declared twice', hint="Give one of them another id.")
        self._workflows[workflow.id] = workflow.spec
        self._functions.update(workflow.functions)
        return workflow

    def on_workflow_complete(self, function: OnComplete) -> OnComplete:
        """Call a function, plain or async, with every execution that ends in this process."""
        self.listeners.on_complete.append(function)
        return function

    def on_step(self, function: OnStep) -> OnStep:
        """Call a function, plain or async, with every step that resolves in this process, and its execution."""
        self.listeners.on_step.append(function)
        return function

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
        self._schedules[ScheduleId(id)] = read_schedule({**rule, **fields, "source": "app"})

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
        if self._workflows:
            await services.workflows.register(self._workflows)
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

    async def run(self, run_id: str) -> RunView:
        """What is known about a run."""
        return view_run(await (await self.open()).desk.get(run_id))

    async def attempts(self, run_id: str) -> list[AttemptView]:
        """Every finished attempt of a run, in order."""
        return [view_attempt(record) for record in await (await self.open()).desk.attempts(run_id)]

    async def runs(self, *, job: JobName | None = None, status: str | None = None, limit: int = 100) -> list[RunView]:
        """The newest runs first, 1 to 10,000 of them."""
        _check_limit(limit)
        only = RunFilter(
            job_id=None if job is None else self._name(job),
            status=None if status is None else parse_status(status),
            limit=limit,
        )
        return [view_run(run) for run in await (await self.open()).desk.page(only)]

    async def jobs(self, *, after: str | None = None, limit: int = 100) -> list[JobView]:
        """Jobs by id, those after `after`, each with its latest run."""
        _check_limit(limit)
        return await (await self.open()).overview.jobs(after=after, limit=limit)

    async def cancel(self, run_id: str) -> CancelAnswer:
        """End a run: at once if it has not started, by telling its worker if it has."""
        return await (await self.open()).desk.cancel(run_id)

    async def retry(self, run_id: str) -> str:
        """Run again what is over, with the same payload and options. Returns the id of the new run."""
        return await (await self.open()).desk.retry(run_id)

    async def mark(self, run_id: str) -> str:
        """Let a run count as a success. Returns the id of the run that is one: itself, or one that stands for it."""
        return (await (await self.open()).desk.mark(run_id)).run_id

    async def logs(self, run_id: str) -> list[LogView]:
        """What a run printed so far, all attempts."""
        items = (await self.open()).logs.read(run_id)
        return [item async for item in items if isinstance(item, LogView)]

    async def follow(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        """What a run prints, as it comes, until it is over; the last item says how its log ends."""
        async for item in (await self.open()).logs.follow(run_id, after):
            yield item

    async def output(self, run_id: str, attempt: int | None = None) -> bytes:
        """What the last attempt of a run, or another one, wrote to its standard output: every byte, or an error."""
        return await (await self.open()).logs.raw_stdout(run_id, attempt)

    # -- jobs

    async def pause_job(self, job: JobName, paused: bool = True) -> list[str]:
        """Pause or resume all schedules of a job; their ids come back."""
        return list(await (await self.open()).registrar.pause_job(self._name(job), paused))

    async def delete_job(self, job: JobName) -> None:
        """Delete a job that no file and no application owns, with its schedules. Its history is kept."""
        services = await self.open()
        await services.registrar.delete_job(self._name(job))
        await services.dependencies.remove_job(self._name(job))

    # -- workflows

    async def start_workflow(
        self,
        workflow: str | Workflow,
        params: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        user_id: str | None = None,
    ) -> str:
        """Begin an execution of the newest version, or of the one that is named, and return its id."""
        name = workflow if isinstance(workflow, str) else workflow.id
        return await (await self.open()).workflows.start(name, params, version=version, user_id=user_id)

    async def workflow_status(self, execution_id: str) -> ExecutionView | None:
        """An execution with the results of its steps; None when there is none of that id."""
        return await (await self.open()).workflows.status(execution_id)

    async def active_workflows(self, workflow: str | None = None) -> list[ExecutionView]:
        """Executions that are not over, oldest first."""
        return await (await self.open()).workflows.active(workflow_id=workflow)

    async def rerun_workflow(self, execution_id: str, *steps: str) -> str:
        """Repeat an execution from the named steps on, or from those that failed; the other results are kept."""
        return await (await self.open()).workflows.rerun(execution_id, steps)

    async def mark_step(self, execution_id: str, step: str) -> str:
        """Let a step count as a success; the id of the execution that goes on comes back."""
        return await (await self.open()).workflows.mark_step(execution_id, step)

    async def approve(self, execution_id: str, step: str, *, by: str | None = None) -> None:
        """Let a step that waits for a person go on."""
        await (await self.open()).workflows.answer(execution_id, step, approve=True, by=by)

    async def reject(self, execution_id: str, step: str, *, by: str | None = None) -> None:
        """Let a step that waits for a person fail."""
        await (await self.open()).workflows.answer(execution_id, step, approve=False, by=by)

    async def pause_step(self, workflow: str, step: str, paused: bool = True) -> None:
        """Let executions that reach the step skip it, or no longer."""
        await (await self.open()).workflows.pause_step(workflow, step, paused=paused)

    async def add_dependency(self, child: JobName, parent: JobName, condition: str = "success") -> None:
        """Let a job follow another one whenever a schedule fires that: on success, failure, skipped or complete."""
        await (await self.open()).dependencies.add(self._name(child), self._name(parent), condition)

    async def remove_dependency(self, child: JobName, parent: JobName) -> None:
        """Take such an edge away. Refused while an execution with both jobs is under way."""
        await (await self.open()).dependencies.remove(self._name(child), self._name(parent))

    async def dependencies(self, child: JobName) -> list[Edge]:
        """What a job waits for."""
        return await (await self.open()).dependencies.of(self._name(child))

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

    async def ticks(self, schedule_id: str, limit: int = 100) -> list[TickView]:
        """The newest rows of a schedule's ledger, newest first."""
        services = await self.open()
        schedule = await services.registrar.schedule(schedule_id)
        return [view_tick(tick) for tick in await services.storage.schedules.latest_ticks(schedule.uid, limit=limit)]

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that are registered as jobs, by the id of the job."""
        return self._functions

    @property
    def launcher(self) -> RunLauncher:
        """Starts runs for ticks: the application's own launcher, or ours."""
        return self._launcher or _Launcher(self)

    # -- working

    async def node(self, settings: Settings | None = None, surroundings: Surroundings = DEFAULT_SURROUNDINGS) -> Node:
        """The scheduler and worker of this process, not yet started."""
        chosen = settings or Settings(label=node_label())
        runners = build_runners(self._functions, self.launcher, chosen.slots, surroundings)
        services = await self.open()
        return build_node(services, runners, chosen, self._launcher, self.listeners.listen(services.workflows))

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

    def _declare_kind(self, job_id: str, kind: str, spec: dict[str, Any], options: dict[str, Any]) -> str:
        """Declare a job whose options and specification were given together."""
        said = {name: options.pop(name) for name in KINDS[kind].__struct_fields__ if name in options}
        self._declare(JobId(job_id), kind, {**spec, **said}, options)
        return job_id

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
        services = await self._app.open()
        launcher = DeskLauncher(services.desk, services.workflows)
        return await launcher.start(workflow_id, version, user_id, scheduled_for, idempotency_key)
