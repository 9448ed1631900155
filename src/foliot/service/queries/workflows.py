"""Queries about workflows and their executions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from foliot.domain.chain.spec import CHAIN
from foliot.domain.deploy.deployment import FILE
from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.run.reference import read_reference
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.secrets import public_document
from foliot.domain.workflow.layout import Layout, edge_words, layout_of
from foliot.domain.workflow.spec import GRAPH, PART_SOURCE, Edge, Step
from foliot.errors import InvalidInput, NotFound, RowUnreadable
from foliot.ports.clock import Clock
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.pages import Matches, WorkflowDetails, WorkflowSummary
from foliot.ports.storage import Storage
from foliot.service.commands.documents import DocumentFormat
from foliot.service.paging import PAGE, each_of, workflow_id_of
from foliot.service.queries.executions import ExecutionPage, execution_page
from foliot.service.queries.job_view import kind_name
from foliot.service.queries.run_view import RunView, view_run
from foliot.service.queries.schedule_view import ScheduleView, view_listed_schedule
from foliot.service.references import References


class EdgeView(msgspec.Struct, frozen=True, kw_only=True):
    """An edge from `step`: its result must be one of `when`, and its output must pass the test."""

    step: str
    when: list[str]
    test: Any
    words: str
    """Both conditions in words, as in drawings."""


class WorkflowStepView(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    layer: int
    """Counted from 1: one more than the highest layer of its predecessors."""
    kind: str
    """One of approval, job (for a job that is defined elsewhere), or the kind of its own definition."""
    job: str | None
    is_final: bool
    recovers: bool
    """Its success makes up for the failure of a step before it."""
    is_paused: bool
    """Executions skip it."""
    after: list[EdgeView]


class WorkflowPage(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a workflow, with an execution of it if there is one."""

    id: str
    version: int
    description: str
    params: dict[str, Any]
    steps: list[WorkflowStepView]
    execution: ExecutionPage | None
    given: dict[str, Any] | None
    """The parameters of the execution, if they are not those of the version."""
    document: dict[str, Any] | None
    """The document that the workflow can be deployed from, without secrets; None if a step is a function."""
    drawing: Layout
    latest_run: RunView | None
    """The newest run of the workflow, which may be another one than `execution`."""


class ListedWorkflow(msgspec.Struct, frozen=True, kw_only=True):
    """The newest version of a workflow. An unreadable one has only a name and, as its description, the error."""

    id: str
    version: int | None
    description: str
    steps: int | None
    params: Mapping[str, Any] | None
    state: str
    """on, paused (every schedule is), disabled or unreadable."""
    latest_run: RunView | None
    next_run_at: datetime | None
    schedules: list[str]


class ListedVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a workflow. An unreadable one has only its number and, as its description, the error."""

    version: int
    description: str
    steps: int | None
    created_at: datetime | None


class WorkflowQueries:
    def __init__(self, storage: Storage, clock: Clock, documents: DocumentFormat) -> None:
        self._storage = storage
        self._documents = documents
        self._queries = storage.queries
        self._references = References(storage)
        self._clock = clock

    async def page(self, workflow_id: str, *, version: int | None = None, execution: str | None = None) -> WorkflowPage:
        """Return the given version or the newest, with the given execution or the newest. `execution` is a reference as
        for runs."""
        parsed = None if execution is None else read_reference(execution)
        found = await self._queries.workflow(workflow_id, version=version, execution=parsed)
        if found is None:
            raise await self._references.no_workflow(workflow_id)
        if execution is not None:
            await self._check_execution(found, execution, version)
        if found.version is None:
            hint = f"The newest version is {found.newest.version}."
            raise NotFound("workflow", f"{workflow_id} version {version}", hint=hint)
        return self._page(found, found.version)

    def _page(self, found: WorkflowDetails, version: WorkflowVersion) -> WorkflowPage:
        spec, shown = version.spec, found.execution
        if shown is not None and shown.execution.version != version.version:
            shown = None
        drawing = layout_of(spec.steps)
        layers = {name: number for number, layer in enumerate(drawing.layers, start=1) for name in layer}
        is_given = shown is not None and shown.execution.params != spec.params
        return WorkflowPage(
            id=version.workflow_id,
            version=version.version,
            description=spec.description,
            params=public_document(spec.params),
            steps=[view_step(step, layers[step.name], step.name in found.paused) for step in spec.steps],
            execution=None if shown is None else execution_page(shown, found.blockers),
            given=public_document(dict(shown.execution.params)) if shown is not None and is_given else None,
            document=self._documents.write_public(version.workflow_id, spec, _own_schedules(found.schedules)),
            drawing=drawing,
            latest_run=None if found.latest is None else view_run(found.latest),
        )

    async def _check_execution(self, found: WorkflowDetails, text: str, version: int | None) -> None:
        """Refuse a run that is not an execution of this workflow and version."""
        if isinstance(found.asked, Matches):
            raise await self._references.no_single_run(text, read_reference(text), found.asked)
        assert found.asked is not None
        execution = await self._references.checked_execution(found.asked, found.execution)
        if execution.workflow_id != found.newest.workflow_id:
            raise InvalidInput(
                f'run {execution.run_id} is an execution of "{execution.workflow_id}"',
                hint=f"Write: foliot workflows show {execution.workflow_id} --execution {execution.run_id}",
            )
        if version not in (None, execution.version):
            raise InvalidInput(
                f"execution {execution.run_id} is of version {execution.version}, not {version}",
                hint="Omit --version.",
            )

    async def listed(self, *, after: str | None = None, limit: int = 100) -> list[ListedWorkflow]:
        """Return workflows by id, those after `after`."""
        found = await self._queries.workflows(after=after, limit=limit)
        now = self._clock.now()
        return [_listed(summary, now) for summary in found]

    async def versions(self, workflow_id: str, *, before: int | None = None, limit: int = 100) -> list[ListedVersion]:
        """Return the versions of a workflow, newest first, those before `before`."""
        found = await self._queries.workflow_versions(workflow_id, before=before, limit=limit)
        if not found and await self._queries.workflow(workflow_id) is None:
            raise await self._references.no_workflow(workflow_id)
        return [_listed_version(number, version) for number, version in found.items()]

    async def all(self) -> list[ListedWorkflow]:
        """Return all workflows, read page by page."""
        pages = each_of(lambda after: self.listed(after=after, limit=PAGE), lambda listed: listed.id, full=PAGE)
        return [listed async for listed in pages]

    async def active(
        self, *, workflow_id: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[ExecutionPage]:
        """Return open executions, oldest first, those after `after`; with `workflow_id` those of this workflow, which
        must exist."""
        begin = None if after is None else RunId(after)
        found = await self._queries.executions(workflow_id=workflow_id, after=begin, limit=limit)
        if not found.executions and workflow_id is not None and await self._queries.workflow(workflow_id) is None:
            raise await self._references.no_workflow(workflow_id)
        return [execution_page(details, found.blockers) for details in found.executions]

    async def execution(self, execution_id: str) -> ExecutionPage | None:
        """Return an execution with its steps, or None if no execution has that id."""
        found = await self._queries.execution(RunId(execution_id))
        return execution_page(found.executions[0], found.blockers) if found.executions else None

    async def find_execution(self, reference: str) -> str:
        """Return the id of an execution, given as a run is: by its id, a part of it, `@last` or `WORKFLOW@last`."""
        return (await self._references.execution(reference)).id

    async def step_names(self, run_id: str) -> list[str] | None:
        """Return the step names of the execution or chain that a run is or will become, or None for any other run.

        The steps of a chain are named by their stages, with a number.
        """
        begun = (await self._queries.execution(RunId(run_id))).executions
        if begun:
            return [step.name for step in begun[0].steps]
        run = (await self._queries.get_runs([RunId(run_id)])).get(RunId(run_id))
        if run is None:
            raise NotFound("run", run_id)
        jobs = await self._storage.definitions.get_jobs([run.job_id])
        spec = jobs[run.job_id].spec if run.job_id in jobs else None
        if run.tree == CHAIN or (spec is not None and spec.kind == CHAIN):
            return [f"{stage}.1" for stage in (spec.spec.get("stages", {}) if spec is not None else {})]
        if spec is None or spec.kind != GRAPH:
            return None
        workflow = await self._queries.workflow(run.job_id)
        if workflow is None:
            raise await self._references.no_workflow(run.job_id)
        return [step.name for step in workflow.newest.spec.steps]


def view_step(step: Step, layer: int, is_paused: bool) -> WorkflowStepView:
    return WorkflowStepView(
        name=step.name,
        layer=layer,
        kind=_kind_of_step(step),
        job=step.job,
        is_final=step.is_final,
        recovers=step.recovers,
        is_paused=is_paused,
        after=[_view_edge(edge) for edge in step.after],
    )


def _kind_of_step(step: Step) -> str:
    if step.approval is not None:
        return "approval"
    if step.definition is not None:
        return kind_name(step.definition.kind)
    return "workflow" if step.is_subworkflow else "job"


def _view_edge(edge: Edge) -> EdgeView:
    test = None if edge.test is None else msgspec.to_builtins(edge.test)
    return EdgeView(step=edge.parent, when=sorted(edge.when), test=test, words=edge_words(edge) or "success")


def _own_schedules(schedules: Sequence[Schedule]) -> dict[ScheduleId, ScheduleSpec]:
    specs = {schedule.id: schedule.revision.spec for schedule in schedules}
    return {name: spec for name, spec in specs.items() if spec.source in (PART_SOURCE, FILE)}


def _listed(summary: WorkflowSummary, now: Instant) -> ListedWorkflow:
    version = summary.version
    schedules = [view_listed_schedule(schedule, now, summary.project_pause) for schedule in summary.schedules]
    coming = [one.next_run_at for one in schedules if one.next_run_at is not None and not one.paused]
    listed = ListedWorkflow(
        id=workflow_id_of(version),
        version=None,
        description="",
        steps=None,
        params=None,
        state=_state(version, schedules),
        latest_run=None if summary.latest is None else view_run(summary.latest),
        next_run_at=min(coming, default=None),
        schedules=[schedule.schedule_id for schedule in schedules],
    )
    if isinstance(version, RowUnreadable):
        return replace(listed, description=version.message)
    spec, params = version.spec, public_document(version.spec.params)
    return replace(listed, version=version.version, description=spec.description, steps=len(spec.steps), params=params)


def _listed_version(number: int, version: WorkflowVersion | RowUnreadable) -> ListedVersion:
    if isinstance(version, RowUnreadable):
        return ListedVersion(version=number, description=version.message, steps=None, created_at=None)
    return ListedVersion(
        version=number,
        description=version.spec.description,
        steps=len(version.spec.steps),
        created_at=to_datetime(version.created_at),
    )


def _state(version: WorkflowVersion | RowUnreadable, schedules: Sequence[ScheduleView]) -> str:
    if isinstance(version, RowUnreadable):
        return "unreadable"
    if not version.spec.enabled:
        return "disabled"
    return "paused" if schedules and all(schedule.is_paused for schedule in schedules) else "on"
