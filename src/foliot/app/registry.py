"""Declarations of jobs, workflows and schedules in Python. Nothing is stored before the application opens."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar, overload

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.gate import take_gate
from foliot.domain.input.job import job_options
from foliot.domain.input.schedule import read_schedule
from foliot.domain.input.timing import Moment, Span
from foliot.domain.input.words import text
from foliot.domain.job.job import JobSpec, Options, overlay
from foliot.domain.job.kinds import KINDS
from foliot.domain.job.kinds.http import read_command, read_statuses
from foliot.domain.schedule.schedule import BEGINNING_OF_TIME, ScheduleSpec, check_schedule
from foliot.domain.workflow.builder import StepBuilder, Workflow, whole_workflow
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidJob, InvalidSchedule, shown
from foliot.service.commands.listeners import Listeners, OnComplete, OnStep

Function = TypeVar("Function", bound=Callable[..., Any])
JobName = str | Callable[..., Any]
"""The id of a job, or the function registered as one."""


class Registry:
    """The declared jobs, workflows and schedules of an application, and its listeners."""

    def __init__(self) -> None:
        self._functions: dict[str, Callable[..., Any]] = {}
        self._names: dict[Callable[..., Any], JobId] = {}
        self._jobs: dict[JobId, JobSpec] = {}
        self._schedules: dict[ScheduleId, ScheduleSpec] = {}
        self._workflows: dict[str, WorkflowSpec] = {}
        self.listeners = Listeners()

    @overload
    def job(self, function: Function) -> Function: ...

    @overload
    def job(
        self, function: None = None, *, id: str | None = None, **options: Any
    ) -> Callable[[Function], Function]: ...

    def job(
        self,
        function: Function | None = None,
        *,
        id: str | None = None,  # noqa: A002 - the name used in TOML and JSON
        **options: Any,
    ) -> Any:
        """Register a function as a job, named as the function is unless `id` says otherwise.

        Options: retries, retry_delay, retry_factor, retry_cap, retry_jitter, retry_delays, timeout, queue, priority,
        max_concurrent, concurrency_key, concurrency_limit, delivery, max_lost, payload, description. Of a job with a
        gate on other jobs: depends_on, window, window_sec, timezone, on_missing, on_dep_fail, wait_sec,
        cooldown_sec, partial_counts_as.
        """
        if function is not None:
            return self._register(function, id, options)
        return lambda decorated: self._register(decorated, id, options)

    def shell(self, id: str, command: str | Sequence[str], **options: Any) -> str:  # noqa: A002 - the name used in TOML and JSON
        """Register a command: text for /bin/sh, or a list of arguments. Returns the job's id.

        Besides the options of a job: env, working_dir, stdin, user, umask, limits, grace, output_cap, output.
        """
        return self._declare_kind(id, "shell", _read_command(command), options)

    def http(self, id: str, command: str, **options: Any) -> str:  # noqa: A002 - the name used in TOML and JSON
        """Register a request: a URL, "METHOD url", or JSON. Returns the job's id.

        Besides the options of a job: headers, body, json, expect_status, follow, max_redirects, verify, output_cap,
        output.
        """
        if "expect_status" in options:
            options["expect_status"] = read_statuses(options["expect_status"])
        return self._declare_kind(id, "http", read_command(text(command, "command")), options)

    def call(self, id: str, function: str, **options: Any) -> str:  # noqa: A002 - the name used in TOML and JSON
        """Register `module:function`, called in a process of its own. Returns the job's id.

        Besides the options of a job: env, working_dir, user, umask, limits, grace, output_cap.
        """
        return self._declare_kind(id, "python", {"call": function}, options)

    def agent(self, id: str, prompt: str, **options: Any) -> str:  # noqa: A002 - the name used in TOML and JSON
        """Register a prompt for a command-line assistant. Returns the job's id.

        Besides the options of a job and those of `shell`: cli, model, permission_mode, bare, extra_args.
        """
        return self._declare_kind(id, "agent", {"prompt": prompt}, options)

    def workflow(self, workflow: Workflow | StepBuilder) -> Workflow:
        """Register a workflow, or the workflow of a chain of steps, with the functions of its steps."""
        whole = whole_workflow(workflow)
        if whole.id in self._workflows:
            raise InvalidJob(f'workflow "{whole.id}" is declared twice', hint="Give one of them another id.")
        self._workflows[whole.id] = whole.spec
        self._functions.update(whole.functions)
        return whole

    def on_workflow_complete(self, function: OnComplete) -> OnComplete:
        """Call a function, plain or async, with each execution that ends in this process."""
        self.listeners.on_complete.append(function)
        return function

    def on_step(self, function: OnStep) -> OnStep:
        """Call a function, plain or async, with each execution and step that resolves in this process."""
        self.listeners.on_step.append(function)
        return function

    def schedule(
        self,
        id: str,  # noqa: A002 - the name used in TOML and JSON
        job: JobName,
        *,
        cron: str | None = None,
        every: Span | None = None,
        at: Moment | None = None,
        **fields: Any,
    ) -> None:
        """Declare when a job runs: by `cron`, at an interval (`every`), or once (`at`).

        Further fields are those of `schedules.upsert`: timezone, start_at, end_at, jitter_ms, overlap_policy,
        catchup_policy, catchup_max_age_sec, dst, dom_dow, payload.
        """
        if ScheduleId(text(id, "id", InvalidSchedule)) in self._schedules:
            raise InvalidSchedule(
                f'schedule "{id[:64]}" is declared twice', hint="Give one of them another id.", field="id"
            )
        rule = {"job_id": self._name(job), "cron_expr": cron, "interval": every, "at": at}
        spec = read_schedule({**rule, **fields}, source="app")
        # A schedule whose end has passed is not an error in the code that declares it.
        check_schedule(spec, ScheduleId(id), BEGINNING_OF_TIME)
        self._schedules[ScheduleId(id)] = spec

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions registered as jobs, by job id."""
        return self._functions

    def _name(self, job: JobName) -> JobId:
        """Return the id of a job given by its id or its function."""
        if isinstance(job, str):
            return JobId(job)
        if not _is_hashable(job) or job not in self._names:
            raise InvalidJob(
                f"{shown(job)} is not a job of this application",
                hint="Decorate it with @app.job, or name a job by its id.",
            )
        return self._names[job]

    def _with_names(self, options: dict[str, Any]) -> dict[str, Any]:
        """Replace functions in `depends_on` by their job ids."""
        wanted = options.get("depends_on")
        if callable(wanted):
            options["depends_on"] = self._name(wanted)
        elif isinstance(wanted, list | tuple):
            options["depends_on"] = [self._name(job) if callable(job) else job for job in wanted]
        return options

    def _register(self, function: Function, given: str | None, options: dict[str, Any]) -> Function:
        job_id = JobId(_job_id(function, given))
        self._declare(job_id, "python", {"handler": job_id}, options)
        self._functions[job_id] = function
        if _is_hashable(function):
            self._names[function] = job_id
        return function

    def _declare_kind(self, job_id: str, kind: str, spec: dict[str, Any], options: dict[str, Any]) -> str:
        """Declare a job whose options and specification are in one mapping."""
        said = {name: options.pop(name) for name in KINDS[kind].__struct_fields__ if name in options}
        self._declare(JobId(text(job_id, "id")), kind, {**spec, **said}, options)
        return job_id

    def _declare(self, job_id: JobId, kind: str, spec: dict[str, Any], options: dict[str, Any]) -> None:
        if job_id in self._jobs:
            raise InvalidJob(f'job "{job_id[:64]}" is declared twice', hint="Give one of them another id.", field="id")
        description = options.pop("description", None)
        payload = options.pop("payload", None)
        gate = take_gate(self._with_names(options))
        declared = JobSpec(
            kind=kind,
            spec=spec,
            description="" if description is None else text(description, "description"),
            payload_template=payload,
            options=overlay(Options(), job_options(**options)),
            gate=gate,
            source="app",
        )
        declared.check()
        self._jobs[job_id] = declared


def _read_command(command: object) -> dict[str, Any]:
    if isinstance(command, str):
        return {"command": command}
    if not isinstance(command, Sequence) or isinstance(command, bytes | bytearray | memoryview):
        raise InvalidJob(
            f"command must be text or a list of arguments, not {type(command).__name__}",
            hint='Write "ls -l" for the shell, or ["ls", "-l"] to run it without a shell.',
            field="command",
        )
    return {"argv": list(command)}


def _is_hashable(thing: object) -> bool:
    return isinstance(thing, Hashable)


def _job_id(function: object, given: str | None) -> str:
    """Return the given id, or the name of the function."""
    if not callable(function):
        raise InvalidJob(
            f"a job must be a function, not {type(function).__name__}",
            hint='Write @app.job, @app.job(id="name") or app.job(id="name")(function).',
        )
    if given:
        return text(given, "id")
    name = getattr(function, "__name__", None)
    if name is None:
        raise InvalidJob(
            f"{shown(function)} has no name", hint='Give it an id: app.job(id="name")(function).', field="id"
        )
    return str(name)
