"""Declarations of jobs, workflows and schedules in Python. Nothing is stored before the application opens."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar, Unpack, overload

from foliot.app.hooks import HookRegistry
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.job import checked_overlay, read_gate
from foliot.domain.input.keywords import Keywords, as_written, read_keywords
from foliot.domain.input.schedule import schedule_of
from foliot.domain.input.typed import (
    AgentOptions,
    CallOptions,
    HttpOptions,
    JobOptions,
    ScheduleOptions,
    ShellOptions,
)
from foliot.domain.input.words import text
from foliot.domain.job.job import JobSpec, Options, overlay
from foliot.domain.job.kinds.http import read_command
from foliot.domain.notification.rule import Notify
from foliot.domain.schedule.defaults import NO_DEFAULTS, ScheduleDefaults
from foliot.domain.schedule.schedule import BEGINNING_OF_TIME, ScheduleSpec, check_schedule
from foliot.domain.vocabulary.job import DESCRIPTION
from foliot.domain.vocabulary.kind import AGENT_ARGS, KIND_FIELDS
from foliot.domain.vocabulary.notification import NOTIFY
from foliot.domain.vocabulary.places import JOB_CALL, KIND_CALLS, SCHEDULE_CALL
from foliot.domain.workflow.builder import StepBuilder, Workflow, whole_workflow
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidJob, InvalidSchedule, shown

Function = TypeVar("Function", bound=Callable[..., Any])
JobName = str | Callable[..., Any]
"""The id of a job, or the function registered as one."""


class Registry(HookRegistry):
    """The declared jobs, workflows and schedules of an application, and its hooks."""

    def __init__(self, defaults: ScheduleDefaults = NO_DEFAULTS) -> None:
        super().__init__()
        self._schedule_defaults = defaults
        self._functions: dict[str, Callable[..., Any]] = {}
        self._names: dict[Callable[..., Any], JobId] = {}
        self._jobs: dict[JobId, JobSpec] = {}
        self._schedules: dict[ScheduleId, ScheduleSpec] = {}
        self._workflows: dict[str, WorkflowSpec] = {}

    @overload
    def job(self, function: Function) -> Function: ...

    @overload
    def job(
        self, function: None = None, *, id: str | None = None, **options: Unpack[JobOptions]
    ) -> Callable[[Function], Function]: ...

    def job(
        self,
        function: Function | None = None,
        *,
        id: str | None = None,  # noqa: A002 - the name used in TOML and JSON
        **options: Unpack[JobOptions],
    ) -> Any:
        """Register a function as a job; a decorator. The id of the job is `id`, or else the name of the function.

        The options are those of `JobOptions`; docs/reference/configuration.md says what each one means.
        """
        if function is not None:
            return self._register(function, id, options)
        return lambda decorated: self._register(decorated, id, options)

    def shell(
        self,
        id: str,  # noqa: A002 - the name used in TOML and JSON
        command: str | Sequence[str],
        **options: Unpack[ShellOptions],
    ) -> str:
        """Register a command as a job: text for /bin/sh, or a list of arguments. Return the id of the job."""
        return self._declare_kind(id, "shell", _read_command(command), options)

    def http(
        self,
        id: str,  # noqa: A002 - the name used in TOML and JSON
        command: str,
        **options: Unpack[HttpOptions],
    ) -> str:
        """Register an HTTP request as a job: a URL, "METHOD URL", or JSON. Return the id of the job."""
        return self._declare_kind(id, "http", read_command(text(command, "command")), options)

    def call(
        self,
        id: str,  # noqa: A002 - the name used in TOML and JSON
        function: str,
        **options: Unpack[CallOptions],
    ) -> str:
        """Register `module:function` as a job that is called in its own process. Return the id of the job."""
        return self._declare_kind(id, "python", {"call": function}, options)

    def agent(
        self,
        id: str,  # noqa: A002 - the name used in TOML and JSON
        prompt: str,
        **options: Unpack[AgentOptions],
    ) -> str:
        """Register a prompt for a command-line assistant as a job. Return the id of the job."""
        return self._declare_kind(id, "agent", {"prompt": prompt}, options)

    def workflow(self, workflow: Workflow | StepBuilder) -> Workflow:
        """Register a workflow with the functions of its steps. It may be given by one of its steps."""
        whole = whole_workflow(workflow)
        if whole.id in self._workflows:
            raise InvalidJob(f'workflow "{whole.id}" is declared twice', hint="Give one of them another id.")
        self._workflows[whole.id] = whole.spec
        self._functions.update(whole.functions)
        return whole

    def schedule(
        self,
        id: str,  # noqa: A002 - the name used in TOML and JSON
        job: JobName,
        **options: Unpack[ScheduleOptions],
    ) -> None:
        """Declare when a job runs: by `cron`, at an interval (`every`), once (`at`), or when triggered (`manual`)."""
        if ScheduleId(text(id, "id", InvalidSchedule)) in self._schedules:
            raise InvalidSchedule(
                f'schedule "{id[:64]}" is declared twice', hint="Give one of them another id.", field="id"
            )
        read = read_keywords(SCHEDULE_CALL, options, InvalidSchedule)
        given = {**self._schedule_defaults.options, **read, "job_id": self._name(job)}
        spec = schedule_of(given, read.written, source="app")
        # A schedule that is over is not an error of the code that declares it.
        with as_written(read.written):
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

    def _with_names(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Replace functions in `depends_on` by their job ids."""
        wanted = options.get("depends_on")
        if callable(wanted):
            return {**options, "depends_on": self._name(wanted)}
        if isinstance(wanted, list | tuple):
            return {**options, "depends_on": [self._name(job) if callable(job) else job for job in wanted]}
        return dict(options)

    def _register(self, function: Function, given: str | None, options: Mapping[str, Any]) -> Function:
        job_id = JobId(_job_id(function, given))
        read = read_keywords(JOB_CALL, self._with_names(options))
        self._declare(job_id, "python", {"handler": job_id}, read)
        self._functions[job_id] = function
        if _is_hashable(function):
            self._names[function] = job_id
        return function

    def _declare_kind(self, job_id: str, kind: str, spec: dict[str, Any], options: Mapping[str, Any]) -> str:
        """Declare a job whose options and specification are in one mapping."""
        read = read_keywords(KIND_CALLS[kind], self._with_names(options))
        given = read.fill((*KIND_FIELDS[kind], *(AGENT_ARGS if kind == "agent" else ())))
        self._declare(JobId(text(job_id, "id")), kind, {**spec, **given}, read)
        return job_id

    def _declare(self, job_id: JobId, kind: str, spec: dict[str, Any], read: Keywords) -> None:
        if job_id in self._jobs:
            raise InvalidJob(f'job "{job_id[:64]}" is declared twice', hint="Give one of them another id.", field="id")
        described = read.fill(DESCRIPTION)
        declared = JobSpec(
            kind=kind,
            spec=spec,
            options=overlay(Options(), checked_overlay(read)),
            notify=Notify(**read.fill(NOTIFY)),
            gate=read_gate(read),
            source="app",
            enabled=read.get("enabled", True),
            **{**described, "tags": tuple(described.get("tags", ()))},
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
