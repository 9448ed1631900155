"""The options of each call as types, so that a type checker finds a misspelled name.

The names are those of the tables in `domain.vocabulary`; a test compares the two. Aliases are accepted when a program
runs, but are not listed here. None means that an option was not given; for `max_concurrent` and `concurrency_key` it
means no limit and no key.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from foliot.domain.cron import DomDow, Dst
from foliot.domain.input.timing import Moment, Span

Action = Literal["skip", "fail", "run"]
Size = int | str
"""A number of bytes, or text such as "64KB"."""
Texts = str | Sequence[str]
Jobs = str | Callable[..., Any] | Sequence[str | Callable[..., Any]]
"""Jobs by their ids, or by the functions that are registered as jobs."""
Occasion = Literal["failure", "repeated_failure", "recovery", "end"]
Occasions = Occasion | Sequence[Occasion]
Variables = Mapping[str, str | float]
Status = int | str | Sequence[int | str]


class RunOptions(TypedDict, total=False):
    """How a run is handled: `app.enqueue`, and the executions of a `Workflow`."""

    timeout: Span | None
    max_concurrent: int | None
    retries: int | None
    retry_delay: Span | None
    retry_factor: float | None
    retry_cap: Span | None
    retry_jitter: float | None
    retry_delays: Sequence[Span] | None
    queue: str | None
    executor: Literal["any", "local", "worker"] | None
    labels: Texts | None
    priority: int | None
    concurrency_key: str | None
    concurrency_limit: int | None
    delivery: Literal["at_least_once", "at_most_once"] | None
    max_lost: int | None


class _GatedOptions(RunOptions, total=False):
    """The same with a gate on other jobs."""

    depends_on: Jobs | None
    window: Span | None
    window_kind: Literal["sliding", "since_last_success", "local_day"] | None
    on_missing: Action | None
    on_dep_fail: Action | None
    wait: Span | None
    cooldown: Span | None
    partial_counts_as: Literal["success", "failed"] | None
    timezone: str | None


class JobOptions(_GatedOptions, total=False):
    """A job: `app.job`."""

    name: str | None
    enabled: bool | None
    description: str | None
    category: str | None
    owner: str | None
    tags: Texts | None
    pause_after_failures: int | None
    payload: Any
    webhook_url: str | None
    slack_webhook_url: str | None
    notify_on: Occasions | None
    notify_after_failures: int | None


class LimitOptions(TypedDict, total=False):
    """What the processes of a run may use."""

    memory: Size | None
    cpu_time: Span | None
    files: int | None
    processes: int | None
    file_size: Size | None
    core: Size | None


class CallOptions(JobOptions, total=False):
    """A job that runs as a process: `app.call`."""

    env: Variables | None
    working_dir: str | None
    user: str | None
    umask: int | str | None
    limits: LimitOptions | None
    kill_after: Span | None
    output_cap: Size | None


class ShellOptions(CallOptions, total=False):
    """A command: `app.shell`."""

    stdin: str | None
    output: Literal["none", "text", "json", "file", "last_line"] | None
    success_codes: int | Sequence[int] | None


class AgentOptions(ShellOptions, total=False):
    """A prompt for a command-line assistant: `app.agent`."""

    cli: Texts | None
    prompt_args: Texts | None
    model: str | None
    permission_mode: str | None
    bare: bool | None
    extra_args: Texts | None


class HttpOptions(JobOptions, total=False):
    """A request: `app.http`."""

    headers: Variables | None
    body: str | None
    json: Any
    expect_status: Status | None
    follow: bool | None
    max_redirects: int | None
    verify: bool | None
    output_cap: Size | None
    output: Literal["none", "text", "json"] | None


class _ScheduleOptions(RunOptions, total=False):
    """When a job runs, and options for the runs of this schedule."""

    cron: str | None
    every: Span | None
    at: Moment | None
    manual: bool | None
    timezone: str | None
    start_at: Moment | None
    end_at: Moment | None
    jitter: Span | None
    jitter_mode: Literal["around", "after"] | None
    overlap: Literal["allow", "skip", "queue", "cancel_running"] | None
    catchup: Literal["none", "once", "all", "spread", "fire_immediately", "skip"] | None
    catchup_max_age: Span | None
    skip_if_successful: bool | None
    dst: Dst | None
    dom_dow: DomDow | None
    payload: Any


class ScheduleOptions(_ScheduleOptions, total=False):
    """A schedule: `app.schedule`."""

    enabled: bool | None


class DefaultOptions(TypedDict, total=False):
    """Defaults of schedules: `Foliot`."""

    default_overlap: Literal["allow", "skip", "queue", "cancel_running"] | None
    default_catchup: Literal["none", "once", "all", "spread", "fire_immediately", "skip"] | None
    default_jitter: Span | None


class UpsertOptions(_ScheduleOptions, total=False):
    """A schedule and what it starts: `app.schedules.upsert`."""

    job_id: str | None
    workflow_id: str | None
    version: int | None
    user_id: str | None


class UpsertManyOptions(UpsertOptions, total=False):
    """One of many schedules: `app.schedules.upsert_many`."""

    paused: bool | None
    enabled: bool | None


class StepOptions(_GatedOptions, total=False):
    """The work of a step that is a job of its own: `Workflow.step`."""

    shell: str | None
    argv: Texts | None
    call: str | None
    http: str | None
    agent: str | None
    env: Variables | None
    working_dir: str | None
    stdin: str | None
    headers: Variables | None
    body: str | None
    limits: LimitOptions | None
    user: str | None
    umask: int | str | None
    kill_after: Span | None
    output_cap: Size | None
    output: Literal["none", "text", "json", "file", "last_line"] | None


class MapOptions(TypedDict, total=False):
    """A fanout over a job: `app.map`."""

    concurrency: int | None
    partial_tolerance: float | None
    per_item_timeout: Span | None
    max_items: int | None
    max_item_size: Size | None
    max_input_size: Size | None
