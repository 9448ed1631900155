"""Commands on workflows: put, deploy, delete, and pause steps; and on their executions: start, rerun, mark, answer."""

import logging
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from foliot.domain.access.actor import ActorKind
from foliot.domain.deploy.deployment import FILE, Declared
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.input.words import flag, text
from foliot.domain.job.job import JobSpec
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.schedule.edit import is_stored
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.domain.workflow.builder import StepBuilder, Workflow, whole_workflow
from foliot.domain.workflow.check import check_workflow
from foliot.domain.workflow.jobs import GRAPH, PART_SOURCE, jobs_of, jobs_of_all, related_jobs
from foliot.domain.workflow.recursion import jobs_started_by, jobs_started_by_job, recursion_in
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.domain.workflow.start import ExecutionStart, read_params
from foliot.errors import (
    InvalidInput,
    InvalidRun,
    InvalidSchedule,
    InvalidWorkflow,
    NotFound,
    RowUnreadable,
    WrongState,
)
from foliot.ports.clock import Clock
from foliot.ports.definitions import Deployment, WorkflowVersion
from foliot.ports.storage import Storage
from foliot.service.commands.documents import Document, DocumentFormat
from foliot.service.commands.jobs import JobService
from foliot.service.commands.name_conflicts import NameConflicts
from foliot.service.commands.ownership import refuse_foreign, refuse_owned
from foliot.service.commands.reruns import RerunPlanner
from foliot.service.commands.run_request import RunRequest
from foliot.service.commands.runs import RunService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.paging import (
    SUGGESTIONS,
    known_jobs,
    page_of_jobs,
    page_of_workflows,
    stored_schedules,
)
from foliot.service.queries.execution_view import ExecutionView, view_execution
from foliot.service.references import References

log = logging.getLogger(__name__)


class DeployedWorkflow(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a deployment. A workflow equal to the stored one keeps its version."""

    workflow_id: str
    version: int
    schedules: list[str]
    """The ids of the schedules deployed with it."""
    warnings: list[str]


class WorkflowService:
    """Creates and changes workflows and their executions."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        jobs: JobService,
        schedules: ScheduleService,
        runs: RunService,
        documents: DocumentFormat,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._jobs = jobs
        self._schedules = schedules
        self._runs = runs
        self._documents = documents

    async def put(self, workflows: Mapping[str, WorkflowSpec]) -> dict[str, WorkflowVersion]:
        """Store workflows with the jobs of their steps, all or none. An equal workflow changes nothing."""
        await self.check(workflows)
        return await self._storage.definitions.deploy(Deployment(workflows))

    async def deploy(self, document: Document) -> DeployedWorkflow:
        """Store a workflow given as a JSON document, with its schedules, as its newest version.

        Its schedules, `schedule_based` triggers included, are created, changed or deleted with it; their default
        policies are those of `schedules.upsert`. An invalid document raises InvalidDocument with every problem, each
        with its JSON path.
        """
        tree = self._documents.open(document)
        jobs = await self.jobs_named(self._documents.job_names(tree))
        read = self._documents.read(tree, jobs, self._clock.now(), self._schedules.defaults)
        await self.check({read.id: read.spec})
        await self._refuse_taken(read.id, read.schedules)
        stored = {one.id: one async for one in stored_schedules(self._storage, read.id)}
        wanted = {
            name: one for name, one in read.schedules.items() if name not in read.past or is_stored(name, one, stored)
        }
        gone = [name for name, one in stored.items() if _was_deployed(one) and name not in wanted]
        new = await self._schedules.prepare(wanted)
        versions = await self._storage.definitions.deploy(Deployment({read.id: read.spec}, new, gone))
        return DeployedWorkflow(
            workflow_id=read.id, version=versions[read.id].version, schedules=[*wanted], warnings=[*read.warnings]
        )

    async def document(self, workflow_id: str, *, version: int | None = None) -> dict[str, Any]:
        """Return a workflow as a document for `deploy`, including its secrets."""
        found = await self.record(workflow_id, version)
        return self._documents.write(workflow_id, found.spec, await self.own_schedules(workflow_id))

    async def delete(self, workflow_id: str, *, force: bool = False) -> list[ScheduleId]:
        """Delete a workflow with its schedules and the jobs of its steps, and return the ids of these schedules.

        Executions that have not begun are cancelled, open ones go on, and history is kept. Deployed again, the
        workflow continues with the next version. `force` also deletes one that a file or an application defined.
        """
        flag(force, "force", InvalidInput)
        try:
            newest = await self.record(workflow_id)
        except RowUnreadable:
            # The owner of an unreadable row is not known, so only `force` deletes it.
            if not force:
                raise
        else:
            refuse_owned("workflow", workflow_id, newest.spec.source, force=force)
        behind = await self._storage.definitions.jobs_behind(workflow_id)
        await self._jobs.refuse_needed(behind.jobs)
        schedules = [schedule.id async for schedule in stored_schedules(self._storage, JobId(workflow_id))]
        if not await self._storage.definitions.delete_workflows([workflow_id]):
            raise NotFound("workflow", workflow_id)
        for name in sorted(behind.doubtful):
            log.warning("job_kept", extra={"job": name, "workflow": workflow_id, "reason": "unreadable"})
        return schedules

    async def pause_step(self, workflow_id: str, step: str, paused: bool = True) -> None:
        """Pause a step, so that executions skip it, or resume it."""
        flag(paused, "paused")
        text(step, "step", InvalidInput)
        version = await self.record(workflow_id)
        names = [known.name for known in version.spec.steps]
        if step not in names:
            raise NotFound("step", step, known=names)
        await self._storage.definitions.pause_step(workflow_id, step, paused=paused)

    async def resume_step(self, workflow_id: str, step: str) -> None:
        """Resume a paused step."""
        await self.pause_step(workflow_id, step, paused=False)

    async def check(self, workflows: Mapping[str, WorkflowSpec], declared: Declared | None = None) -> None:
        """Refuse workflows that cannot be executed. `declared` is everything that is stored together with them."""
        new = declared or Declared(workflows=workflows)
        new_ids = new.jobs.keys() | jobs_of_all(new.workflows)
        conflicts = NameConflicts(self._storage, new.workflows)
        new_jobs, new_workflows = dict(new.jobs), _as_jobs(new.workflows)
        for workflow_id, spec in workflows.items():
            stored = await self.jobs_named(related_jobs(workflow_id, spec), besides=new_ids)
            refuse_foreign("workflow", _owners(workflow_id, spec, ChainMap(new_jobs, stored)))
            taken = await conflicts.taken(workflow_id, spec)
            # A gate may depend on a step of a new workflow, which is a job without a definition of its own.
            watchable: ChainMap[JobId, Any] = ChainMap(dict.fromkeys(new_ids), stored)
            jobs = ChainMap(new_workflows, new_jobs, stored)
            check_workflow(workflow_id, spec, jobs, watchable=watchable, taken=taken)
        await self._refuse_recursion(workflows, new)

    async def _refuse_recursion(self, workflows: Mapping[str, WorkflowSpec], new: Declared) -> None:
        """Refuse workflows that would start themselves, through others that are stored or stored with them."""
        started = {JobId(name): jobs_started_by(spec) for name, spec in new.workflows.items()}
        started |= {job_id: jobs_started_by_job(spec) for job_id, spec in new.jobs.items()}
        while missing := {name for names in started.values() for name in names} - started.keys():
            started |= {name: set() for name in missing}
            for job_id, job in (await known_jobs(self._storage, missing)).items():
                started[job_id] = jobs_started_by_job(job.spec)
            found = await self._storage.definitions.get_workflows([(name, None) for name in missing])
            started |= {JobId(version.workflow_id): jobs_started_by(version.spec) for version in found.values()}
        for name, problem in recursion_in(started).items():
            if name in workflows:
                raise InvalidWorkflow(name, [problem])

    async def jobs_named(self, names: Collection[JobId], besides: Collection[JobId] = ()) -> dict[JobId, JobSpec]:
        """Return the named jobs that exist; if one is missing, also other jobs, to suggest a similar name."""
        others = set(names).difference(besides)
        found = await self._storage.definitions.get_jobs(others)
        if others - found.keys():
            page = await page_of_jobs(self._storage, None, SUGGESTIONS)
            found = {job.id: job for job in page if not isinstance(job, RowUnreadable)} | found
        # A job that cannot be read may be replaced.
        found |= await known_jobs(self._storage, set(names).intersection(besides))
        return {job_id: job.spec for job_id, job in found.items()}

    async def _refuse_taken(self, workflow_id: str, schedules: Mapping[ScheduleId, ScheduleSpec]) -> None:
        """Refuse schedule ids that another job or workflow uses."""
        for schedule_id, known in (await self._storage.definitions.get_schedules(schedules)).items():
            # A schedule without a readable target may be replaced.
            if known.revision.spec.target not in ("", workflow_id):
                raise InvalidSchedule(
                    f'schedule "{schedule_id}" belongs to "{known.revision.spec.target}"',
                    hint="Delete that one, or give the schedule of the workflow another name.",
                    field="name",
                )

    async def start(
        self,
        workflow: str | Workflow | StepBuilder,
        params: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        user_id: str | None = None,
        idempotency_key: str | None = None,
        request: RunRequest | None = None,
    ) -> RunId:
        """Start an execution of the newest version, or of the given one, and return its id."""
        workflow_id = workflow if isinstance(workflow, str) else whole_workflow(workflow).id
        found = await self.record(workflow_id, version)
        read_params(found.spec, params)
        start = ExecutionStart(version=found.version, user_id=user_id, idempotency_key=idempotency_key)
        return await self._begin(workflow_id, start, replace(request or RunRequest(), payload=params))

    async def trigger(self, name: str, request: RunRequest) -> RunId:
        """Start the workflow of that name, with the payload as its parameters, or else enqueue the job of that name."""
        if await self.exists(name):
            return await self.start(name, request.payload, request=request)
        return await self._runs.enqueue(name, request)

    async def rerun(self, execution_id: str, *steps: str, same_version: bool = False) -> RunId:
        """Start a new execution that repeats the given steps of an ended one, by default the failed ones, and all steps
        after them.

        It keeps the results of the other steps. It uses the newest version, which must have the steps whose results are
        kept, or with `same_version` the version of the ended execution.
        """
        named = [text(step, "step", InvalidInput) for step in steps]
        flag(same_version, "same_version", InvalidInput)
        return await self._rerun(await self.execution(execution_id), named, same_version=same_version)

    async def mark_step(self, execution_id: str, step: str) -> RunId:
        """Count a step as a success, and return the id of the execution that continues: the same, or a new one.

        A waiting step succeeds immediately. If the execution has ended, a new one of the same version continues after
        the step.
        """
        text(step, "step", InvalidInput)
        execution = await self.execution(execution_id)
        _refuse_unknown_steps(execution, [step])
        state = next(known for known in execution.steps if known.name == step)
        if state.result is None and state.run_id is not None:
            await self._runs.mark(state.run_id)
            return RunId(execution.id)
        return await self._rerun(execution, marked=[step])

    async def approve(self, execution_id: str, step: str, *, by: str | None = None) -> None:
        """Approve a step that waits for a person. `by` is the name of the person, by default the actor."""
        person = by or str(self._storage.actor)
        ended = Ended(Status.SUCCESS, Reason.MARKED, output=msgspec.json.encode({"approved_by": person}))
        await self._answer(execution_id, step, ended)

    async def reject(self, execution_id: str, step: str, *, by: str | None = None) -> None:
        """Reject a step that waits for a person. The step fails."""
        person = by or str(self._storage.actor)
        await self._answer(execution_id, step, Ended(Status.FAILED, Reason.REJECTED, f"rejected by {person}"))

    async def _answer(self, execution_id: str, step: str, ended: Ended) -> None:
        text(step, "step", InvalidInput)
        execution = await self.execution(execution_id)
        _refuse_unknown_steps(execution, [step])
        run_id = (await self._approvals(execution)).get(step)
        if run_id is None or not await self._storage.orders.answer({run_id: ended}):
            raise WrongState(f'step "{step}" does not wait for approval', hint=f"See: foliot show {execution_id}")

    async def _approvals(self, execution: ExecutionView) -> dict[str, RunId]:
        """Return the runs of approval steps. Other waiting runs cannot be answered, since their work must be done."""
        spec = (await self.record(execution.workflow_id, execution.version)).spec
        asking = {step.name for step in spec.steps if step.approval is not None}
        return {step.name: RunId(step.run_id) for step in execution.steps if step.run_id and step.name in asking}

    async def _rerun(
        self,
        before: ExecutionView,
        steps: Collection[str] = (),
        *,
        marked: Collection[str] = (),
        same_version: bool = True,
    ) -> RunId:
        _refuse_open(before)
        old = await self.record(before.workflow_id, before.version)
        new = old if same_version else await self.record(before.workflow_id)
        start, params = await RerunPlanner(self._storage).plan(before, old, new, steps, marked)
        return await self._begin(before.workflow_id, start, self._by_hand(params))

    def _by_hand(self, params: dict[str, Any]) -> RunRequest:
        request = RunRequest(payload=params or None)
        return replace(request, trigger="cli") if self._storage.actor.kind is ActorKind.CLI else request

    async def _begin(self, workflow_id: str, start: ExecutionStart, request: RunRequest) -> RunId:
        return await self._runs.enqueue(workflow_id, replace(request, extra={"start": msgspec.to_builtins(start)}))

    async def execution(self, execution_id: str) -> ExecutionView:
        """Return an execution with all its steps. Raise NotFound if it does not exist."""
        found = await self.status(execution_id)
        if found is None:
            raise await self.no_execution(execution_id)
        return found

    async def no_execution(self, execution_id: str) -> NotFound | WrongState:
        """Return why there is no such execution: it does not exist, or its run waits for a coordinator."""
        run = (await self._storage.queries.get_runs([RunId(execution_id)])).get(RunId(execution_id))
        if run is None or run.status.is_terminal or kind_of(run) is not RunKind.EXECUTION:
            return NotFound("execution", execution_id)
        hint = f"A coordinator opens it, usually at once. See: foliot show {execution_id}"
        return WrongState(f"execution {execution_id} has not begun: its run is {run.status}", hint=hint)

    async def status(self, execution_id: str) -> ExecutionView | None:
        """Return an execution with all its steps, or None if it does not exist."""
        run_id = RunId(text(execution_id, "execution_id", InvalidInput))
        found = (await self._storage.queries.execution(run_id)).executions
        return view_execution(found[0]) if found else None

    async def active(self, workflow_id: str | None = None, *, limit: int = 100) -> list[ExecutionView]:
        """Return up to `limit` open executions, of one workflow or of all, oldest first."""
        name = None if workflow_id is None else text(workflow_id, "workflow_id", InvalidInput)
        found = await self._storage.queries.executions(workflow_id=name, limit=limit)
        return [view_execution(details) for details in found.executions]

    async def own_schedules(self, workflow_id: str) -> dict[ScheduleId, ScheduleSpec]:
        """Return the schedules that were defined with a workflow, without those added by hand."""
        found = {one.id: one.revision.spec async for one in stored_schedules(self._storage, JobId(workflow_id))}
        return {name: spec for name, spec in found.items() if spec.source in (PART_SOURCE, FILE)}

    async def exists(self, workflow_id: str) -> bool:
        return bool(await self._storage.definitions.get_workflows([(workflow_id, None)]))

    async def record(self, workflow_id: str, version: int | None = None) -> WorkflowVersion:
        """Return the newest version of a workflow, or the given one, as it is stored."""
        key = (text(workflow_id, "workflow_id", InvalidInput), version)
        found = await self._storage.definitions.get_workflows([key])
        if key not in found:
            raise await self._not_found(workflow_id, version)
        return found[key]

    async def records(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowVersion | RowUnreadable]:
        """Return the newest version of each workflow, by id, or the error of one that cannot be read."""
        return await page_of_workflows(self._storage, after, limit)

    async def _not_found(self, workflow_id: str, version: int | None) -> NotFound:
        if version is not None and await self.exists(workflow_id):
            newest = (await self.record(workflow_id)).version
            return NotFound("workflow", f"{workflow_id} version {version}", hint=f"The newest version is {newest}.")
        return await References(self._storage).no_workflow(workflow_id)


def _was_deployed(schedule: Schedule) -> bool:
    return schedule.revision.spec.source == PART_SOURCE


def _owners(workflow_id: str, spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec]) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the stored owner and the new owner, if a workflow of that name is stored."""
    known = jobs.get(JobId(workflow_id))
    if known is not None and known.kind == GRAPH:
        yield workflow_id, known.source, spec.source


def _refuse_open(execution: ExecutionView) -> None:
    if not Status(execution.status).is_terminal:
        raise InvalidRun(
            f"execution {execution.id} has not ended",
            hint=f"Wait for it, or cancel it with: foliot cancel {execution.id}",
        )


def _refuse_unknown_steps(execution: ExecutionView, steps: Sequence[str]) -> None:
    known = [step.name for step in execution.steps]
    for step in steps:
        if step not in known:
            raise NotFound("step", step, known=known)


def _as_jobs(workflows: Mapping[str, WorkflowSpec]) -> dict[JobId, JobSpec]:
    """Return the workflows that are stored together as jobs, so that steps can name them."""
    return {JobId(name): jobs_of(name, 0, spec)[JobId(name)] for name, spec in workflows.items()}
