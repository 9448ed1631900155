"""Lists and pages by HTTP."""

from collections.abc import Callable, Collection
from datetime import datetime

from foliot.client.asynchronous import AsyncClient
from foliot.client.operations.listing import MOST, all_items, first_items
from foliot.domain.run.run import Status
from foliot.domain.schedule.tick import TickOutcome
from foliot.domain.tree.run_kind import RunKind
from foliot.service import answers
from foliot.service.commands.audit import AuditView
from foliot.service.path import ExplainedPath
from foliot.service.queries.chain_view import ChainDetailView, ChainView, ClassView
from foliot.service.queries.executions import ExecutionPage
from foliot.service.queries.fanout_view import FanoutItemsView, FanoutView, ItemView
from foliot.service.queries.job_view import JobView
from foliot.service.queries.jobs import JobListItem
from foliot.service.queries.overview import OverviewPage
from foliot.service.queries.run_view import RunView
from foliot.service.queries.runs import RunPage
from foliot.service.queries.schedule_view import ScheduleView, TickView
from foliot.service.queries.status import StatusPage
from foliot.service.queries.verified import Verified
from foliot.service.queries.workflows import ListedWorkflow, WorkflowPage


class HttpAudit:
    def __init__(self, client: AsyncClient) -> None:
        self._audit = client.audit

    async def page(
        self,
        *,
        actor: str | None = None,
        id: str | None = None,  # noqa: A002 - the name of the field
        since: datetime | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[AuditView]:
        return await first_items(
            limit,
            lambda size, cursor: self._audit.page(
                limit=size, cursor=cursor, actor=actor, id=id, since=since, before=before
            ),
        )


class HttpRunReads:
    def __init__(self, client: AsyncClient) -> None:
        self._runs = client.runs

    async def named(self, reference: str) -> RunView:
        return await self._runs.find(reference)

    async def page(self, reference: str) -> RunPage:
        return await self._runs.show(reference)

    async def unserved_queue(self, run_id: str) -> str | None:
        return await self._runs.unserved_queue(run_id)

    async def newest(
        self,
        *,
        job: str | None = None,
        schedule: str | None = None,
        status: Status | None = None,
        root: str | None = None,
        failed: bool = False,
        since: datetime | None = None,
        kind: RunKind | None = None,
        parent: str | None = None,
        children: bool = False,
        limit: int = 100,
    ) -> list[RunView]:
        return await first_items(
            limit,
            lambda size, cursor: self._runs.page(
                limit=size,
                cursor=cursor,
                job_id=job,
                schedule_id=schedule,
                status=status,
                root_run_id=root,
                failed=failed,
                since=since,
                kind=kind,
                parent_run_id=parent,
                children=children,
            ),
        )


class HttpFanouts:
    def __init__(self, client: AsyncClient) -> None:
        self._runs = client.runs

    async def progress(self, run_id: str) -> FanoutView | None:
        return (await self._runs.show(run_id)).fanout

    async def items(
        self,
        run_id: str,
        *,
        after: int | None = None,
        failed: bool = False,
        pattern: str | None = None,
        limit: int = 100,
    ) -> FanoutItemsView:
        found: list[ItemView] = []
        while True:
            size = min(MOST, limit - len(found))
            part = await self._runs.items(run_id, after=after, failed=failed, pattern=pattern, limit=size)
            found += part.items
            after = part.next_after
            # A page that is not full was ended early by the server: the caller decides whether to continue.
            if after is None or len(found) >= limit or len(part.items) < size:
                return FanoutItemsView(fanout_id=run_id, items=found, next_after=after)

    async def item(self, run_id: str, item: str) -> ItemView:
        return await self._runs.item(run_id, item)


class HttpChainReads:
    def __init__(self, client: AsyncClient) -> None:
        self._chains = client.chains

    async def classes(self) -> list[ClassView]:
        return await self._chains.classes()

    async def page(self, *, class_id: str | None = None, limit: int = 20) -> list[ChainView]:
        return await first_items(
            limit, lambda size, cursor: self._chains.page(limit=size, cursor=cursor, class_id=class_id)
        )

    async def open(self, *, class_id: str | None = None, limit: int = 100) -> list[ChainView]:
        return await first_items(
            limit, lambda size, cursor: self._chains.page(limit=size, cursor=cursor, class_id=class_id, is_open=True)
        )

    async def get(self, name: str) -> ChainDetailView:
        return await self._chains.get(name)


class HttpJobReads:
    def __init__(self, client: AsyncClient) -> None:
        self._jobs = client.jobs

    async def listed(self, *, limit: int = 100) -> list[JobListItem]:
        found = await first_items(limit, lambda size, cursor: self._jobs.page(limit=size, cursor=cursor, hidden=True))
        return [_listed(job) for job in found]

    async def all(self) -> list[JobListItem]:
        found = await all_items(lambda size, cursor: self._jobs.page(limit=size, cursor=cursor, hidden=True))
        return [_listed(job) for job in found]


class HttpScheduleReads:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def listed(self, *, limit: int = 100) -> list[ScheduleView]:
        return await first_items(limit, lambda size, cursor: self._client.schedules.page(limit=size, cursor=cursor))

    async def all(self, job_id: str | None = None) -> list[ScheduleView]:
        found = await all_items(
            lambda size, cursor: self._client.schedules.page(limit=size, cursor=cursor, job_id=job_id)
        )
        if not found and job_id is not None:
            await self._client.jobs.show(job_id)  # the job must exist
        return found


class HttpWorkflowReads:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def page(self, workflow_id: str, *, version: int | None = None, execution: str | None = None) -> WorkflowPage:
        return await self._client.workflows.get(workflow_id, version=version, execution=execution)

    async def all(self) -> list[ListedWorkflow]:
        return await all_items(lambda size, cursor: self._client.workflows.page(limit=size, cursor=cursor))

    async def active(self, *, workflow_id: str | None = None, limit: int = 100) -> list[ExecutionPage]:
        executions = self._client.executions
        return await first_items(
            limit, lambda size, cursor: executions.page(limit=size, cursor=cursor, workflow_id=workflow_id)
        )

    async def find_execution(self, reference: str) -> str:
        return await self._client.executions.find(reference)

    async def step_names(self, run_id: str) -> list[str] | None:
        return await self._client.runs.step_names(run_id)


class HttpTicks:
    def __init__(self, client: AsyncClient) -> None:
        self._ticks = client.ticks

    async def newest(
        self,
        name: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        outcomes: Collection[TickOutcome] = (),
        has_failed_run: bool = False,
        limit: int = 50,
    ) -> list[TickView]:
        return await first_items(
            limit,
            lambda size, cursor: self._ticks.page(
                limit=size,
                cursor=cursor,
                name=name,
                since=since,
                until=until,
                outcomes=",".join(outcomes) or None,
                failed=has_failed_run,
            ),
        )


class HttpOverview:
    def __init__(self, client: AsyncClient) -> None:
        self._server = client.server

    async def page(self) -> OverviewPage:
        return await self._server.overview()


class HttpStatus:
    def __init__(self, client: AsyncClient) -> None:
        self._server = client.server

    async def page(self) -> StatusPage:
        return await self._server.status()


class HttpExplanations:
    def __init__(self, client: AsyncClient) -> None:
        self._server = client.server

    async def run(self, reference: str) -> ExplainedPath:
        return await self._server.explain(reference)

    async def tick(self, schedule_id: str, at: datetime) -> ExplainedPath:
        return await self._server.explain(schedule=schedule_id, at=at)


class HttpLedgers:
    def __init__(self, client: AsyncClient) -> None:
        self._server = client.server

    async def verified(self, since: datetime, *, progress: Callable[[int, int], None]) -> Verified:
        return await self._server.verify(since)


def _listed(job: answers.ListedJob) -> JobListItem:
    fields = {name: getattr(job, name) for name in JobView.__struct_fields__}
    return JobListItem(job=JobView(**fields), schedules=job.schedules)
