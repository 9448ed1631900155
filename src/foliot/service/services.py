"""An open storage and the services on it. `wiring` builds it."""

from dataclasses import dataclass

from foliot.domain.ids import IdSource
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.service.commands.chains import ChainService
from foliot.service.commands.dependencies import DependencyService
from foliot.service.commands.deploy import Deployer
from foliot.service.commands.dsns import DsnService
from foliot.service.commands.jobs import JobService
from foliot.service.commands.launches import LaunchService
from foliot.service.commands.maps import MapService
from foliot.service.commands.runs import RunService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.workflows import WorkflowService
from foliot.service.notifications.urls import UrlSecrets
from foliot.service.queries.all import Queries
from foliot.service.queries.logs import Logs


@dataclass(frozen=True, slots=True)
class Services:
    """All commands and queries."""

    storage: Storage
    clock: Clock
    ids: IdSource
    runs: RunService
    launches: LaunchService
    jobs: JobService
    schedules: ScheduleService
    workflows: WorkflowService
    maps: MapService
    dependencies: DependencyService
    deployer: Deployer
    dsns: DsnService
    chains: ChainService
    urls: UrlSecrets
    logs: Logs
    queries: Queries

    async def close(self) -> None:
        """Close the storage."""
        await self.storage.close()
