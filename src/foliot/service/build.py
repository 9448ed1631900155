"""Builds the services of each actor on one open storage."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from foliot.domain.access.actor import Actor
from foliot.domain.access.login import FailureLimit
from foliot.domain.ids import IdSource
from foliot.ports.clock import Clock
from foliot.ports.secrets import Secrets
from foliot.ports.storage import Storage
from foliot.service.commands.audit import AuditService
from foliot.service.commands.chains import ChainService
from foliot.service.commands.channel import ChannelService
from foliot.service.commands.definitions import DefinitionService
from foliot.service.commands.dependencies import DependencyService
from foliot.service.commands.deploy import Deployer
from foliot.service.commands.documents import DocumentFormat
from foliot.service.commands.dsns import DsnService
from foliot.service.commands.job_documents import JobDocumentService
from foliot.service.commands.jobs import JobService
from foliot.service.commands.launches import LaunchService
from foliot.service.commands.maps import MapService
from foliot.service.commands.requests import RequestService
from foliot.service.commands.runs import RunService
from foliot.service.commands.schedules import DefaultLayers, ScheduleService
from foliot.service.commands.texts import TextFormat
from foliot.service.commands.tokens import TokenService
from foliot.service.commands.users import PasswordCheck, UserService
from foliot.service.commands.workflows import WorkflowService
from foliot.service.event_reader import EventReader
from foliot.service.notifications.urls import UrlSecrets
from foliot.service.queries.all import Queries
from foliot.service.queries.logs import Logs
from foliot.service.run_waiter import RunWaiter
from foliot.service.services import Services
from foliot.service.workers.enrolments import EnrolmentService
from foliot.service.workers.late import LateReports
from foliot.service.workers.log_check import LogCheck
from foliot.service.workers.signals import WorkerSignals
from foliot.service.workers.work import SharedWork, WorkService

_ACTORS: Final = 256
"""How many actors keep their services. On PostgreSQL the calls of one actor are saved together, if they share them."""


class ServiceParts(NamedTuple):
    """What the services of all actors share."""

    clock: Clock
    ids: IdSource
    keys: Secrets
    documents: DocumentFormat
    texts: TextFormat
    passwords: PasswordCheck
    default_layers: DefaultLayers
    failures: FailureLimit


def build_services_on(storage: Storage, parts: ServiceParts) -> Services:
    """Build every service, for the actor of the storage and, on demand, for others."""

    shared = SharedWork(LogCheck(storage.queries), WorkerSignals(storage, parts.clock), LateReports())

    @lru_cache(_ACTORS)
    def build_for(actor: Actor) -> Services:
        return _build(storage.acting_as(actor), parts, reader, shared, build_for)

    reader = EventReader(storage, parts.clock)
    return _build(storage, parts, reader, shared, build_for)


def _build(
    storage: Storage,
    parts: ServiceParts,
    reader: EventReader,
    shared: SharedWork,
    build_for: Callable[[Actor], Services],
) -> Services:
    clock, ids = parts.clock, parts.ids
    logs = Logs(storage, reader)
    waiter = RunWaiter(storage, clock, reader)
    dependencies = DependencyService(storage)
    urls = UrlSecrets(parts.keys)
    jobs = JobService(storage, clock, dependencies, urls, waiter)
    schedules = ScheduleService(storage, clock, ids, jobs, parts.default_layers)
    runs = RunService(storage, clock, ids, jobs, logs, waiter)
    workflows = WorkflowService(storage, clock, jobs, schedules, runs, parts.documents)
    return Services(
        storage=storage,
        clock=clock,
        ids=ids,
        runs=runs,
        launches=LaunchService(storage),
        jobs=jobs,
        job_documents=JobDocumentService(storage, clock, ids, jobs, schedules, parts.documents),
        schedules=schedules,
        workflows=workflows,
        maps=MapService(storage, clock, ids, jobs, reader),
        dependencies=dependencies,
        chains=ChainService(storage, clock),
        dsns=DsnService(storage, parts.keys),
        channel=ChannelService(storage, parts.keys),
        urls=urls,
        deployer=Deployer(storage, jobs, schedules, workflows, urls),
        definitions=DefinitionService(storage, clock, jobs, schedules, workflows, urls, parts.texts),
        logs=logs,
        queries=Queries.on(storage, clock, reader, logs, parts.documents),
        tokens=TokenService(storage, clock, ids, jobs),
        users=UserService(storage, clock, parts.passwords, parts.failures),
        requests=RequestService(storage, clock, ids),
        audit=AuditService(storage),
        enrolments=EnrolmentService(storage, clock, ids, parts.keys),
        work=WorkService(storage, clock, ids, parts.keys, shared),
        build_for=build_for,
    )
