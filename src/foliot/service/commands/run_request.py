"""A request for new runs of a job: reads and checks it, and makes the runs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from foliot.domain.ids import RunId
from foliot.domain.input.timing import Moment, Span, instant, millis, optional_instant
from foliot.domain.instant import LATEST, SECOND, Instant, Millis
from foliot.domain.job.job import DEFAULT_QUEUE, Job, Options, overlay
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.payload import encode_payload
from foliot.domain.run.run import NewRun
from foliot.domain.workflow.spec import PART_SOURCE
from foliot.domain.workflow.template import has_template
from foliot.errors import InvalidRun, shown

_MAX_DEDUPE_KEY: Final = 255
_TRIGGER: Final = "api"
_SCOPES: Final = ("forever", "active")


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a caller can specify for a new run."""

    payload: Any = None
    run_at: Moment | None = None
    delay: Span | None = None
    dedupe_key: str | None = None
    dedupe: str | timedelta = "forever"
    options: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    """Values stored with the run besides its options: how an execution starts."""
    trigger: str = _TRIGGER
    scheduled_for: Moment | None = None
    """The planned time, where another program planned the run."""
    run_id: RunId | None = None
    """The id of a single run. If a run has it, that run is returned: the request is repeated after a crash."""


def new_runs(
    job: Job, request: RunRequest, payloads: Sequence[Any], run_ids: Sequence[str], now: Instant
) -> list[NewRun]:
    """Return one run of the job for each payload, with these ids."""
    scope, window = _dedupe(request)
    options = options_with(job.spec.options, request.options)
    given = {**request.options, **request.extra}
    overrides = msgspec.json.encode(given) if given else None
    due_at = _due_at(request, now)
    # A caller that gives a time to run at has planned the run for that time.
    planned = request.run_at if request.scheduled_for is None else request.scheduled_for
    scheduled_for = optional_instant(planned, "scheduled_for")
    template, is_gated = job.spec.payload_template, job.spec.gate is not None
    return [
        NewRun(
            id=RunId(run_id),
            job_id=job.id,
            due_at=due_at,
            payload=encode_payload(template if payload is None else payload),
            options=options,
            overrides=overrides,
            trigger=request.trigger,
            dedupe_key=request.dedupe_key,
            dedupe_scope=scope,
            dedupe_for=window,
            is_gated=is_gated,
            scheduled_for=scheduled_for,
            job_revision=job.revision,
        )
        for run_id, payload in zip(run_ids, payloads, strict=True)
    ]


def payload_list(payloads: object) -> list[Any]:
    """Return the payloads of several runs. Refuse a single payload that is given instead of a list."""
    if isinstance(payloads, str | bytes | bytearray | Mapping) or not isinstance(payloads, Iterable):
        raise InvalidRun(
            f"payloads must be a list with one for each run, not {type(payloads).__name__}",
            hint="Write [first, second]. For a single run use enqueue.",
            field="payloads",
        )
    return list(payloads)


def refuse_templates(job: Job) -> None:
    """Refuse a step with templates: outside an execution it would be given the text of its templates."""
    if job.spec.source == PART_SOURCE and has_template(job.spec.spec):
        raise InvalidRun(
            f'"{job.id}" has templates that only an execution fills in',
            hint="Repeat one of its runs: foliot retry RUN. Or go on from it: foliot workflows rerun EXECUTION STEP.",
            field="job",
        )


def _due_at(request: RunRequest, now: Instant) -> Instant:
    if request.run_at is not None and request.delay is not None:
        raise InvalidRun("run_at and delay are mutually exclusive", hint="Give one of them.", field="run_at")
    if request.run_at is not None:
        return instant(request.run_at, "run_at")
    if request.delay is None:
        return now
    due_at = now + millis(request.delay, "delay")
    if not now <= due_at <= LATEST:
        raise InvalidRun(
            f"delay {shown(request.delay)} leads to a time that cannot be stored",
            hint="Use 0 to a few years.",
            field="delay",
        )
    return Instant(due_at)


def _dedupe(request: RunRequest) -> tuple[str, Millis | None]:
    if request.dedupe_key is not None:
        _check_dedupe_key(request.dedupe_key)
    if isinstance(request.dedupe, timedelta):
        window = millis(request.dedupe, "dedupe")
        if window < SECOND:
            raise InvalidRun("a dedupe window is at least one second", hint="Give a longer timedelta.", field="dedupe")
        return "window", window
    if request.dedupe not in _SCOPES:
        raise InvalidRun(
            f"dedupe {shown(request.dedupe)} does not exist",
            hint='Use "forever", "active" or a timedelta.',
            field="dedupe",
        )
    return request.dedupe, None


def _check_dedupe_key(key: object) -> None:
    if not isinstance(key, str) or not key.isprintable():
        raise InvalidRun("dedupe_key must be printable text", hint="Hash or encode it first.", field="dedupe_key")
    if not 0 < len(key) <= _MAX_DEDUPE_KEY:
        raise InvalidRun(
            f"dedupe_key has {len(key)} characters",
            hint=f"Use 1 to {_MAX_DEDUPE_KEY}; hash longer keys.",
            field="dedupe_key",
        )


def options_with(options: Options, given: dict[str, Any]) -> Options:
    """Return the options of a job with those that are given for one run."""
    if not given:
        return options
    if options.queue == TREES_QUEUE:
        # Only coordinators open workflows, so a requested queue is not used.
        merged = options_with(replace(options, queue=DEFAULT_QUEUE), given)
        return replace(merged, queue=TREES_QUEUE)
    merged = overlay(options, given)
    merged.check()
    return merged
