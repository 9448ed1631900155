"""Query results are plain values that can be written as JSON."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest

from foliot import Foliot
from foliot.service.services import Services
from foliot.testing.inline import InlineEngine

SECRET = "hush-hush"


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    app = Foliot()
    async with InlineEngine(app) as engine:
        steps = [
            {"name": "first", "command": "true", "queue": "unserved", "env": {"TOKEN": SECRET}},
            {"name": "second", "command": "true", "after": ["first"]},
        ]
        await app.workflows.deploy({"id": "flow", "params": {"password": SECRET}, "steps": steps})
        await app.schedules.upsert("often", job_id="flow.first", every=60)
        await app.workflows.start("flow")
        await engine.run_until_idle()
        yield await app.open()


PAGES: dict[str, Callable[[Services], Awaitable[Any]]] = {
    "execution": lambda services: services.queries.runs.page("flow@last"),
    "step": lambda services: services.queries.runs.page("flow.first@last"),
    "runs": lambda services: services.queries.runs.newest(),
    "job": lambda services: services.queries.jobs.page("flow.first"),
    "jobs": lambda services: services.queries.jobs.all(),
    "schedule": lambda services: services.queries.schedules.page("often"),
    "schedules": lambda services: services.queries.schedules.all(),
    "workflow": lambda services: services.queries.workflows.page("flow"),
    "workflows": lambda services: services.queries.workflows.all(),
    "active": lambda services: services.queries.workflows.active(),
    "overview": lambda services: services.queries.overview.page(),
}


@pytest.mark.parametrize("name", PAGES)
async def test_a_page_is_json(services: Services, name: str) -> None:
    page = await PAGES[name](services)

    assert json.loads(json.dumps(msgspec.to_builtins(page))) == msgspec.json.decode(msgspec.json.encode(page))


async def test_a_definition_is_shown_without_its_secrets(services: Services) -> None:
    job = (await services.queries.jobs.page("flow.first")).job
    workflow = await services.queries.workflows.page("flow")

    shown = msgspec.json.encode([job.spec, workflow.params, workflow.steps, workflow.document])

    assert SECRET.encode() not in shown


async def test_every_explanation_has_its_code(services: Services) -> None:
    page = msgspec.to_builtins(await services.queries.runs.page("flow@last"))

    assert page["why"]["code"] == "in_progress"
    first, second = page["execution"]["why_steps"].values()
    assert first == {"code": "no_worker", "queue": "unserved", "needs": ()}
    assert second == {"code": "waits_for_steps", "steps": ("first",)}
