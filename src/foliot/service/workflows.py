"""Registers workflows, starts executions, and tells what became of them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from foliot.domain.deployment import FILE, Declared
from foliot.domain.edit import is_same_rule
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import to_datetime
from foliot.domain.job import JobSpec
from foliot.domain.lease import CancelAnswer
from foliot.domain.outcome import Reason
from foliot.domain.run import Ended, Run, Status
from foliot.domain.schedule import Schedule, ScheduleSpec, canonical
from foliot.domain.workflow.checking import check_workflow, names_around
from foliot.domain.workflow.dependencies import EDGES
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.jobs import GRAPH, PART_SOURCE, jobs_of_all
from foliot.domain.workflow.keeping import Kept, asked_about, keep, kept_in
from foliot.domain.workflow.progress import run_again
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.domain.workflow.start import Start, read_params
from foliot.errors import InvalidRun, InvalidSchedule, NotFound
from foliot.ports.definitions import Deployment
from foliot.ports.executions import WorkflowVersion
from foliot.ports.storage import Storage
from foliot.service.desk import Desk, Request
from foliot.service.paging import stored_schedules
from foliot.service.registrar import Registrar, refuse_foreign

_SUGGESTIONS: Final = 1_000


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """A step of an execution. `result` is None while it is pending, `status` None while it has no run."""

    name: str
    result: str | None
    status: str | None
    run_id: str | None
    reason: str
    blockers: list[str]
    """Steps whose result kept it from running."""
    cause: str | None = None
    """Why its run ended as it did: exception, exit_code, timeout and so on."""
    error: str | None = None
    """What its run failed with."""


class ExecutionView(msgspec.Struct, frozen=True, kw_only=True):
    """One passage through a workflow, as it is at this moment: changing the value changes nothing."""

    id: str
    workflow_id: str
    version: int
    status: str
    params: dict[str, Any]
    scheduled_for: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    error: str | None
    steps: list[StepView]

    @property
    def results(self) -> dict[str, str | None]:
        """What each step has come to."""
        return {step.name: step.result for step in self.steps}


class Deployed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a workflow that was deployed. One that says what is stored already keeps its version."""

    workflow_id: str
    version: int
    schedules: list[str]
    """The ids of those that came with it."""
    warnings: list[str]


class Workflows:
    """Where workflows are asked for."""

    def __init__(self, storage: Storage, registrar: Registrar, desk: Desk) -> None:
        self._storage = storage
        self._registrar = registrar
        self._desk = desk

    # -- definitions

    async def register(self, workflows: Mapping[str, WorkflowSpec]) -> dict[str, WorkflowVersion]:
        """Store workflows with the jobs behind them. One that is wrong refuses all; an equal one changes nothing."""
        await self.check(workflows)
        return await self._storage.workflows.deploy(Deployment(workflows))

    async def deploy(
        self,
        workflow_id: str,
        spec: WorkflowSpec,
        schedules: Mapping[ScheduleId, ScheduleSpec],
        *,
        past: Collection[ScheduleId] = (),
        warn: Sequence[str] = (),
    ) -> Deployed:
        """Store a workflow with its schedules; what it was deployed with before and has no longer is deleted.

        All of it, or nothing. Those in `past` cannot fire any more: they stay if they are stored, and are not created.
        """
        await self.check({workflow_id: spec})
        await self._refuse_taken(workflow_id, schedules)
        stored = {one.id: one async for one in stored_schedules(self._storage, JobId(workflow_id))}
        wanted = {name: one for name, one in schedules.items() if name not in past or _is_stored(name, one, stored)}
        gone = [name for name, one in stored.items() if _came_with_it(one) and name not in wanted]
        new = await self._registrar.prepare_schedules(wanted)
        versions = await self._storage.workflows.deploy(Deployment({workflow_id: spec}, new, gone))
        return Deployed(
            workflow_id=workflow_id,
            version=versions[workflow_id].version,
            schedules=[*wanted],
            warnings=[*warn],
        )

    async def own_schedules(self, workflow_id: str) -> dict[ScheduleId, ScheduleSpec]:
        """The schedules that were defined with a workflow, not those that people added."""
        found = {one.id: one.revision.spec async for one in stored_schedules(self._storage, JobId(workflow_id))}
        return {name: spec for name, spec in found.items() if spec.source in (PART_SOURCE, FILE)}

    async def check(self, workflows: Mapping[str, WorkflowSpec], declared: Declared | None = None) -> None:
        """Refuse workflows that cannot be walked through. `declared` is what is to be stored with them."""
        around = declared or Declared(workflows=workflows)
        coming = around.jobs.keys() | jobs_of_all(around.workflows)
        for workflow_id, spec in workflows.items():
            jobs = {**await self.jobs_named(names_around(workflow_id, spec), besides=coming), **around.jobs}
            refuse_foreign("workflow", _owners(workflow_id, spec, jobs))
            check_workflow(workflow_id, spec, jobs, watchable=jobs.keys() | coming)

    async def jobs_named(self, names: Collection[JobId], besides: Collection[JobId] = ()) -> dict[JobId, JobSpec]:
        """Those of the jobs that exist; if one does not, others too: one of them was probably meant."""
        found = await self._storage.jobs.get(names)
        if set(names) - found.keys() - set(besides):
            found = {job.id: job for job in await self._storage.jobs.page(limit=_SUGGESTIONS)} | found
        return {job_id: job.spec for job_id, job in found.items()}

    async def _refuse_taken(self, workflow_id: str, schedules: Mapping[ScheduleId, ScheduleSpec]) -> None:
        """A schedule of something else does not become one of this workflow's."""
        for schedule_id, known in (await self._storage.schedules.get(schedules)).items():
            if known.revision.spec.target != workflow_id:
                raise InvalidSchedule(
                    f'schedule "{schedule_id}" belongs to "{known.revision.spec.target}"',
                    hint="Delete that one, or give the schedule of the workflow another name.",
                    field="name",
                )

    async def get(self, workflow_id: str, version: int | None = None) -> WorkflowVersion:
        """The newest version, or the one that is asked for."""
        found = await self._storage.workflows.get([(workflow_id, version)])
        if (workflow_id, version) not in found:
            known = [known.workflow_id for known in await self.page(limit=_SUGGESTIONS)]
            name = workflow_id if version is None else f"{workflow_id} version {version}"
            raise NotFound("workflow", name, known=known)
        return found[workflow_id, version]

    async def exists(self, workflow_id: str) -> bool:
        return bool(await self._storage.workflows.get([(workflow_id, None)]))

    async def page(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowVersion]:
        """The newest version of each workflow, by id; without the list of edges between jobs, which is kept as one."""
        found = await self._storage.workflows.page(after=after, limit=limit)
        return [version for version in found if version.workflow_id != EDGES]

    async def pause_step(self, workflow_id: str, step: str, *, paused: bool = True) -> None:
        """Let executions that reach the step skip it, or no longer."""
        version = await self.get(workflow_id)
        names = [known.name for known in version.spec.steps]
        if step not in names:
            raise NotFound("step", step, known=names)
        await self._storage.workflows.pause_step(workflow_id, step, paused=paused)

    # -- executions

    async def start(
        self,
        workflow_id: str,
        params: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        user_id: str | None = None,
        request: Request | None = None,
    ) -> RunId:
        """Begin an execution of the newest version, or of the one that is named, and return its id."""
        found = await self.get(workflow_id, version)
        read_params(found.spec, params)
        start = Start(version=found.version, user_id=user_id)
        return await self._begin(workflow_id, start, msgspec.structs.replace(request or Request(), payload=params))

    async def rerun(self, execution_id: str, steps: Collection[str] = (), *, marked: Collection[str] = ()) -> RunId:
        """A new execution that keeps the results of another one, except from the named steps on.

        Without steps it begins at those that failed. Steps in `marked` count as successes.
        """
        before = await self.execution(execution_id)
        self._refuse_unfinished(before)
        failed = [step.name for step in before.steps if step.result == "failure"]
        begin = tuple(steps) or (() if marked else tuple(failed))
        self._refuse_strangers(before, [*begin, *marked])
        if not begin and not marked:
            raise InvalidRun(f"no step of execution {execution_id} has failed", hint="Name the steps to begin at.")
        start = Start(version=before.version, rerun_of=RunId(before.id), steps=begin, marked=tuple(marked))
        start = msgspec.structs.replace(start, kept=await self._kept(before, start))
        return await self._begin(before.workflow_id, start, Request(payload=before.params or None))

    async def _kept(self, before: ExecutionView, start: Start) -> dict[str, Kept]:
        """What steps that are not run again left behind, as far as the others may ask for it."""
        spec, run_id = (await self.get(before.workflow_id, before.version)).spec, RunId(before.id)
        states = await self._storage.executions.states(run_id)
        again = run_again(graph_of(spec.steps), states, start=start.steps, marked=start.marked)
        asked = asked_about(spec) - again
        if not asked:
            return {}
        found = await self._storage.executions.facts(run_id, asked)
        stored = await self._storage.runs.get([facts.run_id for facts in found.values() if facts.run_id is not None])
        return keep(before.id, found, kept_in(await self._storage.runs.overrides(run_id)), stored)

    async def cancel(self, execution_id: str) -> CancelAnswer:
        return await self._desk.cancel(execution_id)

    async def mark_step(self, execution_id: str, step: str) -> RunId:
        """Let a step count as a success: one that waits at once, one that has failed by a new execution after it.

        The id of the execution that goes on comes back.
        """
        execution = await self.execution(execution_id)
        self._refuse_strangers(execution, [step])
        state = next(known for known in execution.steps if known.name == step)
        if state.result is None and state.run_id is not None:
            await self._desk.mark(state.run_id)
            return RunId(execution.id)
        return await self.rerun(execution_id, marked=[step])

    async def answer(self, execution_id: str, step: str, *, approve: bool, by: str | None = None) -> None:
        """Approve or reject a step that waits for a person."""
        execution = await self.execution(execution_id)
        self._refuse_strangers(execution, [step])
        ended = _approved(by) if approve else _rejected(by)
        run_id = (await self._questions(execution)).get(step)
        if run_id is None or not await self._storage.runs.answer({run_id: ended}):
            raise InvalidRun(f'step "{step}" does not wait for an answer', hint=f"Look at: foliot show {execution_id}")

    async def _questions(self, execution: ExecutionView) -> dict[str, RunId]:
        """The runs of steps that ask a person. Other work that waits is not answered: it would never be done."""
        spec = (await self.get(execution.workflow_id, execution.version)).spec
        asking = {step.name for step in spec.steps if step.approval is not None}
        return {step.name: RunId(step.run_id) for step in execution.steps if step.run_id and step.name in asking}

    async def execution(self, execution_id: str) -> ExecutionView:
        found = await self.status(execution_id)
        if found is None:
            raise NotFound("execution", execution_id)
        return found

    async def status(self, execution_id: str) -> ExecutionView | None:
        """An execution with all its steps; None when there is none of that id."""
        run_id = RunId(execution_id)
        executions = await self._storage.executions.get([run_id])
        runs = await self._storage.runs.get([run_id])
        if run_id not in executions or run_id not in runs:
            return None
        return _view(executions[run_id], runs[run_id], await self._storage.executions.steps(run_id))

    async def active(self, *, workflow_id: str | None = None, limit: int = 100) -> list[ExecutionView]:
        """Executions that are not over, oldest first."""
        found = await self._storage.executions.active(workflow_id=workflow_id, limit=limit)
        views = [await self.status(execution.run_id) for execution in found]
        return [view for view in views if view is not None]

    async def _begin(self, workflow_id: str, start: Start, request: Request) -> RunId:
        extra = {"start": msgspec.to_builtins(start)}
        [created] = await self._desk.enqueue(workflow_id, [msgspec.structs.replace(request, extra=extra)])
        return created.run_id

    def _refuse_unfinished(self, execution: ExecutionView) -> None:
        if not Status(execution.status).is_terminal:
            raise InvalidRun(
                f"execution {execution.id} is not over", hint=f"Wait for it, or: foliot cancel {execution.id}"
            )

    def _refuse_strangers(self, execution: ExecutionView, steps: Sequence[str]) -> None:
        known = [step.name for step in execution.steps]
        for step in steps:
            if step not in known:
                raise NotFound("step", step, known=known)


def _came_with_it(schedule: Schedule) -> bool:
    return schedule.revision.spec.source == PART_SOURCE


def _is_stored(schedule_id: ScheduleId, spec: ScheduleSpec, stored: Mapping[ScheduleId, Schedule]) -> bool:
    return schedule_id in stored and is_same_rule(stored[schedule_id], canonical(spec, schedule_id))


def _owners(workflow_id: str, spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[tuple[str, str, str]]:
    """Who has a workflow of that name, and who wants it."""
    known = jobs.get(JobId(workflow_id))
    if known is not None and known.kind == GRAPH:
        yield workflow_id, known.source, spec.source


def _approved(by: str | None) -> Ended:
    return Ended(Status.SUCCESS, Reason.MARKED, output=msgspec.json.encode({"approved_by": by}))


def _rejected(by: str | None) -> Ended:
    return Ended(Status.FAILED, Reason.REJECTED, f"rejected by {by}" if by else "rejected")


def _view(execution: Execution, run: Run, steps: Sequence[StepRecord]) -> ExecutionView:
    return ExecutionView(
        id=execution.run_id,
        workflow_id=execution.workflow_id,
        version=execution.version,
        status=run.status,
        params=dict(execution.params),
        scheduled_for=None if execution.tick is None else to_datetime(execution.tick.scheduled_for),
        started_at=to_datetime(execution.opened_at),
        finished_at=None if run.finished_at is None else to_datetime(run.finished_at),
        error=run.error,
        steps=[_view_step(step) for step in steps],
    )


def _view_step(step: StepRecord) -> StepView:
    return StepView(
        name=step.name,
        result=step.state.result,
        status=step.status,
        run_id=step.state.run_id,
        reason=step.state.reason,
        blockers=list(step.state.blockers),
        cause=step.cause,
        error=step.error,
    )
