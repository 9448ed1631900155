"""Every command of every service is found in the audit trail, with its actor."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
import pytest

from foliot import Foliot, Workflow
from foliot.domain.access.actor import cli_actor
from foliot.domain.access.trail import AuditAction, AuditKind
from foliot.domain.deploy.deployment import Declared
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import HOUR
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.domain.workflow.spec import Approval, Step, WorkflowSpec
from foliot.service.commands.audit import AuditService
from foliot.service.commands.chains import ChainService
from foliot.service.commands.dependencies import DependencyService
from foliot.service.commands.deploy import Deployer
from foliot.service.commands.dsns import DsnService
from foliot.service.commands.jobs import JobService
from foliot.service.commands.launches import LaunchService
from foliot.service.commands.maps import MapService
from foliot.service.commands.requests import RequestService
from foliot.service.commands.run_request import RunRequest
from foliot.service.commands.runs import RunService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.tokens import TokenService
from foliot.service.commands.users import UserService
from foliot.service.commands.workflows import WorkflowService
from foliot.service.services import Services
from foliot.testing.inline import InlineEngine

TRUE: Final = JobSpec(kind="shell", spec={"command": "true"})
NIGHTLY: Final = ScheduleSpec(type=ScheduleType.CRON, expr="0 3 * * *", job_id=JobId("a"))
FLOW: Final = WorkflowSpec(steps=(Step(name="only", definition=TRUE),))
PASSWORD: Final = "correct horse battery"

SERVICES: Final[dict[str, type]] = {
    "runs": RunService,
    "launches": LaunchService,
    "jobs": JobService,
    "schedules": ScheduleService,
    "workflows": WorkflowService,
    "maps": MapService,
    "dependencies": DependencyService,
    "chains": ChainService,
    "deployer": Deployer,
    "dsns": DsnService,
    "tokens": TokenService,
    "users": UserService,
    "requests": RequestService,
    "audit": AuditService,
}
READS: Final = {
    *("runs.wait", "runs.get", "runs.page", "runs.attempts", "runs.logs", "runs.output", "runs.record"),
    *("runs.records", "runs.attempt_records", "jobs.is_running", "jobs.wait", "jobs.dependencies", "jobs.page"),
    *(
        "jobs.record",
        "jobs.prepare",
        "workflows.no_execution",
        "jobs.not_found",
        "jobs.refuse_missing",
        "jobs.refuse_needed",
        "schedules.prepare",
    ),
    *("schedules.get", "schedules.ticks", "schedules.record", "workflows.document", "workflows.check"),
    *("workflows.jobs_named", "workflows.execution", "workflows.status", "workflows.active", "workflows.records"),
    *("workflows.own_schedules", "workflows.exists"),
    *("workflows.record", "dependencies.of", "deployer.plan", "dsns.all", "dsns.find", "tokens.get", "tokens.page"),
    *("users.get", "users.all", "audit.page"),
}
NOT_WALKED: Final = {
    "tokens.record_refusal": "The system records it, whoever sent the token.",
    "launches.report": "An executor reports how a run goes, as a worker does.",
    "maps.start": "Only applications call it, and the runs of applications are not recorded.",
    "tokens.verify": "The last use of a token is stored with the token.",
    "users.verify_session": "The last use of a session is stored with the session.",
    "chains.stop": "It cancels the run of the chain, which is recorded like any other.",
    "chains.stop_class": "Its storage verb, `change_class`, is proved by the contract of chains.",
    "chains.resume_class": "As for stop_class.",
    "chains.reset": "As for stop_class.",
    "requests.begin": "The change that the request makes is recorded.",
    "requests.complete": "The change that the request makes is recorded.",
    "requests.abandon": "Nothing was changed.",
}


def public_commands() -> set[str]:
    """Return service.method of all coroutine functions of the command services."""
    found = {
        f"{name}.{method}"
        for name, kind in SERVICES.items()
        for method, function in inspect.getmembers(kind, inspect.iscoroutinefunction)
        if not method.startswith("_")
    }
    return found - READS - NOT_WALKED.keys()


class World:
    """An engine with some jobs and workflows, and the services of a person."""

    def __init__(self, engine: InlineEngine, services: Services) -> None:
        self.engine = engine
        self.services = services
        self.session = ""

    async def ended(self) -> str:
        """Return a run that has ended."""
        run_id = await self.services.runs.enqueue("a")
        await self.engine.join()
        return run_id

    async def waiting(self) -> str:
        """Return a run that has not started."""
        return await self.services.runs.enqueue("a", RunRequest(delay=3_600))

    async def asking(self) -> str:
        """Return an execution that waits for approval."""
        execution_id = await self.services.workflows.start("release")
        await self.engine.run_until_idle()
        return execution_id


Do = Callable[[World], Awaitable[Any]]
STEPS: list[tuple[str, str, Do]] = []


def step(name: str, entry: str) -> Callable[[Do], Do]:
    """Register what is done for a command, in order, and the entry that must follow: action, kind and id."""

    def register(do: Do) -> Do:
        STEPS.append((name, entry, do))
        return do

    return register


def simple(name: str, entry: str, /, *args: Any, **kwargs: Any) -> None:
    service, _, method = name.partition(".")

    async def do(world: World) -> None:
        await getattr(getattr(world.services, service), method)(*args, **kwargs)

    STEPS.append((name, entry, do))


simple("jobs.put", "create job x", {JobId("x"): TRUE})
simple("schedules.put", "create schedule s1", {ScheduleId("s1"): NIGHTLY})
simple("schedules.declare", "create schedule s2", {ScheduleId("s2"): NIGHTLY})
simple("schedules.upsert", "create schedule s3", "s3", job_id="a", cron="@daily")
simple("schedules.upsert_many", "create schedule s4", {"s4": {"job_id": "a", "cron": "@daily"}})
simple("schedules.pause", "pause schedule s1", "s1")
simple("schedules.resume", "resume schedule s1", "s1")
simple("schedules.pause_named", "pause schedule s2", "s2")
simple("schedules.pause_all", "pause project default")
simple("schedules.resume_all", "resume project default")
simple("schedules.delete", "delete schedule s3", "s3")
simple("jobs.pause", "pause job x", "x")
simple("jobs.resume", "resume job x", "x")
simple("jobs.add_dependency", "create dependency x/a", "x", "a")
simple("jobs.remove_dependency", "delete dependency x/a", "x", "a")
simple("dependencies.add", "create dependency x/a", "x", "a", "failure")
simple("dependencies.remove", "delete dependency x/a", "x", "a")
simple("jobs.delete", "delete job x", "x")
simple("runs.enqueue", "trigger run", "a")
simple("runs.enqueue_many", "trigger run", "a", [1, 2])
simple("runs.create", "trigger run", "a", RunRequest(), [None])
simple("workflows.start", "trigger run", "release")
simple("workflows.trigger", "trigger run", "a", RunRequest())
simple("workflows.pause_step", "pause step release/ship", "release", "ship")
simple("workflows.resume_step", "resume step release/ship", "release", "ship")
simple("dsns.add", "create dsn main", "main", "sqlite:////srv/x.db")
simple("dsns.remove", "delete dsn main", "main")
simple("tokens.create", "create token ci", role="viewer", name="ci")
simple("tokens.revoke", "revoke token ci", "ci")
simple("users.add", "create user anna", "anna", PASSWORD, role="viewer")
simple("users.set_password", "password user anna", "anna", PASSWORD)
simple("audit.record", "refuse token x", AuditAction.REFUSE, AuditKind.TOKEN, "x")


@step("users.log_in", "login user anna")
async def log_in(world: World) -> None:
    world.session = (await world.services.users.log_in("anna", PASSWORD, "10.0.0.1")).secret


@step("users.log_out", "logout user anna")
async def log_out(world: World) -> None:
    await world.services.users.log_out(world.session)


simple("users.remove", "delete user anna", "anna")


@step("runs.cancel", "cancel run")
async def cancel(world: World) -> None:
    await world.services.runs.cancel(await world.waiting())


@step("runs.cancel_many", "cancel run")
async def cancel_many(world: World) -> None:
    await world.services.runs.cancel_many([await world.waiting()])


@step("runs.cancel_all", "cancel run")
async def cancel_all(world: World) -> None:
    await world.services.runs.enqueue("failing", RunRequest(delay=3_600))
    await world.services.runs.cancel_all("failing", status="scheduled", confirm=True)


@step("runs.mark", "mark run")
async def mark(world: World) -> None:
    await world.services.runs.mark(await world.waiting())


@step("runs.retry", "trigger run")
async def retry(world: World) -> None:
    await world.services.runs.retry(await world.ended())


@step("runs.retry_failed", "trigger run")
async def retry_failed(world: World) -> None:
    run_id = await world.services.maps.start("failing", [1, 2], {})
    await world.engine.run_until_idle()
    await world.services.runs.retry_failed(run_id)


@step("workflows.approve", "approve run")
async def approve(world: World) -> None:
    await world.services.workflows.approve(await world.asking(), "ask")


@step("workflows.reject", "reject run")
async def reject(world: World) -> None:
    await world.services.workflows.reject(await world.asking(), "ask")


@step("workflows.mark_step", "mark run")
async def mark_step(world: World) -> None:
    await world.services.workflows.mark_step(await world.asking(), "ask")


@step("workflows.rerun", "trigger run")
async def rerun(world: World) -> None:
    execution_id = await world.asking()
    await world.services.workflows.reject(execution_id, "ask")
    await world.engine.run_until_idle()
    await world.services.workflows.rerun(execution_id)


simple("workflows.put", "create workflow flow", {"flow": FLOW})
simple("deployer.apply", "create job filed", Declared(jobs={JobId("filed"): TRUE}))


@step("workflows.deploy", "create workflow doc")
async def deploy(world: World) -> None:
    document = await world.services.workflows.document("release")
    await world.services.workflows.deploy(msgspec.json.encode({**document, "id": "doc"}))


simple("workflows.delete", "delete workflow doc", "doc")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Foliot:
    monkeypatch.setenv("FOLIOT_SECRET_KEY", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
    app = Foliot()
    app.shell("a", "true")
    app.shell("failing", "false")
    flow = Workflow("release")
    flow.step("ask", approve=Approval(timeout=HOUR))
    flow.step("ship", shell="true").after("ask")
    app.workflow(flow)
    return app


def test_every_command_is_carried_out_below() -> None:
    assert {name for name, _, _ in STEPS} == public_commands()


@pytest.mark.proves("Z47")
async def test_every_command_is_in_the_trail_with_its_actor(engine: InlineEngine, app: Foliot) -> None:
    services = (await app.open()).acting_as(cli_actor("anna"))
    world = World(engine, services)
    for name, entry, do in STEPS:
        known = {one.cursor for one in await services.audit.page(limit=1_000)}
        await do(world)
        new = [one for one in await services.audit.page(limit=1_000) if one.cursor not in known]
        actors = {"user:anna", "cli:anna"} if name == "users.log_in" else {"cli:anna"}
        found = [f"{one.action} {one.kind} {one.id}" for one in new if one.actor in actors]
        assert any(f"{one} ".startswith(f"{entry} ") for one in found), (name, found)
        await engine.run_until_idle()
