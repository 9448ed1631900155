"""Gates of steps are evaluated when a step could start."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.testing.inline import InlineEngine
from tests.engine.town import DIGEST, SCAN, Town


@pytest.mark.proves("R0-22")
async def test_a_step_declined_by_its_gate_is_skipped_with_the_reason(town: Town, engine: InlineEngine) -> None:
    await town.deploy(command="true", depends_on="scan")

    steps = await town.passage(engine)

    load = steps["load"]
    assert (load.result, load.status, load.cause) == ("skipped", "skipped", "dep_missing")
    assert load.error == "not met: scan (missing)"
    assert (town.ran, steps["after"].result) == (["extract", "scan"], "success")
    assert load.run_id is not None
    assert (await town.app.runs.get(load.run_id)).started_at is None


@pytest.mark.proves("R0-19")
async def test_a_step_that_passes_its_gate_runs(town: Town, engine: InlineEngine) -> None:
    await town.deploy(command="true", depends_on="scan")
    await town.app.enqueue("scan")
    await engine.run_until_idle()

    steps = await town.passage(engine)

    assert (steps["load"].result, steps["after"].result) == ("success", "skipped")


@pytest.mark.parametrize(
    ("keys", "result"),
    [({}, "skipped"), ({"on_dep_fail": "fail"}, "failure"), ({"on_dep_fail": "run"}, "success")],
)
async def test_the_gate_of_a_step_handles_a_failure_by_its_option(
    town: Town, engine: InlineEngine, keys: dict[str, Any], result: str
) -> None:
    await town.deploy(command="true", depends_on="scan", **keys)
    town.failing = {"scan"}
    await town.app.enqueue("scan")
    await engine.run_until_idle()

    load = (await town.passage(engine))["load"]

    assert (load.result, load.cause) == (result, None if result == "success" else "dep_failed")


async def test_a_step_with_a_gated_job_is_gated(town: Town, engine: InlineEngine) -> None:
    gated = JobSpec(kind="python", spec={"handler": "digest"}, gate=Gate(depends_on=(SCAN,)), source="app")
    await (await town.app.open()).jobs.put({DIGEST: gated})
    await town.deploy(job="digest")

    declined = (await town.passage(engine))["load"]
    passed = (await town.passage(engine))["load"]

    assert (declined.result, declined.cause) == ("skipped", "dep_missing")
    assert passed.result == "success", "the step after the declined one was a scan"
    assert town.ran == ["extract", "scan", "extract", "digest"]


async def test_a_gate_that_waits_keeps_its_step_pending(town: Town, engine: InlineEngine) -> None:
    ask = {"id": "ask", "steps": [{"name": "ask", "approve": True}]}
    await town.app.workflows.deploy(ask)
    await town.deploy(command="true", depends_on="ask", wait=3600)
    question = await town.app.workflows.start("ask")
    execution_id = await town.app.workflows.start("etl")
    await engine.advance(timedelta(minutes=5))
    waiting = await town.app.workflows.status(execution_id)

    await town.app.workflows.approve(question, "ask")
    await engine.advance(timedelta(seconds=5))
    await engine.join()

    over = await town.app.workflows.status(execution_id)
    assert waiting is not None
    assert over is not None
    assert (waiting.results["load"], over.results["load"]) == (None, "success")


async def test_the_gate_of_a_step_is_evaluated_when_the_step_could_start(town: Town, engine: InlineEngine) -> None:
    first = {"name": "first", "approve": True}
    load = {"name": "load", "after": "first", "command": "true", "depends_on": "scan", "window_sec": 60}
    await town.app.workflows.deploy({"id": "etl", "steps": [first, load]})
    execution_id = await town.app.workflows.start("etl")
    await engine.advance(timedelta(hours=1))
    await town.app.enqueue("scan")
    await engine.advance(timedelta(seconds=30))

    await town.app.workflows.approve(execution_id, "first")
    await engine.join()

    execution = await town.app.workflows.status(execution_id)
    assert execution is not None
    assert execution.results["load"] == "success"


@pytest.mark.proves("D7")
@pytest.mark.parametrize("change", ["none", "other", "deleted"])
async def test_a_step_has_the_gate_of_the_start_of_its_execution(town: Town, engine: InlineEngine, change: str) -> None:
    first, gate = {"name": "first", "approve": True}, {"depends_on": "scan", "on_missing": "fail"}
    load = {"name": "load", "after": "first", "command": "true"}
    await town.app.workflows.deploy({"id": "etl", "steps": [first, {**load, **gate}]})
    execution_id = await town.app.workflows.start("etl")
    await engine.run_until_idle()

    if change == "deleted":
        await town.app.workflows.delete("etl")
    else:
        others = {"depends_on": "scan", "on_missing": "run"} if change == "other" else {}
        await town.app.workflows.deploy({"id": "etl", "steps": [first, {**load, **others}]})
    await town.app.workflows.approve(execution_id, "first")
    await engine.join()

    execution = await town.app.workflows.status(execution_id)
    assert execution is not None
    asked = next(step for step in execution.steps if step.name == "load")
    assert (asked.result, asked.cause) == ("failure", "dep_missing")


@pytest.mark.proves("D7")
async def test_a_step_with_a_job_has_the_gate_of_the_start_of_its_execution(town: Town, engine: InlineEngine) -> None:
    gated = JobSpec(kind="python", spec={"handler": "digest"}, gate=Gate(depends_on=(SCAN,)), source="app")
    jobs = (await town.app.open()).jobs
    await jobs.put({DIGEST: gated})
    steps = [{"name": "first", "approve": True}, {"name": "load", "after": "first", "job": "digest"}]
    await town.app.workflows.deploy({"id": "etl", "steps": steps})
    execution_id = await town.app.workflows.start("etl")
    await engine.run_until_idle()

    await jobs.put({DIGEST: replace(gated, gate=None)})
    await town.app.workflows.approve(execution_id, "first")
    await engine.join()

    execution = await town.app.workflows.status(execution_id)
    assert execution is not None
    assert execution.results["load"] == "skipped"


async def test_cancelling_an_execution_ends_a_gated_step(town: Town, engine: InlineEngine) -> None:
    await town.app.workflows.deploy({"id": "ask", "steps": [{"name": "ask", "approve": True}]})
    await town.deploy(command="true", depends_on="ask", wait=3600)
    await town.app.workflows.start("ask")
    execution_id = await town.app.workflows.start("etl")
    await engine.run_until_idle()

    await town.app.runs.cancel(execution_id)
    await engine.run_until_idle()

    execution = await town.app.workflows.status(execution_id)
    assert execution is not None
    assert execution.status == "cancelled"
    assert {step.name: step.status for step in execution.steps} == {
        "first": "success",
        "load": "cancelled",
        "after": None,
    }


@pytest.mark.proves("D11")
async def test_a_workflow_with_gates_between_its_steps_can_be_deleted(town: Town, engine: InlineEngine) -> None:
    steps = [
        {"name": "first", "command": "true"},
        {"name": "load", "after": "first", "command": "true", "depends_on": ["etl.first"]},
    ]
    await town.app.workflows.deploy({"id": "etl", "steps": steps})

    await town.app.workflows.delete("etl")

    stored = (await town.app.open()).storage.definitions
    assert await stored.get_jobs([JobId("etl"), JobId("etl.first"), JobId("etl.load")]) == {}
