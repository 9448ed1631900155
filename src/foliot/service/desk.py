"""Creates runs on request, cancels them, and tells what became of them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.input.timing import Moment, Span, instant, millis
from foliot.domain.instant import LATEST, SECOND, Instant, Millis
from foliot.domain.job import Job, Options, overlay
from foliot.domain.lease import CancelAnswer
from foliot.domain.payload import encode_payload
from foliot.domain.run import NewRun, Run
from foliot.errors import InvalidRun, NotFound
from foliot.ports.clock import Clock
from foliot.ports.storage import Created, RunFilter, Storage
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
    trigger: str = _TRIGGER


class Desk:
    """Where runs are asked for."""

    def __init__(self, storage: Storage, clock: Clock, ids: IdSource, registrar: Registrar) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._registrar = registrar

    async def enqueue(self, job_id: str, requests: Sequence[Request]) -> list[Created]:
        """Create a run for each request, all or none. A taken dedupe key gives the run that took it."""
        job = await self._job(job_id)
        now = self._clock.now()
        ids = self._ids.batch(now, len(requests))
        runs = [self._new_run(RunId(run_id), job, request, now) for run_id, request in zip(ids, requests, strict=True)]
        created = await self._storage.runs.create(runs)
        for run, answer in zip(runs, created, strict=True):
            if answer.run_id == run.id and not answer.is_new:
                raise InvalidRun(f"the run {run.id} could not be stored", hint="Use plain text in keys and payloads.")
        return created

    async def cancel(self, run_id: str) -> CancelAnswer:
        answers = await self._storage.runs.cancel([RunId(run_id)])
        return answers.get(RunId(run_id), CancelAnswer.NOT_FOUND)

    async def get(self, run_id: str) -> Run:
        found = await self._storage.runs.get([RunId(run_id)])
        if RunId(run_id) not in found:
            raise NotFound("run", run_id)
        return found[RunId(run_id)]

    async def page(self, only: RunFilter) -> list[Run]:
        return await self._storage.runs.page(only)

    async def _job(self, job_id: str) -> Job:
        found = await self._storage.jobs.get([JobId(job_id)])
        if not found:
            raise await self._registrar.no_job(job_id)
        return found[JobId(job_id)]

    def _new_run(self, run_id: RunId, job: Job, request: Request, now: Instant) -> NewRun:
        payload = request.payload if request.payload is not None else job.spec.payload_template
        scope, window = _dedupe(request)
        options = _overlaid(job.spec.options, request.options)
        return NewRun(
            id=run_id,
            job_id=job.id,
            due_at=_due_at(request, now),
            payload=encode_payload(payload),
            options=options,
            overrides=msgspec.json.encode(request.options) if request.options else None,
            trigger=request.trigger,
            dedupe_key=request.dedupe_key,
            dedupe_scope=scope,
            dedupe_for=window,
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
        raise InvalidRun(f"delay {request.delay!r} leads out of time", hint="Use 0 to a few years.", field="delay")
    return Instant(due_at)


def _dedupe(request: Request) -> tuple[str, Millis | None]:
    if request.dedupe_key is not None:
        _check_dedupe_key(request.dedupe_key)
    if isinstance(request.dedupe, timedelta):
        window = millis(request.dedupe, "dedupe")
        if window < SECOND:
            raise InvalidRun("a dedupe window is at least one second", field="dedupe")
        return "window", window
    if request.dedupe not in _SCOPES:
        raise InvalidRun(
            f"dedupe {request.dedupe[:32]!a} does not exist",
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
