"""An open storage and the services on it. `wiring` builds it."""

from collections.abc import Callable
from dataclasses import dataclass

from foliot.domain.access.actor import Actor
from foliot.domain.ids import IdSource
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.service.commands.audit import AuditService
from foliot.service.commands.chains import ChainService
from foliot.service.commands.channel import ChannelService
from foliot.service.commands.definitions import DefinitionService
from foliot.service.commands.dependencies import DependencyService
from foliot.service.commands.deploy import Deployer
from foliot.service.commands.dsns import DsnService
from foliot.service.commands.job_documents import JobDocumentService
from foliot.service.commands.jobs import JobService
from foliot.service.commands.launches import LaunchService
from foliot.service.commands.maps import MapService
from foliot.service.commands.requests import RequestService
from foliot.service.commands.runs import RunService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.tokens import TokenService
from foliot.service.commands.users import UserService
from foliot.service.commands.workflows import WorkflowService
from foliot.service.notifications.urls import UrlSecrets
from foliot.service.queries.all import Queries
from foliot.service.queries.logs import Logs
from foliot.service.workers.enrolments import EnrolmentService
from foliot.service.workers.work import WorkService


@dataclass(frozen=True, slots=True)
class Services:
    """All commands and queries. Changes are recorded with the actor of the storage."""

    storage: Storage
    clock: Clock
    ids: IdSource
    runs: RunService
    launches: LaunchService
    jobs: JobService
    job_documents: JobDocumentService
    schedules: ScheduleService
    workflows: WorkflowService
    maps: MapService
    dependencies: DependencyService
    deployer: Deployer
    definitions: DefinitionService
    dsns: DsnService
    channel: ChannelService
    chains: ChainService
    urls: UrlSecrets
    logs: Logs
    queries: Queries
    tokens: TokenService
    users: UserService
    requests: RequestService
    audit: AuditService
    enrolments: EnrolmentService
    work: WorkService
    build_for: Callable[[Actor], "Services"]
    """Builds the services of another actor, or returns those that were built before."""

    @property
    def actor(self) -> Actor:
        """Who makes the changes."""
        return self.storage.actor

    def acting_as(self, actor: Actor) -> "Services":
        """Return the same services for another actor: what they change is recorded as its changes."""
        return self.build_for(actor)

    async def close(self) -> None:
        """Close the storage."""
        await self.storage.close()
