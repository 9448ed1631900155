"""Creates runs on request, repeats, cancels and marks them, and tells what became of them."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from foliot.domain.ids import IdSource, RunId
from foliot.domain.input.timing import Moment, Span, instant, millis, optional_instant
from foliot.domain.instant import LATEST, SECOND, Instant, Millis
from foliot.domain.job import Job, Options, options_in, overlay
from foliot.domain.lease import CancelAnswer
from foliot.domain.mark import MarkAnswer, Marked, retry_trigger
from foliot.domain.payload import encode_payload
from foliot.domain.run import AttemptRecord, NewRun, Run
from foliot.domain.workflow.spec import PART_SOURCE
from foliot.domain.workflow.template import has_template
from foliot.errors import InvalidRun, NotFound, RowUnreadable, shown
from foliot.ports.clock import Clock
from foliot.ports.runs import Created, RunFilter
from foliot.ports.storage import Storage
from foliot.service.registrar import Registrar

MAX_DEDUPE_KEY: Final = 255
_TRIGGER: Final = "api"
_SCOPES: Final = ("forever", "active")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What can be asked for one run."""

    payload: Any = None
    run_at: Moment | None = None
    delay: Span | None = None
    dedupe_key: str | None = None
    dedupe: str | timedelta = "forever"
    options: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    """What is given for this run besides options: how an execution begins."""
    trigger: str = _TRIGGER
    scheduled_for: Moment | None = None
    """The planned moment, where somebody else has planned the run."""


class Desk:
    """Where runs are asked for."""

    def __init__(self, storage: Storage, clock: Clock, ids: IdSource, registrar: Registrar) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._registrar = registrar

    async def enqueue(self, job_id: str, request: Request, payloads: Sequence[Any] | None = None) -> list[Created]:
        """Create the run that is asked for, or one for each payload, all or none.

        A taken dedupe key gives the run that took it.
        """
        job = await self._registrar.job(job_id)
        _refuse_templates(job)
        runs = self._new_runs(job, request, [request.payload] if payloads is None else payloads)
        created = await self._storage.runs.create(runs)
        for run, answer in zip(runs, created, strict=True):
            if answer.run_id == run.id and not answer.is_new:
                raise InvalidRun(f"the run {run.id} could not be stored", hint="Use plain text in keys and payloads.")
        return created

    async def trigger(self, job_id: str, request: Request) -> RunId:
        """Run a job because somebody asks for it, also one that is disabled: that only keeps its schedules from it."""
        [created] = await self.enqueue(job_id, request)
        return created.run_id

    async def retry(self, run_id: str) -> RunId:
        """Run again what is over: a new run with the payload and the options of that one, and its job as it is now."""
        run = await self.get(run_id)
        if run.unreadable is not None:
            raise _unrepeatable(run, run.unreadable)
        if not run.status.is_terminal:
            raise InvalidRun(f"run {run_id} is {run.status}, not over", hint=f"Cancel it with: foliot cancel {run_id}")
        job = await self._registrar.job(run.job_id)
        overrides = await self._storage.runs.overrides(run.id)
        given = msgspec.json.decode(overrides or b"{}")
        now = self._clock.now()
        again = NewRun(
            id=RunId(self._ids.make(now)),
            job_id=job.id,
            due_at=now,
            payload=encode_payload(run.payload),
            options=_overlaid(job.spec.options, options_in(given)),
            overrides=overrides,
            trigger=retry_trigger(run.id),
            is_gated=job.spec.gate is not None,
        )
        await self._storage.runs.create([again])
        return again.id

    async def mark(self, run_id: str) -> Marked:
        """Let a run count as a success. One that is under way is refused, and one that is over and cannot be read: what
        stands for it would be like it."""
        asked = (run := await self.get(run_id)).id
        if run.unreadable is not None and run.status.is_terminal:
            raise _unrepeatable(run, run.unreadable)
        marked = (await self._storage.runs.mark({asked: RunId(self._ids.make(self._clock.now()))}))[asked]
        if marked.answer is MarkAnswer.NOT_FOUND:
            raise NotFound("run", run_id)
        if marked.answer is MarkAnswer.RUNNING:
            raise InvalidRun(f"run {run_id} is under way", hint=f"Cancel it first with: foliot cancel {run_id}")
        return marked

    async def cancel(self, run_id: str) -> CancelAnswer:
        return (await self.cancel_many([run_id]))[run_id]

    async def cancel_many(self, run_ids: Collection[str]) -> dict[str, CancelAnswer]:
        """An answer for each, in one transaction."""
        answers = await self._storage.runs.cancel([RunId(run_id) for run_id in run_ids])
        return {run_id: answers.get(RunId(run_id), CancelAnswer.NOT_FOUND) for run_id in run_ids}

    async def get(self, run_id: str) -> Run:
        found = await self._storage.runs.get([RunId(run_id)])
        if RunId(run_id) not in found:
            raise NotFound("run", run_id)
        return found[RunId(run_id)]

    async def page(self, only: RunFilter) -> list[Run]:
        return await self._storage.runs.page(only)

    async def attempts(self, run_id: str) -> list[AttemptRecord]:
        """Every finished attempt of a run, in order."""
        return await self._storage.runs.attempts((await self.get(run_id)).id)

    def _new_runs(self, job: Job, request: Request, payloads: Sequence[Any]) -> list[NewRun]:
        now = self._clock.now()
        scope, window = _dedupe(request)
        options = _overlaid(job.spec.options, request.options)
        given = {**request.options, **request.extra}
        overrides = msgspec.json.encode(given) if given else None
        due_at = _due_at(request, now)
        # Who names a moment has planned for it.
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
            )
            for run_id, payload in zip(self._ids.batch(now, len(payloads)), payloads, strict=True)
        ]


def _unrepeatable(run: Run, error: RowUnreadable) -> RowUnreadable:
    """Nobody knows what it was given."""
    error.hint = f"{error.hint} Or start another one with: foliot trigger {run.job_id}"
    return error


def _refuse_templates(job: Job) -> None:
    """A step that is given data from elsewhere does not run alone: it would be given the text of its templates."""
    if job.spec.source == PART_SOURCE and has_template(job.spec.spec):
        raise InvalidRun(
            f'"{job.id}" has templates that only an execution fills in',
            hint="Repeat one of its runs: foliot retry RUN. Or go on from it: foliot workflows rerun EXECUTION STEP.",
            field="job",
        )


def _due_at(request: Request, now: Instant) -> Instant:
    if request.run_at is not None and request.delay is not None:
        raise InvalidRun("run_at and delay are two answers to one question", hint="Give one of them.", field="run_at")
    if request.run_at is not None:
        return instant(request.run_at, "run_at")
    if request.delay is None:
        return now
    due_at = now + millis(request.delay, "delay")
    if not now <= due_at <= LATEST:
        raise InvalidRun(f"delay {shown(request.delay)} leads out of time", hint="Use 0 to a few years.", field="delay")
    return Instant(due_at)


def _dedupe(request: Request) -> tuple[str, Millis | None]:
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
    if not 0 < len(key) <= MAX_DEDUPE_KEY:
        raise InvalidRun(
            f"dedupe_key has {len(key)} characters",
            hint=f"Use 1 to {MAX_DEDUPE_KEY}; hash longer keys.",
            field="dedupe_key",
        )


def _overlaid(options: Options, given: dict[str, Any]) -> Options:
    if not given:
        return options
    merged = overlay(options, given)
    merged.check()
    return merged
