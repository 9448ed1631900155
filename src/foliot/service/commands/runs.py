"""Commands on runs: enqueue, retry, mark, cancel and wait."""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import Any, Final

import msgspec

from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.input.timing import Span
from foliot.domain.input.words import flag, text
from foliot.domain.instant import Instant
from foliot.domain.job.definition import map_definition_id, mapped_job
from foliot.domain.job.job import Job, Options, options_in
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.logs import LogEnd
from foliot.domain.run.mark import MarkAnswer, Marked, retry_trigger
from foliot.domain.run.payload import encode_payload
from foliot.domain.run.run import AttemptRecord, NewRun, Run, Status, parse_status
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.errors import InvalidInput, InvalidRun, NotFound, RowUnreadable, WrongState
from foliot.ports.clock import Clock
from foliot.ports.fanouts import FanoutRecord, ItemFilter
from foliot.ports.orders import Created
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.commands.cancels import CANCELLABLE, NOTHING_CANCELLED, CancelledRuns, cancel_all
from foliot.service.commands.jobs import JobService
from foliot.service.commands.run_request import RunRequest, new_runs, options_with, payload_list, refuse_templates
from foliot.service.paging import check_limit
from foliot.service.queries.fanouts import FanoutQueries
from foliot.service.queries.logs import Cursor, Logs, LogView
from foliot.service.queries.run_view import AttemptView, RunView, view_attempt, view_run
from foliot.service.queries.runs import RunQueries
from foliot.service.run_waiter import RunWaiter

_MAX_KNOWN_JOBS: Final = 1_000


class RunService:
    """Creates and changes runs."""

    def __init__(
        self, storage: Storage, clock: Clock, ids: IdSource, jobs: JobService, logs: Logs, waiter: RunWaiter
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._jobs = jobs
        self._logs = logs
        self._queries = RunQueries(storage, logs, clock)
        self._waiter = waiter
        self._known_jobs: dict[str, Job] = {}
        """Jobs as they were read last, which may have changed."""

    async def enqueue(self, job_id: str, request: RunRequest | None = None) -> RunId:
        """Create a run and return its id. If its dedupe key is taken, return the id of the run that took it.

        A disabled job can be enqueued: disabling only stops its schedules.
        """
        request = request or RunRequest()
        [created] = await self.create(job_id, request, [request.payload])
        return created.run_id

    async def enqueue_many(
        self, job_id: str, payloads: Iterable[Any], request: RunRequest | None = None
    ) -> list[RunId]:
        """Create one run for each payload, all or none, and return their ids in the same order."""
        created = await self.create(job_id, request or RunRequest(), payload_list(payloads))
        return [one.run_id for one in created]

    async def create(self, job_id: str, request: RunRequest, payloads: Sequence[Any]) -> list[Created]:
        """Create one run for each payload, all or none. A taken dedupe key returns the run that took it."""
        job = self._known_jobs.get(text(job_id, "job_id"))
        while True:
            job = job or await self._read_job(job_id)
            now = self._clock.now()
            runs = new_runs(job, request, payloads, self._ids_for(request, len(payloads), now), now)
            created = await self._storage.orders.create(runs)
            if not any(answer.is_outdated for answer in created):
                break
            job = None
        for run, answer in zip(runs, created, strict=True):
            if answer.run_id == run.id and not answer.is_new and not await self._is_repeat(run.id, request):
                raise InvalidRun(f"the run {run.id} could not be stored", hint="Use plain text in keys and payloads.")
        return created

    async def _read_job(self, job_id: str) -> Job:
        """Read a job that runs can be made from, and keep it for the next ones: the storage refuses runs of a job that
        has changed since."""
        self._known_jobs.pop(job_id, None)
        job = await self._jobs.record(job_id)
        refuse_templates(job)
        if len(self._known_jobs) >= _MAX_KNOWN_JOBS:
            self._known_jobs.clear()
        self._known_jobs[job_id] = job
        return job

    def _ids_for(self, request: RunRequest, count: int, now: Instant) -> list[str]:
        return [request.run_id] if request.run_id is not None and count == 1 else self._ids.batch(now, count)

    async def _is_repeat(self, run_id: RunId, request: RunRequest) -> bool:
        return run_id == request.run_id and bool(await self._storage.queries.get_runs([run_id]))

    async def retry(self, run_id: str) -> RunId:
        """Create a new run with the payload and options of a run that has ended, and the job's current definition."""
        run = await self._ended(run_id)
        given = msgspec.json.decode(await self._storage.queries.overrides(run.id) or b"{}")
        return await self._repeat(run, await self._job_of(run), given)

    async def retry_failed(self, run_id: str) -> RunId:
        """Create a new run of a fanout that has ended, for its items that failed, timed out or were cancelled."""
        run = await self._ended(run_id)
        page = await self._storage.queries.fanout_items(run.id, ItemFilter(failed=True, limit=1))
        if page is None:
            raise FanoutQueries.no_items(run)
        if not page.items:
            raise _nothing_failed(run, page.record)
        given = msgspec.json.decode(await self._storage.queries.overrides(run.id) or b"{}")
        source = {"rerun_of": run.id, "inputs_from": None, "items": None}
        again = {**given, "spec": {**given.get("spec", {}), **source}}
        if (mapped := mapped_job(run.job_id)) is not None:
            return await self._repeat_map(run, (await self._jobs.record(mapped)).id, again)
        job = await self._job_of(run)
        if job.spec.kind != FANOUT:
            raise InvalidRun(f'job "{job.id}" is no fanout any more', hint="Define it as one again, or trigger it.")
        return await self._repeat(run, job, again)

    async def _repeat_map(self, run: Run, mapped: JobId, given: dict[str, Any]) -> RunId:
        """Repeat a fanout of `app.map`, which has no job of its own."""
        now = self._clock.now()
        again = NewRun(
            id=RunId(self._ids.make(now)),
            job_id=run.job_id,
            due_at=now,
            options=Options(queue=TREES_QUEUE),
            overrides=msgspec.json.encode(given),
            trigger=retry_trigger(run.id),
            definition_id=map_definition_id(mapped),
        )
        await self._storage.orders.create([again])
        return again.id

    async def _ended(self, run_id: str) -> Run:
        """Return a run that can be repeated. Raise WrongState if it has not ended."""
        run = await self.record(run_id)
        if run.unreadable is not None:
            raise _not_repeatable(run, run.unreadable)
        if not run.status.is_terminal:
            raise WrongState(
                f"run {run_id} has not ended: it is {run.status}",
                hint=f"Wait for it, or cancel it with: foliot cancel {run_id}",
            )
        return run

    async def _job_of(self, run: Run) -> Job:
        try:
            return await self._jobs.record(run.job_id)
        except NotFound as error:
            raise _part_of_fanout(run) or error from error

    async def _repeat(self, run: Run, job: Job, given: dict[str, Any]) -> RunId:
        now = self._clock.now()
        again = NewRun(
            id=RunId(self._ids.make(now)),
            job_id=job.id,
            due_at=now,
            payload=encode_payload(run.payload),
            options=options_with(job.spec.options, options_in(given)),
            overrides=msgspec.json.encode(given) if given else None,
            trigger=retry_trigger(run.id),
            is_gated=job.spec.gate is not None,
        )
        await self._storage.orders.create([again])
        return again.id

    async def mark(self, run_id: str) -> Marked:
        """Count a run as a success. Return the answer, and the id of the successful run: the same, or a new one.

        A running run is refused. So is one that has ended and cannot be read, because the new run would copy it.
        """
        asked = (run := await self.record(run_id)).id
        if run.unreadable is not None and run.status.is_terminal:
            raise _not_repeatable(run, run.unreadable)
        is_failed = run.status.is_terminal and run.status is not Status.SUCCESS
        if is_failed and run.parent_id is not None and (error := _part_of_fanout(run)):
            raise error
        marked = (await self._storage.orders.mark({asked: RunId(self._ids.make(self._clock.now()))}))[asked]
        if marked.answer is MarkAnswer.NOT_FOUND:
            raise NotFound("run", run_id)
        if marked.answer is MarkAnswer.RUNNING:
            raise WrongState(f"run {run_id} is running", hint=f"Cancel it first with: foliot cancel {run_id}")
        return marked

    async def cancel(self, run_id: str) -> CancelAnswer:
        """Cancel a run: immediately if it has not started, otherwise by a request to its worker."""
        return (await self.cancel_many([text(run_id, "run_id", InvalidInput)]))[run_id]

    async def cancel_many(self, run_ids: Collection[str]) -> dict[str, CancelAnswer]:
        """Cancel runs in one transaction and return an answer for each."""
        answers = await self._storage.orders.cancel([RunId(run_id) for run_id in run_ids])
        return {run_id: answers.get(RunId(run_id), CancelAnswer.NOT_FOUND) for run_id in run_ids}

    async def cancel_all(
        self, job: str | None = None, *, status: str | None = None, confirm: bool = False
    ) -> CancelledRuns:
        """Cancel the runs of a job, or of all jobs, that have not ended: at most 1,000 of them, in one transaction.

        `status`: only those that are scheduled, queued or running. Without `confirm`, nothing is changed, and
        InvalidInput says how many runs it would cancel.
        """
        job_id = None if job is None else JobId(text(job, "job", InvalidInput))
        wanted = None if status is None else parse_status(text(status, "status", InvalidInput))
        if wanted is not None and wanted not in CANCELLABLE:
            hint = f"Use {', '.join(CANCELLABLE)}, or leave it out for all of them."
            raise InvalidInput(f"a run with status {wanted} cannot be cancelled", hint=hint, field="status")
        is_confirmed = flag(confirm, "confirm", InvalidInput)
        done = await cancel_all(self._storage, job_id, wanted, is_confirmed=is_confirmed)
        if job_id is not None and done == NOTHING_CANCELLED:
            await self._jobs.record(job_id)
        return done

    # `asyncio.timeout` around the call would cancel it in the middle of a read from the storage.
    async def wait(self, run_id: str, timeout: Span | None = None) -> RunView:  # noqa: ASYNC109
        """Wait until a run or an execution has ended, and return it. Raise WaitTimeout after the timeout."""
        [run] = await self._waiter.ended(RunId(text(run_id, "run_id", InvalidInput)), timeout=timeout)
        return view_run(run)

    async def get(self, run_id: str) -> RunView:
        """Return a run, including the user and the idempotency key it was started with."""
        return await self._queries.get(text(run_id, "run_id", InvalidInput))

    async def page(
        self, *, job: str | None = None, status: str | None = None, limit: int = 100, children: bool = False
    ) -> list[RunView]:
        """Return up to `limit` runs, at most 10,000, newest first.

        Steps of workflows and items of fanouts are left out, unless `children` is set or a job is given.
        """
        check_limit(limit)
        only = RunFilter(
            job_id=None if job is None else JobId(text(job, "job", InvalidInput)),
            status=None if status is None else parse_status(text(status, "status", InvalidInput)),
            limit=limit,
            roots=not children and job is None,
        )
        return [view_run(run) for run in await self._storage.queries.page_runs(only)]

    async def attempts(self, run_id: str) -> list[AttemptView]:
        """Return every finished attempt of a run, in order."""
        return [view_attempt(record) for record in await self.attempt_records(run_id)]

    async def logs(self, run_id: str) -> list[LogView]:
        """Return the output of all attempts of a run so far."""
        items = self._logs.read(text(run_id, "run_id", InvalidInput))
        return [item async for item in items if isinstance(item, LogView)]

    async def follow(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        """Yield the output of a run until the run has ended. The last item says how its log ends."""
        async for item in self._logs.follow(text(run_id, "run_id", InvalidInput), after):
            yield item

    async def output(self, run_id: str, attempt: int | None = None) -> bytes:
        """Return every byte of the standard output of the last or the given attempt, or raise OutputUnavailable."""
        return await self._logs.raw_stdout(text(run_id, "run_id", InvalidInput), attempt)

    async def record(self, run_id: str) -> Run:
        """Return a run as it is stored."""
        found = await self._storage.queries.get_runs([RunId(text(run_id, "run_id", InvalidInput))])
        if RunId(run_id) not in found:
            raise NotFound("run", run_id)
        return found[RunId(run_id)]

    async def records(self, only: RunFilter) -> list[Run]:
        """Return runs as they are stored, newest first."""
        return await self._storage.queries.page_runs(only)

    async def attempt_records(self, run_id: str) -> list[AttemptRecord]:
        return await self._storage.queries.attempts((await self.record(run_id)).id)


def _not_repeatable(run: Run, error: RowUnreadable) -> RowUnreadable:
    """Return the error with a further hint: the payload and the options of the run are not known."""
    error.hint = f"{error.hint} Or start another one with: foliot trigger {run.job_id}"
    return error


def _part_of_fanout(run: Run) -> InvalidRun | None:
    """Return the error for an ended run that only its fanout can repeat. None: it belongs to no fanout."""
    kind = kind_of(run)
    if kind is RunKind.FANOUT and mapped_job(run.job_id) is not None:
        hint = f"Repeat its failed items: foliot retry {run.id} --failed. Or call app.map again."
        return InvalidRun(f"run {run.id} was started by app.map, which gave it its items", hint=hint)
    if kind not in (RunKind.ITEM, RunKind.REDUCER):
        return None
    return InvalidRun(
        f"run {run.id} is {'an item' if kind is RunKind.ITEM else 'the reducer'} of fanout {run.parent_id}",
        hint=f"Repeat its failed items in a new fanout: foliot retry {run.parent_id} --failed",
    )


def _nothing_failed(run: Run, record: FanoutRecord) -> InvalidRun:
    if record.progress.counts.unsuccessful:
        return InvalidRun(
            f"the items of fanout {run.id} have been removed", hint=f"Repeat it whole: foliot retry {run.id}"
        )
    return InvalidRun(f"fanout {run.id} has no failed items", hint=f"Repeat it whole: foliot retry {run.id}")
