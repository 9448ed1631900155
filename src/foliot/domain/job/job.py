"""A job: the definition of work. Its schedules start runs of it, its runs record what happened."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, convert, field
from msgspec.structs import replace

from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, SECOND, Instant, Millis
from foliot.domain.job.kinds import TREE_CHECKS, check_spec
from foliot.domain.notification.rule import Notify
from foliot.domain.run.lane import TREES_QUEUE, UNROUTED, Executor, lane_of
from foliot.domain.run.limits import Limit, job_limit, keyed_limit
from foliot.domain.run.retry import Retry
from foliot.errors import InvalidInput, InvalidJob, shown

DEFAULT_PROJECT: Final = "default"
DEFAULT_QUEUE: Final = "default"
MAX_PRIORITY: Final = 1_000
MAX_TIMEOUT: Final = Millis(366 * DAY)
MAX_CAPACITY: Final = 1_000_000
MAX_FAILURES: Final = 1_000
LONGEST_NAME: Final = 200
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,199}")


class Delivery(StrEnum):
    """What to do with an attempt whose worker was lost."""

    AT_LEAST_ONCE = "at_least_once"
    AT_MOST_ONCE = "at_most_once"


class Options(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the runs of a job are handled. Each field can be overridden for one run."""

    queue: str = DEFAULT_QUEUE
    priority: int = 0
    retry: Retry = Retry()
    timeout: Millis | None = None
    max_concurrent: int | None = None
    concurrency_key: str | None = None
    concurrency_limit: int = 1
    delivery: Delivery = Delivery.AT_LEAST_ONCE
    max_lost: int = 3
    executor: Executor = Executor.ANY
    """Whether workers with the database, or remote ones, execute the runs."""
    labels: tuple[str, ...] = ()
    """Labels that a worker must have to get the runs."""

    @property
    def lane(self) -> str:
        """Where ready runs wait: see `domain.run.lane`."""
        if not self.labels and self.executor is Executor.ANY:
            return self.queue
        return lane_of(self.queue, self.executor, self.labels)

    @property
    def lost_budget(self) -> int:
        """How many attempts may be lost with their worker before the run fails."""
        return 0 if self.delivery is Delivery.AT_MOST_ONCE else self.max_lost

    def limits(self, job_id: JobId) -> tuple[Limit, ...]:
        """Return the limits that a run with these options needs a place in, keys ascending."""
        if self.max_concurrent is None and self.concurrency_key is None:
            return ()
        needed = []
        if self.max_concurrent is not None:
            needed.append(job_limit(job_id, self.max_concurrent))
        if self.concurrency_key is not None:
            needed.append(keyed_limit(self.concurrency_key, self.concurrency_limit))
        return tuple(sorted(needed))

    def check(self) -> None:
        check_name("queue", self.queue)
        for label in self.labels:
            _check_label(label)
        self.retry.check()
        _within(
            "priority", self.priority, -MAX_PRIORITY, MAX_PRIORITY, "Higher priorities start first; the default is 0."
        )
        _within("max_lost", self.max_lost, 0, 1_000, "With 0, a run fails when its worker vanishes.")
        _within(
            "concurrency_limit",
            self.concurrency_limit,
            1,
            MAX_CAPACITY,
            "Give the number of runs that may share the key.",
        )
        if self.max_concurrent is not None:
            _within("max_concurrent", self.max_concurrent, 1, MAX_CAPACITY, "Leave it out for no limit.")
        if self.timeout is not None and not 0 < self.timeout <= MAX_TIMEOUT:
            raise InvalidJob(
                f"timeout must be above 0 and at most {MAX_TIMEOUT // SECOND} seconds, not {self.timeout / SECOND:g}",
                hint="Leave it out for no timeout.",
                field="timeout",
            )
        if self.concurrency_key is not None:
            _check_key(self.concurrency_key)


NOT_OPTIONS: Final = ("spec", "start", "variables", "not_after")
"""Overrides of a run that are not options: fields of the job's specification, the start of an execution, environment
variables, and the moment after which it does not start."""


def options_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options among the overrides of a run."""
    return {name: value for name, value in given.items() if name not in NOT_OPTIONS}


def overlay(options: Options, given: Mapping[str, Any]) -> Options:
    """Return the options with the given overrides. The fields of the retry policy are overridden one by one."""
    parsed = convert(given, Options)
    fields = {name: getattr(parsed, name) for name in given}
    if "retry" in given:
        parts = {name: getattr(parsed.retry, name) for name in given["retry"]}
        fields["retry"] = replace(options.retry, **parts)
    return replace(options, **fields)


class ItemVariables(Struct, frozen=True, kw_only=True):
    """How the processes of a fanout's children get their item."""

    name: str
    """The environment variable that contains the item."""
    count: int
    """How many items the fanout has."""


class JobSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The definition of a job. The fields in `spec` are those of its kind."""

    kind: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    description: str = ""
    payload_template: Any = None
    options: Options = Options()
    enabled: bool = True
    source: str = "api"
    """The owner of the definition, such as a file. Only the owner changes it."""
    category: str = "default"
    owner: str = ""
    tags: tuple[str, ...] = ()
    pause_after_failures: int | None = None
    """After so many failed runs in a row its schedules are paused."""
    notify: Notify = Notify()
    """When ends of its runs are notified, and to which targets. Stored URLs are encrypted."""
    gate: Gate | None = None
    """The recent runs of other jobs that decide whether it runs."""
    written: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the specification, and the payload, that contain environment variables, as they were written. These are
    shown instead of the values."""
    inner_kind: str = ""
    """The kind that executes it, for a job of kind `workflow`, which is another name for a gate."""

    item: ItemVariables | None = None
    """For children of a fanout: their payload is an item."""
    manifest: bool = False
    """For the reducer of a fanout: its processes get a file that lists the results."""

    @property
    def runner(self) -> str:
        """The kind of runner that executes it."""
        return self.inner_kind or self.kind

    @property
    def as_written(self) -> "JobSpec":
        """The definition with names of environment variables instead of values: to show, not to run."""
        spec = {name: self.written.get(name, value) for name, value in self.spec.items()}
        return replace(self, spec=spec, payload_template=self.written.get("payload_template", self.payload_template))

    def check(self) -> None:
        check_name("kind", self.kind)
        check_spec(self.runner, self.spec)
        is_tree = self.kind in TREE_CHECKS and self.options.queue == TREES_QUEUE
        (replace(self.options, queue=DEFAULT_QUEUE) if is_tree else self.options).check()
        self.notify.check()
        if self.pause_after_failures is not None:
            _within("pause_after_failures", self.pause_after_failures, 1, MAX_FAILURES, "Leave it out to never pause.")


class Job(Struct, frozen=True, kw_only=True):
    """A stored definition. `revision` rises with each change of the definition."""

    id: JobId
    project: str
    spec: JobSpec
    revision: int
    created_at: Instant
    updated_at: Instant
    leads: str = ""
    """The workflow that schedules of this job start instead of the job. Foliot makes it from the dependencies between
    jobs (`domain.workflow.dependencies`). Empty: none, the schedules start the job."""
    paused_at: Instant | None = None
    """When it was paused. Executions skip the steps that name a paused job. A new definition does not resume it."""
    stopped_at: Instant | None = None
    """When its schedules were paused because of `pause_after_failures`. Resuming one of them ends it."""


def watched_by(jobs: Mapping[JobId, JobSpec]) -> dict[JobId, Millis]:
    """Return the jobs whose ends matter to gates, with how far back the gates read: the jobs with a gate, and their
    dependencies. The ends of jobs with `pause_after_failures` are counted."""
    found: dict[JobId, Millis] = {}
    for job_id, spec in jobs.items():
        if spec.pause_after_failures is not None:
            found.setdefault(job_id, Millis(0))
        if spec.gate is not None:
            found[job_id] = max(found.get(job_id, Millis(0)), spec.gate.cooldown)
            for name in spec.gate.depends_on:
                found[name] = max(found.get(name, Millis(0)), spec.gate.look_back)
    return found


def check_name(what: str, name: str, refusal: type[InvalidInput] = InvalidJob) -> None:
    """Raise `refusal` if the name has other characters than those that are safe in a path or a key."""
    if not _NAME.fullmatch(name):
        raise refusal(
            f"{what} {name[:64]!a} is not a valid name",
            hint="Use 1 to 200 characters of A-Z a-z 0-9 _ . : @ - and begin with a letter, a digit or _.",
            field=what,
        )


def _check_label(label: str) -> None:
    """Refuse a label that no worker can have. Those that choose no worker may contain a slash."""
    check_name("labels", label.replace("/", ".") if label.startswith(UNROUTED) else label)


def _check_key(key: str) -> None:
    """Refuse a key that not every database can store: PostgreSQL has no NUL, and no database has lone surrogates."""
    if not 0 < len(key) <= 200:
        raise InvalidJob(
            f"concurrency_key must have 1 to 200 characters, not {len(key)}",
            hint="Use a short name for what the runs share, or leave it out.",
            field="concurrency_key",
        )
    if _UNSTORABLE.search(key):
        raise InvalidJob(
            f"concurrency_key {shown(key)} contains a NUL character or a lone surrogate",
            hint="Use plain text; encode or hash anything else.",
            field="concurrency_key",
        )


def _within(what: str, value: int, least: int, most: int, hint: str) -> None:
    if not least <= value <= most:
        raise InvalidJob(f"{what} must be {least} to {most}, not {shown(value)}", hint=hint, field=what)
