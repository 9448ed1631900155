"""Asking an application: for runs, and about everything that is stored."""

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import timedelta
from typing import Any

from foliot.app.declaring import JobName
from foliot.app.opening import Application
from foliot.domain.ids import RunId
from foliot.domain.input.job import job_options
from foliot.domain.input.timing import Moment, Span, millis
from foliot.domain.input.words import flag, text
from foliot.domain.instant import Millis
from foliot.domain.lease import CancelAnswer
from foliot.domain.logs import LogEnd
from foliot.domain.run import parse_status
from foliot.domain.workflow.builder import StepBuilder, Workflow, whole_workflow
from foliot.domain.workflow.spec import Edge
from foliot.errors import InvalidInput, InvalidRun, shown
from foliot.ports.runs import RunFilter
from foliot.service.desk import Request
from foliot.service.executions import ExecutionView
from foliot.service.logs import Cursor, LogView
from foliot.service.registrar import Upserted
from foliot.service.views import AttemptView, JobView, RunView, ScheduleView, TickView, view_attempt, view_run
from foliot.service.workflows import Deployed

_LONGEST_PAGE = 10_000


class Foliot(Application):
    """A set of jobs and schedules on one storage.

    What is declared here is applied when the application opens: by `async with app`, by the first call that needs the
    storage, or by `foliot serve`.
    """

    # -- runs

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
        [created] = await services.desk.enqueue(self._name(job), request)
        return created.run_id

    async def enqueue_many(
        self,
        job: JobName,
        payloads: Iterable[Any],
        *,
        run_at: Moment | None = None,
        delay: Span | None = None,
        **options: Any,
    ) -> list[str]:
        """Create one run for each payload, in order, all or none, now or at a moment."""
        _refuse_key(options)
        request = Request(run_at=run_at, delay=delay, options=job_options(**options))
        each = _payloads(payloads)
        services = await self.open()
        return [created.run_id for created in await services.desk.enqueue(self._name(job), request, each)]

    async def run(self, run_id: str) -> RunView:
        """What is known about a run."""
        services = await self.open()
        return await services.overview.run(await services.desk.get(_text(run_id, "run_id")))

    async def attempts(self, run_id: str) -> list[AttemptView]:
        """Every finished attempt of a run, in order."""
        return [view_attempt(record) for record in await (await self.open()).desk.attempts(_text(run_id, "run_id"))]

    async def runs(self, *, job: JobName | None = None, status: str | None = None, limit: int = 100) -> list[RunView]:
        """The newest runs first, 1 to 10,000 of them."""
        _check_limit(limit)
        only = RunFilter(
            job_id=None if job is None else self._name(job),
            status=None if status is None else parse_status(_text(status, "status")),
            limit=limit,
        )
        return [view_run(run) for run in await (await self.open()).desk.page(only)]

    async def jobs(self, *, after: str | None = None, limit: int = 100) -> list[JobView]:
        """Jobs by id, those after `after`, each with its latest run."""
        _check_limit(limit)
        begin = None if after is None else _text(after, "after")
        return await (await self.open()).overview.jobs(after=begin, limit=limit)

    async def cancel(self, run_id: str) -> CancelAnswer:
        """End a run: at once if it has not started, by telling its worker if it has."""
        return await (await self.open()).desk.cancel(_text(run_id, "run_id"))

    async def retry(self, run_id: str) -> str:
        """Run again what is over, with the same payload and options. Returns the id of the new run."""
        return await (await self.open()).desk.retry(_text(run_id, "run_id"))

    async def mark(self, run_id: str) -> str:
        """Let a run count as a success. Returns the id of the run that is one: itself, or one that stands for it."""
        return (await (await self.open()).desk.mark(_text(run_id, "run_id"))).run_id

    async def logs(self, run_id: str) -> list[LogView]:
        """What a run printed so far, all attempts."""
        items = (await self.open()).logs.read(_text(run_id, "run_id"))
        return [item async for item in items if isinstance(item, LogView)]

    async def follow(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        """What a run prints, as it comes, until it is over; the last item says how its log ends."""
        async for item in (await self.open()).logs.follow(_text(run_id, "run_id"), after):
            yield item

    async def output(self, run_id: str, attempt: int | None = None) -> bytes:
        """What the last attempt of a run, or another one, wrote to its standard output: every byte, or an error."""
        return await (await self.open()).logs.raw_stdout(_text(run_id, "run_id"), attempt)

    # -- jobs

    async def pause_job(self, job: JobName, paused: bool = True) -> list[str]:
        """Pause or resume all schedules of a job; their ids come back."""
        return list(await (await self.open()).registrar.pause_job(self._name(job), paused))

    async def is_running(self, job: JobName) -> bool:
        """Whether a run of the job is under way at this moment, alone or as a step of a workflow."""
        services = await self.open()
        return await services.presence.is_running((await services.registrar.job(self._name(job))).id)

    # `asyncio.timeout` around the call would cancel it in the middle of a look at the storage.
    async def wait_for_job(self, job: JobName, timeout: Span | None = None) -> list[RunView]:  # noqa: ASYNC109
        """Return when the runs of the job that are under way now, alone or as steps, have ended; they come back.

        WaitTimeout, which is a TimeoutError, when one of them takes longer than that; it goes on.
        """
        patience = _patience(timeout)
        services = await self.open()
        ended = await services.presence.over((await services.registrar.job(self._name(job))).id, patience=patience)
        return [view_run(run) for run in ended]

    async def wait_for_run(self, run_id: str, timeout: Span | None = None) -> RunView:  # noqa: ASYNC109
        """Return when a run has ended; an execution is one as well. WaitTimeout when that takes longer; it goes on."""
        patience = _patience(timeout)
        [run] = await (await self.open()).presence.ended(RunId(_text(run_id, "run_id")), patience=patience)
        return view_run(run)

    async def delete_job(self, job: JobName, *, force: bool = False) -> None:
        """Delete a job that no file and no application owns, with its schedules. Its history is kept.

        With `force` one that they did own, and do not define any more. What they still define, they bring back.
        """
        services = await self.open()
        await services.registrar.delete_job(self._name(job), force=flag(force, "force", InvalidInput))
        await services.dependencies.remove_jobs([self._name(job)])

    # -- workflows

    async def deploy_workflow(self, document: Mapping[str, Any] | str | bytes) -> Deployed:
        """Store a workflow that is given as JSON, with the keys of [[workflows]], as its newest version.

        Its schedules, `schedule_based` triggers included, are created, changed or deleted with it. Everything that is
        wrong is told at once, by JSON path, and then nothing is stored.
        """
        # Most applications read no documents, and load nothing that does.
        from foliot.config.workflow_json import names_in, open_document, read_workflow

        tree = open_document(document)
        services = await self.open()
        jobs = await services.workflows.jobs_named(names_in(tree))
        read = read_workflow(tree, jobs, services.clock.now())
        return await services.workflows.deploy(read.id, read.spec, read.schedules, past=read.past, warn=read.warnings)

    async def delete_workflow(self, workflow: str, *, force: bool = False) -> None:
        """Delete a workflow that no file and no application owns, with all its schedules; `force` as for jobs.

        Executions that have begun go on, those that have not are cancelled, and history is kept. Deployed again, it
        goes on with the next version.
        """
        services = await self.open()
        await services.dependencies.remove_jobs(
            await services.workflows.delete(_text(workflow, "workflow"), force=flag(force, "force", InvalidInput))
        )

    async def workflow_document(self, workflow: str, *, version: int | None = None) -> dict[str, Any]:
        """A workflow as the document that `deploy_workflow` takes, secrets included."""
        from foliot.config.workflow_writing import write_workflow

        services = await self.open()
        found = await services.workflows.get(_text(workflow, "workflow"), version)
        return write_workflow(workflow, found.spec, await services.workflows.own_schedules(workflow))

    async def start_workflow(
        self,
        workflow: str | Workflow | StepBuilder,
        params: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        user_id: str | None = None,
    ) -> str:
        """Begin an execution of the newest version, or of the one that is named, and return its id."""
        name = workflow if isinstance(workflow, str) else whole_workflow(workflow).id
        return await (await self.open()).executions.start(name, params, version=version, user_id=user_id)

    async def workflow_status(self, execution_id: str) -> ExecutionView | None:
        """An execution with the results of its steps; None when there is none of that id."""
        return await (await self.open()).executions.status(_text(execution_id, "execution_id"))

    async def active_workflows(self, workflow: str | None = None) -> list[ExecutionView]:
        """Executions that are not over, oldest first."""
        name = None if workflow is None else _text(workflow, "workflow")
        return await (await self.open()).executions.active(workflow_id=name)

    async def rerun_workflow(self, execution_id: str, *steps: str) -> str:
        """Repeat an execution from the named steps on, or from those that failed; the other results are kept."""
        asked, named = _text(execution_id, "execution_id"), [_text(step, "step") for step in steps]
        return await (await self.open()).executions.rerun(asked, named)

    async def mark_step(self, execution_id: str, step: str) -> str:
        """Let a step count as a success; the id of the execution that goes on comes back."""
        return await (await self.open()).executions.mark_step(_text(execution_id, "execution_id"), _text(step, "step"))

    async def approve(self, execution_id: str, step: str, *, by: str | None = None) -> None:
        """Let a step that waits for a person go on."""
        await self._answer(execution_id, step, approve=True, by=by)

    async def reject(self, execution_id: str, step: str, *, by: str | None = None) -> None:
        """Let a step that waits for a person fail."""
        await self._answer(execution_id, step, approve=False, by=by)

    async def _answer(self, execution_id: str, step: str, *, approve: bool, by: str | None) -> None:
        asked, named = _text(execution_id, "execution_id"), _text(step, "step")
        await (await self.open()).executions.answer(asked, named, approve=approve, by=by)

    async def pause_step(self, workflow: str, step: str, paused: bool = True) -> None:
        """Let executions that reach the step skip it, or no longer."""
        await (await self.open()).workflows.pause_step(_text(workflow, "workflow"), _text(step, "step"), paused=paused)

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

    async def upsert_schedule(
        self, schedule_id: str | None = None, *, paused: bool | None = None, **fields: Any
    ) -> Upserted:
        """Create or change a schedule. One that is paused stays so unless `paused` says otherwise. See the reference
        for the other fields."""
        return await (await self.open()).registrar.upsert_schedule(schedule_id, paused=paused, **fields)

    async def pause_schedule(self, schedule_id: str, paused: bool = True) -> None:
        """Let a schedule fire no longer, or again."""
        await (await self.open()).registrar.pause_schedule(_text(schedule_id, "schedule_id"), paused)

    async def delete_schedule(self, schedule_id: str, *, force: bool = False) -> None:
        """Delete a schedule that no file and no application owns; `force` as for jobs. The runs it started are kept."""
        asked = _text(schedule_id, "schedule_id")
        await (await self.open()).registrar.delete_schedule(asked, force=flag(force, "force", InvalidInput))

    async def get_schedule(self, schedule_id: str) -> ScheduleView:
        """The schedule with its next five fire times."""
        return await (await self.open()).registrar.get_schedule(_text(schedule_id, "schedule_id"))

    async def ticks(self, schedule_id: str, limit: int = 100) -> list[TickView]:
        """The newest rows of a schedule's ledger, newest first, 1 to 10,000 of them."""
        _check_limit(limit)
        services = await self.open()
        schedule = await services.registrar.schedule(_text(schedule_id, "schedule_id"))
        return await services.overview.ticks(schedule, limit)


def _check_limit(limit: object) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _LONGEST_PAGE:
        raise InvalidInput(
            f"limit must be 1 to {_LONGEST_PAGE}, not {shown(limit)}", hint="Ask for less at once.", field="limit"
        )


def _text(value: object, name: str) -> str:
    """An id or a word, of somebody who may not be held to our types."""
    return text(value, name, InvalidInput)


def _payloads(payloads: object) -> list[Any]:
    if isinstance(payloads, str | bytes | bytearray | Mapping) or not isinstance(payloads, Iterable):
        raise InvalidRun(
            f"payloads must be a list with one for each run, not {type(payloads).__name__}",
            hint="Write [first, second]. For a single run use enqueue.",
            field="payloads",
        )
    return list(payloads)


def _refuse_key(options: Mapping[str, Any]) -> None:
    named = next((name for name in ("dedupe_key", "dedupe") if name in options), None)
    if named is not None:
        raise InvalidRun(
            f"{named} is about one run, not many",
            hint="A key gives one run. Create those that have one with enqueue, one by one.",
            field=named,
        )


def _patience(timeout: Span | None) -> Millis | None:
    """How long to wait; None: for as long as it takes."""
    patience = None if timeout is None else millis(timeout, "timeout")
    if patience is not None and patience < 0:
        raise InvalidInput(
            f"timeout must not be negative, not {shown(timeout)}", hint="0 looks once; None waits on.", field="timeout"
        )
    return patience
