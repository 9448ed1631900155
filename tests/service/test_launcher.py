"""The service launcher starts a version of a workflow, or a job."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from foliot import Foliot, current_run
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.plan import definition_of
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidInput
from foliot.service.queries.execution_view import ExecutionView
from foliot.testing.inline import InlineEngine

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def engine() -> AsyncIterator[InlineEngine]:
    """An engine with a job and a workflow in two versions."""
    app = Foliot()
    app.shell("backup", "true")
    async with InlineEngine(app) as engine:
        for command in ("echo old", "echo new"):
            await app.workflows.deploy({"id": "etl", "steps": [{"name": "only", "command": command}]})
        yield engine


async def executions(app: Foliot) -> list[ExecutionView]:
    """Return the executions of the workflow, oldest first."""
    found = [await app.workflows.status(run.id) for run in reversed(await app.runs.page(job="etl"))]
    return [one for one in found if one is not None]


@pytest.mark.proves("R4-29")
async def test_the_launcher_starts_the_given_version_or_the_newest(engine: InlineEngine) -> None:
    launcher = engine.app.launcher

    started = [
        await launcher.start("etl", version, "ada", WHEN, f"key-{number}")
        for number, version in enumerate([1, None, 2])
    ]
    await engine.run_until_idle()

    assert started == [True, True, True]
    assert [one.version for one in await executions(engine.app)] == [1, 2, 2]


@pytest.mark.proves("R4-29")
async def test_the_launcher_starts_one_execution_per_key(engine: InlineEngine) -> None:
    launcher = engine.app.launcher

    assert [await launcher.start("etl", 1, None, WHEN, "key") for _ in range(3)] == [True, True, True]

    assert len(await engine.app.runs.page(job="etl")) == 1


@pytest.mark.proves("R4-69")
async def test_the_parameters_of_an_execution_reach_all_steps(engine: InlineEngine) -> None:
    steps = [
        {"name": "own", "command": "echo own"},
        {"name": "named", "job": "backup"},
        {"name": "ask", "approve": True},
    ]
    await engine.app.workflows.deploy({"id": "whole", "steps": steps})
    await engine.app.launcher.start("whole", None, None, WHEN, "key")
    await engine.run_until_idle()

    storage = (await engine.app.open()).storage
    [execution] = await storage.queries.active_executions(workflow_id="whole")
    version = (await storage.definitions.get_workflows([("whole", 1)]))[("whole", 1)]
    spec = msgspec.json.decode(msgspec.json.encode(version.spec), type=WorkflowSpec)
    jobs = msgspec.json.decode(msgspec.json.encode(execution.jobs), type=dict[JobId, JobSpec])

    works = {step.name: definition_of(step, jobs).spec for step in spec.steps}
    assert {name: work.get("command") for name, work in works.items()} == {
        "own": "echo own",
        "named": "true",
        "ask": None,
    }


@pytest.mark.proves("R4-69")
async def test_a_deployed_document_runs_in_a_process_without_definitions(engine: InlineEngine) -> None:
    steps = [
        {"name": "a", "command": "exit 3"},
        {"name": "b", "after": {"step": "a", "when": ["failure"]}, "command": "true"},
    ]
    await engine.app.workflows.deploy({"id": "whole", "steps": steps})
    text = json.dumps(await engine.app.workflows.document("whole"))

    async with InlineEngine(Foliot()) as other:
        await other.app.workflows.deploy(text)
        await other.app.launcher.start("whole", 1, None, WHEN, "key")
        await other.join()
        [run] = await other.app.runs.page(job="whole")
        execution = await other.app.workflows.status(run.id)

    assert execution is not None
    assert execution.results == {"a": "failure", "b": "success"}


SPECIFIED = {
    "cron": "cron_expr",
    "jitter": "jitter_ms",
    "overlap": "overlap_policy",
    "catchup": "catchup_policy",
}
"""Option -> its name in the specification of the scheduler, which is an alias and the name in the view."""
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "deploy-a-workflow-as-json.md"


@pytest.mark.proves("R4-71")
async def test_the_documented_schedule_request_works(engine: InlineEngine) -> None:
    documented = json.loads(PAGE.read_text().partition('request = """')[2].partition('"""')[0])
    request = {SPECIFIED.get(name, name): value for name, value in documented.items()} | {"jitter_ms": 5_000}

    assert (documented["jitter"], (await engine.app.schedules.upsert(**documented)).schedule_id) == (5, "etl-for-ann")
    stored = await engine.app.schedules.upsert(**request)
    await engine.advance(timedelta(days=1, hours=9))

    view = await engine.app.schedules.get("etl-for-ann")
    assert (stored.schedule_id, stored.next_run_at) == ("etl-for-ann", datetime(2026, 1, 1, 8, tzinfo=UTC))
    assert {name: getattr(view, name) for name in request if name != "start_at"} == {
        name: value for name, value in request.items() if name != "start_at"
    }
    assert [one.version for one in await executions(engine.app)] == [1, 1]


async def test_the_launcher_returns_false_for_missing_workflows_and_versions(engine: InlineEngine) -> None:
    launcher = engine.app.launcher

    assert not await launcher.start("etl", 7, None, WHEN, "a")
    assert not await launcher.start("stranger", None, None, WHEN, "b")
    assert await engine.app.runs.page() == []


async def test_the_launcher_starts_a_job_by_its_id(engine: InlineEngine) -> None:
    assert await engine.app.launcher.start("backup", None, None, WHEN, "key")

    [run] = await engine.app.runs.page(job="backup")
    assert run.trigger == "schedule"


async def test_a_launched_execution_has_the_planned_time(engine: InlineEngine) -> None:
    early = {"name": "early", "command": "true", "payload": "{{ execution.scheduled_for }}"}
    late = {"name": "late", "command": "true", "after": "ask", "payload": "{{ execution.scheduled_for }}"}
    await engine.app.workflows.deploy({"id": "told", "steps": [{"name": "ask", "approve": True}, early, late]})

    for name in ("told", "backup"):
        assert await engine.app.launcher.start(name, None, None, WHEN, "key")
    await engine.run_until_idle()
    [told], [backup] = [await engine.app.runs.page(job=name) for name in ("told", "backup")]
    await engine.app.workflows.approve(told.id, "ask")
    await engine.run_until_idle()

    execution = await engine.app.workflows.status(told.id)
    assert execution is not None
    assert [one.scheduled_for for one in (told, backup, execution)] == [WHEN] * 3
    steps = [run for name in ("early", "late") for run in await engine.app.runs.page(job=f"told.{name}")]
    assert [step.input_payload for step in steps] == ["2026-01-01T00:00:00Z"] * 2


async def test_a_launched_job_has_the_planned_time() -> None:
    app = Foliot()
    told: list[datetime | None] = []
    app.job(id="here")(lambda: told.append(current_run().scheduled_for))
    app.shell("there", "echo $FOLIOT_SCHEDULED_FOR")

    async with InlineEngine(app) as engine:
        for name in ("here", "there"):
            assert await app.launcher.start(name, None, None, WHEN, "key")
        await engine.join()
        [there] = await app.runs.page(job="there")
        printed = await app.runs.output(there.id)

    assert (told, printed) == ([WHEN], b"2026-01-01T00:00:00Z\n")


async def test_a_planned_time_without_a_time_zone_is_refused(engine: InlineEngine) -> None:
    with pytest.raises(InvalidInput, match="has no timezone"):
        await engine.app.launcher.start("etl", None, None, WHEN.replace(tzinfo=None), "key")


@pytest.mark.proves("R4-67")
@pytest.mark.parametrize("name", ["etl", "backup"])
async def test_a_launched_run_has_its_user_and_key(engine: InlineEngine, name: str) -> None:
    assert await engine.app.launcher.start(name, 1, "ada", WHEN, "k7")
    services = await engine.app.open()
    [listed] = await engine.app.runs.page(job=name)

    view = await services.runs.get(listed.id)

    assert (view.user_id, view.idempotency_key, view.scheduled_for) == ("ada", "k7", WHEN)


@pytest.mark.proves("R4-67")
async def test_a_launched_execution_has_user_and_key_and_a_rerun_keeps_the_user(engine: InlineEngine) -> None:
    await engine.app.launcher.start("etl", 1, "ada", WHEN, "k7")
    await engine.join()
    [first] = await executions(engine.app)
    await (await engine.app.open()).workflows.rerun(first.id, "only")
    await engine.join()

    second = (await executions(engine.app))[-1]
    assert [(one.user_id, one.idempotency_key) for one in (first, second)] == [("ada", "k7"), ("ada", None)]


async def test_a_repeated_run_does_not_have_the_key(engine: InlineEngine) -> None:
    await engine.app.launcher.start("backup", None, "ada", WHEN, "k7")
    await engine.join()
    services = await engine.app.open()
    [run] = await engine.app.runs.page(job="backup")

    again = await services.runs.get(await services.runs.retry(run.id))

    assert (again.user_id, again.idempotency_key) == ("ada", None)


@pytest.mark.parametrize("name", ["etl", "backup"])
@pytest.mark.parametrize(
    ("field", "value", "refusal"),
    [
        ("workflow_id", 7, "workflow_id must be text, not int"),
        ("version", "1", "version must be 0 to 2147483647, not '1'"),
        ("version", True, "version must be 0 to 2147483647, not True"),
        ("version", 1.0, "version must be 0 to 2147483647, not 1.0"),
        ("version", -1, "version must be 0 to 2147483647, not -1"),
        ("user_id", 7, "user_id must be printable text of 1 to 200 characters"),
        ("user_id", "", "user_id must be printable text of 1 to 200 characters"),
        ("user_id", "a\n", "user_id must be printable text of 1 to 200 characters"),
        ("scheduled_for", 7, "scheduled_for must be a moment, not a whole number"),
        ("idempotency_key", None, "idempotency_key must be text, not NoneType"),
    ],
)
async def test_invalid_launcher_arguments_are_refused(
    engine: InlineEngine, name: str, field: str, value: Any, refusal: str
) -> None:
    said: dict[str, Any] = {"workflow_id": name, "version": 1, "user_id": "ada", "scheduled_for": WHEN}

    with pytest.raises(InvalidInput) as refused:
        await engine.app.launcher.start(**{**said, "idempotency_key": "key", field: value})

    assert (refused.value.message, refused.value.field) == (refusal, field)
    assert await engine.app.runs.page() == []
