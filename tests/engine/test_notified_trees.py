"""Executions of workflows and fanouts are notified as a whole; their parts only to targets of their own."""

from foliot import Foliot, Workflow
from foliot.domain.instant import SECOND
from foliot.domain.notification.rule import Notify
from foliot.domain.notification.settings import NotificationSettings
from foliot.ports.deliveries import Delivery
from foliot.service.notifications.planner import NotificationPlanner
from foliot.service.notifications.targets import Targets
from foliot.testing.inline import InlineEngine

SETTINGS = NotificationSettings(defaults=Notify(webhook_url="https://all.example"))


async def planned(app: Foliot) -> list[Delivery]:
    """Plan the notifications of all events so far."""
    services = await app.open()
    storage = services.storage
    planner = NotificationPlanner(storage, SETTINGS, Targets(storage, SETTINGS, services.urls))
    for event in await storage.queries.events(after=0, limit=1_000):
        await planner(event)
    return await storage.deliveries.take(1_000, lease=SECOND, per_receiver=1_000)


async def test_a_failed_execution_is_one_message_and_a_step_has_its_own_targets_only() -> None:
    app = Foliot()

    @app.job(webhook_url="https://own.example")
    async def load() -> None:
        raise ValueError("boom")

    @app.job
    async def check() -> None:
        raise ValueError("boom")

    flow = Workflow("flow")
    flow.step("load", job="load")
    flow.step("check", job="check")
    app.workflow(flow)
    async with InlineEngine(app) as engine:
        await app.workflows.start("flow")
        await engine.run_until_idle()

        sent = [(one.document["job_id"], one.owner) for one in await planned(app)]

    assert sorted(sent, key=str) == [("flow", None), ("load", "load")]


async def test_a_failed_fanout_is_one_message() -> None:
    app = Foliot()

    @app.job
    async def scan(item: int) -> None:
        raise ValueError("boom")

    async with InlineEngine(app) as engine:
        await app.start_map("scan", [1, 2, 3])
        await engine.run_until_idle()

        [sent] = await planned(app)

    assert sent.document["status"] == "failed"
    assert sent.owner is None
