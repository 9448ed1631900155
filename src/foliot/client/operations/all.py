"""All operations on one client."""

from dataclasses import dataclass

from foliot.client.asynchronous import AsyncClient
from foliot.client.operations.commands import (
    HttpChains,
    HttpDsns,
    HttpEnrolments,
    HttpJobs,
    HttpRuns,
    HttpSchedules,
    HttpTokens,
    HttpUsers,
    HttpWorkflows,
)
from foliot.client.operations.logs import HttpLogs, HttpStepLogs
from foliot.client.operations.reads import (
    HttpAudit,
    HttpChainReads,
    HttpExplanations,
    HttpFanouts,
    HttpJobReads,
    HttpLedgers,
    HttpOverview,
    HttpRunReads,
    HttpScheduleReads,
    HttpStatus,
    HttpTicks,
    HttpWorkflowReads,
)
from foliot.service.queries.jobs import JobPage
from foliot.service.queries.runs import RunPage
from foliot.service.queries.schedules import SchedulePage


@dataclass(frozen=True)
class HttpReads:
    """Fills `foliot.service.operations.Reads`."""

    client: AsyncClient

    @property
    def runs(self) -> HttpRunReads:
        return HttpRunReads(self.client)

    @property
    def fanouts(self) -> HttpFanouts:
        return HttpFanouts(self.client)

    @property
    def chains(self) -> HttpChainReads:
        return HttpChainReads(self.client)

    @property
    def jobs(self) -> HttpJobReads:
        return HttpJobReads(self.client)

    @property
    def schedules(self) -> HttpScheduleReads:
        return HttpScheduleReads(self.client)

    @property
    def workflows(self) -> HttpWorkflowReads:
        return HttpWorkflowReads(self.client)

    @property
    def ticks(self) -> HttpTicks:
        return HttpTicks(self.client)

    @property
    def overview(self) -> HttpOverview:
        return HttpOverview(self.client)

    @property
    def status(self) -> HttpStatus:
        return HttpStatus(self.client)

    @property
    def explained(self) -> HttpExplanations:
        return HttpExplanations(self.client)

    @property
    def ledgers(self) -> HttpLedgers:
        return HttpLedgers(self.client)

    async def named(self, name: str) -> JobPage | SchedulePage | RunPage:
        found = await self.client.server.find(name)
        page = found.job or found.schedule or found.run
        assert page is not None, "the server answers with one of them, or with an error"
        return page

    def step_logs(self, execution_id: str) -> HttpStepLogs:
        return HttpStepLogs(self.client.runs, execution_id)


@dataclass(frozen=True)
class HttpOperations:
    """Fills `foliot.service.operations.Operations`."""

    client: AsyncClient

    @property
    def runs(self) -> HttpRuns:
        return HttpRuns(self.client)

    @property
    def jobs(self) -> HttpJobs:
        return HttpJobs(self.client)

    @property
    def schedules(self) -> HttpSchedules:
        return HttpSchedules(self.client)

    @property
    def workflows(self) -> HttpWorkflows:
        return HttpWorkflows(self.client)

    @property
    def chains(self) -> HttpChains:
        return HttpChains(self.client)

    @property
    def dsns(self) -> HttpDsns:
        return HttpDsns(self.client)

    @property
    def tokens(self) -> HttpTokens:
        return HttpTokens(self.client)

    @property
    def users(self) -> HttpUsers:
        return HttpUsers(self.client)

    @property
    def enrolments(self) -> HttpEnrolments:
        return HttpEnrolments(self.client)

    @property
    def audit(self) -> HttpAudit:
        return HttpAudit(self.client)

    @property
    def logs(self) -> HttpLogs:
        return HttpLogs(self.client.runs)

    @property
    def queries(self) -> HttpReads:
        return HttpReads(self.client)
