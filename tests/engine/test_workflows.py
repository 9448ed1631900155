"""Executions of workflows from start to end, on a virtual clock."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot, Workflow
from foliot.domain.instant import HOUR
from foliot.domain.workflow.spec import Approval
from foliot.errors import InvalidRun, InvalidWorkflow, NotFound
from foliot.service.queries.execution_view import ExecutionView, StepView
from foliot.testing.inline import InlineEngine
from foliot.testing.simulation.faults import Hiccup
from tests.engine.diary import Diary


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.fixture
def etl(app: Foliot, diary: Diary) -> Workflow:
    flow = Workflow("etl", params={"day": 1})
    flow.step("extract", diary.step("extract", {"path": "/data"}))
    flow.step("load", diary.step("load"), payload={"path": "{{ steps.extract.output.path }}"}).after("extract")
    flow.step("alarm", diary.step("alarm")).after("extract", "failure")
    flow.step("cleanup", diary.step("cleanup")).final()
    return app.workflow(flow)


async def test_a_step_with_dots_in_its_name_passes_its_output_on(app: Foliot, diary: Diary) -> None:
    flow, file = Workflow("dotted"), "{{ steps['load.eu'].output['file.name'] }}"
    flow.step("load.eu", diary.step("load.eu", {"file.name": "/data"}))
    flow.step("report", diary.step("report"), payload={"file": file}).after("load.eu")
    app.workflow(flow)

    async with InlineEngine(app) as engine:
        await app.workflows.start("dotted")
        await engine.run_until_idle()
        [report] = await app.runs.page(job="dotted.report")

    assert (report.status, report.input_payload) == ("success", {"file": "/data"})


@pytest.mark.proves("M4", "S6")
@pytest.mark.parametrize(("store", "verb"), [("trees", "open"), ("trees", "load")])
async def test_an_execution_that_could_not_be_opened_is_opened_after_recovery(
    etl: Workflow, app: Foliot, engine: InlineEngine, monkeypatch: pytest.MonkeyPatch, store: str, verb: str
) -> None:
    async def away(*_: object) -> object:
        raise Hiccup("away")

    storage, opening = engine._storage, engine._coordinator.worker
    execution_id = await app.workflows.start("etl")
    with monkeypatch.context() as trouble:
        trouble.setattr(getattr(storage, store), verb, away)
        await engine.run_until_idle()
    await opening.heartbeat.round()
    await engine.run_until_idle()

    run = await app.runs.get(execution_id)
    assert (run.status, run.attempt) == ("success", 1)


@pytest.mark.parametrize("options", [{"priority": 5}, {"queue": "heavy"}])
async def test_an_execution_may_be_started_with_its_own_options(
    etl: Workflow, app: Foliot, engine: InlineEngine, options: dict[str, Any]
) -> None:
    """A coordinator opens it, whatever queue is given."""
    execution_id = await app.enqueue("etl", **options)
    await engine.run_until_idle()
    again = await app.runs.retry(execution_id)
    await engine.run_until_idle()

    assert [(await app.runs.get(run_id)).status for run_id in (execution_id, again)] == ["success"] * 2


@pytest.mark.proves("R2-01", "R2-40", "R2-44", "D4")
async def test_steps_run_in_the_order_of_the_graph(
    etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    execution_id = await app.workflows.start("etl")
    await engine.run_until_idle()

    execution = await app.workflows.status(execution_id)
    assert execution is not None
    assert diary.ran == ["extract", "load", "cleanup"]
    assert execution.status == "success"
    assert execution.results == {
        "extract": "success",
        "load": "success",
        "alarm": "skipped",
        "cleanup": "success",
    }
    assert (await app.runs.get(execution_id)).status == "success"


@pytest.mark.proves("R2-08", "R2-47")
async def test_an_alarm_after_a_failure_runs_and_the_execution_has_failed(
    etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    diary.failing = {"extract"}
    execution_id = await app.workflows.start("etl")
    await engine.run_until_idle()

    execution = await app.workflows.status(execution_id)
    assert execution is not None
    assert diary.ran == ["extract", "alarm", "cleanup"]
    assert (execution.status, execution.error) == ("failed", "step extract did not succeed")
    assert (await app.runs.get(execution_id)).status == "failed"
    skipped = next(step for step in execution.steps if step.name == "load")
    assert skipped.blockers == ["extract"]


@pytest.mark.proves("R2-08")
@pytest.mark.parametrize(("failing", "status"), [({"load"}, "success"), ({"load", "restore"}, "failed")])
async def test_an_execution_succeeds_if_a_step_recovered_the_failure(
    app: Foliot, diary: Diary, failing: set[str], status: str
) -> None:
    flow = Workflow("nightly")
    flow.step("load", diary.step("load"))
    flow.step("restore", diary.step("restore"), recovers=True).after("load", "failure")
    app.workflow(flow)
    diary.failing = failing

    async with InlineEngine(app) as engine:
        execution_id = await app.workflows.start("nightly")
        await engine.run_until_idle()
        execution = await app.workflows.execution(execution_id)

    assert execution.status == status
    recovered = {step.name: step.recovered_by for step in execution.steps if step.recovered_by}
    assert recovered == ({"load": ["restore"]} if status == "success" else {})


@pytest.mark.parametrize("recovers", [False, True])
async def test_a_gate_sees_the_status_of_a_workflow(app: Foliot, diary: Diary, recovers: bool) -> None:
    flow = Workflow("nightly")
    flow.step("load", diary.step("load"))
    flow.step("next", diary.step("next"), recovers=recovers).after("load", "failure")
    app.workflow(flow)
    app.shell("report", "true", depends_on="nightly", on_dep_fail="skip", window="1h")
    diary.failing = {"load"}

    async with InlineEngine(app) as engine:
        await app.workflows.start("nightly")
        await engine.run_until_idle()
        report = await app.enqueue("report")
        await engine.join()
        status = (await app.runs.get(report)).status

    assert status == ("success" if recovers else "skipped")


async def test_outputs_reach_the_next_step_as_data(
    etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    execution_id = await app.workflows.start("etl")
    await engine.run_until_idle()

    [load] = await app.runs.page(job="etl.load")
    assert load.input_payload == {"path": "/data"}
    assert load.output_payload == {"path": "/data"}
    assert execution_id != load.id


@pytest.mark.proves("R2-45", "D9", "R2-02")
async def test_twenty_concurrent_executions_do_not_mix(
    etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    started = [await app.workflows.start("etl") for _ in range(20)]
    await engine.run_until_idle()

    assert len(diary.seen) == 60
    assert {name for _, name in diary.seen} == set(started)
    for execution_id in started:
        execution = await app.workflows.status(execution_id)
        assert execution is not None
        assert execution.status == "success"


@pytest.mark.proves("R2-38", "R2-26")
async def test_a_workflow_owns_its_schedule(etl: Workflow, app: Foliot, diary: Diary) -> None:
    app.schedule("nightly", "etl", cron="0 2 * * *")

    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(days=2))
        ticks = await app.schedules.ticks("nightly")

        assert diary.ran == ["extract", "load", "cleanup"] * 2
        assert [tick.outcome for tick in ticks] == ["ran", "ran"]
        execution = await app.workflows.status(ticks[0].run_id or "")
        assert execution is not None
        assert execution.scheduled_for == ticks[0].scheduled_for


@pytest.mark.proves("D7")
async def test_an_execution_outlives_its_workflow(app: Foliot, engine: InlineEngine) -> None:
    ask, load = {"name": "ask", "approve": True}, {"name": "load", "after": "ask", "command": "true"}
    done = {"name": "done", "after": "load", "command": "true"}
    await app.workflows.deploy({"id": "flow", "steps": [ask, load, done]})
    execution_id = await app.workflows.start("flow")
    await engine.run_until_idle()

    await app.workflows.delete("flow")
    await app.workflows.approve(execution_id, "ask")
    await engine.join()

    execution = await app.workflows.status(execution_id)
    assert execution is not None
    assert (execution.status, execution.results) == ("success", dict.fromkeys(("ask", "load", "done"), "success"))
    with pytest.raises(NotFound):
        await app.workflows.rerun(execution_id, "load")


async def test_a_step_can_be_run_on_its_own(etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    await app.enqueue("etl.load")
    await engine.run_until_idle()

    assert diary.seen == [("load", None)]
    assert await app.workflows.active() == []


async def test_a_step_with_templates_cannot_be_run_on_its_own(app: Foliot, engine: InlineEngine) -> None:
    steps = [{"name": "load", "command": "true", "env": {"DAY": "{{ params.day }}"}}]
    await app.workflows.deploy({"id": "flow", "params": {"day": 1}, "steps": steps})

    with pytest.raises(InvalidRun, match="templates that only an execution fills in"):
        await app.enqueue("flow.load")

    execution_id = await app.workflows.start("flow")
    await engine.join()
    execution = await app.workflows.status(execution_id)
    assert execution is not None
    again = await app.runs.retry(execution.steps[0].run_id or "")
    await engine.join()
    assert (await app.runs.get(again)).status == "success"


async def test_parameters_are_checked_before_anything_starts(etl: Workflow, app: Foliot, engine: InlineEngine) -> None:
    with pytest.raises(InvalidRun, match='Did you mean "day"'):
        await app.workflows.start("etl", {"dai": 2})
    assert await app.runs.page() == []


@pytest.mark.proves("D7", "R2-24")
async def test_an_execution_uses_the_version_it_started_with(app: Foliot, diary: Diary) -> None:
    first = Workflow("flow")
    first.step("a", diary.step("a"))
    first.step("b", diary.step("b"), retries=0).after("a")
    app.workflow(first)
    second = Workflow("flow")
    second.step("a", diary.step("a"))

    async with InlineEngine(app) as engine:
        services = await app.open()
        old = await app.workflows.start("flow")
        versions = await services.workflows.put({"flow": second.spec})
        await engine.run_until_idle()

        assert versions["flow"].version == 2
        assert diary.ran == ["a", "b"]
        execution = await app.workflows.status(old)
        assert execution is not None
        assert execution.version == 1
        new = await app.workflows.start("flow")
        again = await app.workflows.start("flow", version=1)
        await engine.run_until_idle()
        assert [(await app.workflows.status(one)).version for one in (new, again)] == [2, 1]  # type: ignore[union-attr]  # both are there


async def test_a_version_that_does_not_exist_is_refused(etl: Workflow, app: Foliot, engine: InlineEngine) -> None:
    with pytest.raises(NotFound, match="etl version 7"):
        await app.workflows.start("etl", version=7)


async def test_a_failed_execution_is_rerun_from_the_failed_step(
    etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    diary.failing = {"load"}
    before = await app.workflows.start("etl")
    await engine.run_until_idle()
    assert (await app.runs.get(before)).status == "failed"
    diary.failing, diary.ran = set(), []

    after = await app.workflows.rerun(before)
    await engine.run_until_idle()

    execution = await app.workflows.status(after)
    assert execution is not None
    assert diary.ran == ["load", "cleanup"]
    assert execution.status == "success"
    assert execution.results["extract"] == "success"


async def test_marking_a_failed_step_runs_the_steps_after_it(
    etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    diary.failing = {"extract"}
    before = await app.workflows.start("etl")
    await engine.run_until_idle()
    diary.ran = []

    after = await app.workflows.mark_step(before, "extract")
    await engine.run_until_idle()

    execution = await app.workflows.status(after)
    assert execution is not None
    assert execution.results["extract"] == "success"
    assert execution.results["alarm"] == "skipped"
    assert "cleanup" in diary.ran


@pytest.mark.proves("R2-53")
async def test_a_paused_step_is_skipped(etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    await app.workflows.pause_step("etl", "load")
    await app.workflows.start("etl")
    await engine.run_until_idle()
    assert diary.ran == ["extract", "cleanup"]

    await app.workflows.pause_step("etl", "load", paused=False)
    await app.workflows.start("etl")
    await engine.run_until_idle()
    assert diary.ran[2:] == ["extract", "load", "cleanup"]


@pytest.mark.parametrize(("answer", "expected"), [("approve", ["ship"]), ("reject", []), ("none", [])])
async def test_an_approval_is_decided_by_a_person_or_by_default_after_its_timeout(
    app: Foliot, diary: Diary, answer: str, expected: list[str]
) -> None:
    flow = Workflow("release")
    flow.step("ask", approve=Approval(timeout=HOUR))
    flow.step("ship", diary.step("ship")).after("ask")
    app.workflow(flow)

    async with InlineEngine(app) as engine:
        execution_id = await app.workflows.start("release")
        await engine.advance(timedelta(minutes=30))
        assert diary.ran == []
        if answer == "approve":
            await app.workflows.approve(execution_id, "ask", by="ann")
        elif answer == "reject":
            await app.workflows.reject(execution_id, "ask", by="ann")
        await engine.advance(timedelta(hours=1))

        assert diary.ran == expected
        assert (await app.runs.get(execution_id)).status == ("success" if expected else "failed")
        with pytest.raises(InvalidRun, match="does not wait"):
            await app.workflows.approve(execution_id, "ask")


async def test_only_approval_steps_can_be_answered(app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    flow = Workflow("flow")
    flow.step("work", diary.step("work"), retries=1, retry_delay=60)
    diary.failing = {"work"}
    app.workflow(flow)
    await (await app.open()).workflows.put({"flow": flow.spec})
    execution_id = await app.workflows.start("flow")
    await engine.run_until_idle()

    for answer in (app.workflows.approve, app.workflows.reject):
        with pytest.raises(InvalidRun, match="does not wait for approval"):
            await answer(execution_id, "work")

    assert (await app.runs.get(execution_id)).status == "running"


@pytest.mark.proves("D1", "R2-35")
async def test_an_invalid_workflow_stores_nothing(app: Foliot, engine: InlineEngine) -> None:
    wrong = Workflow("wrong")
    wrong.step("a", shell="true").after("b")
    wrong.step("b", shell="true").after("a")
    services = await app.open()
    before = await app.jobs.page()

    with pytest.raises(InvalidWorkflow, match="form a cycle"):
        await services.workflows.put({"wrong": wrong.spec})

    assert await app.jobs.page() == before
    assert await services.workflows.records() == []


@pytest.mark.proves("R2-64")
async def test_a_retried_step_resolves_with_its_last_attempt(app: Foliot, diary: Diary) -> None:
    flow = Workflow("flow")
    flow.step("a", diary.step("a"), retries=2, retry_delay=60)
    flow.step("b", diary.step("b")).after("a", "failure")
    app.workflow(flow)
    diary.failing = {"a"}

    async with InlineEngine(app) as engine:
        await app.workflows.start("flow")
        await engine.run_until_idle()
        assert diary.ran == ["a"]
        await engine.advance(timedelta(minutes=10))

        assert diary.ran == ["a", "a", "a", "b"]


@pytest.mark.proves("R2-58")
async def test_active_executions_are_listed_and_a_missing_one_is_none(
    etl: Workflow, app: Foliot, engine: InlineEngine
) -> None:
    assert await app.workflows.status("01NOWHERE") is None
    flow = await app.workflows.start("etl")
    await engine.run_until_idle()
    assert await app.workflows.active() == []
    assert await app.workflows.status(flow) is not None


@pytest.mark.proves("R2-57")
async def test_listeners_are_called_for_each_step_and_the_end(
    etl: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    ended: list[tuple[str, dict[str, str | None]]] = []
    steps: list[str] = []
    app.on_workflow_complete(lambda execution: ended.append((execution.id, execution.results)))

    @app.on_step_end
    async def heard(execution: ExecutionView, step: StepView) -> None:
        steps.append(f"{step.name} {step.result}")

    execution_id = await app.workflows.start("etl")
    await engine.run_until_idle()

    assert [name for name, _ in ended] == [execution_id]
    assert sorted(steps) == ["alarm skipped", "cleanup success", "extract success", "load success"]


async def test_a_listener_that_raises_does_not_stop_the_others(
    etl: Workflow, app: Foliot, engine: InlineEngine
) -> None:
    heard: list[str] = []

    @app.on_workflow_complete
    def broken(execution: ExecutionView) -> None:
        raise ValueError("no")

    app.on_workflow_complete(lambda execution: heard.append(execution.status))
    await app.workflows.start("etl")
    await engine.run_until_idle()

    assert heard == ["success"]


@pytest.mark.proves("R1-02")
async def test_ticks_single_runs_and_executions_are_listed_together(etl: Workflow, app: Foliot) -> None:
    app.shell("report", "true")
    app.schedule("hourly", "report", cron="0 * * * *")
    async with InlineEngine(app) as engine:
        by_hand = await app.enqueue("report")
        whole = await app.workflows.start("etl")
        await engine.advance(timedelta(hours=1))
        await engine.join()

        runs = {run.id: run for run in await app.runs.page(children=True)}
        assert all(run.status == "success" for run in runs.values())
        made_by = sorted((run.job_id, run.trigger, run.child_key or "") for run in runs.values())
        assert made_by == [
            ("etl", "api", ""),
            ("etl.cleanup", "workflow", "cleanup"),
            ("etl.extract", "workflow", "extract"),
            ("etl.load", "workflow", "load"),
            ("report", "api", ""),
            ("report", "schedule", ""),
        ]
        assert {by_hand, whole} < runs.keys()
        assert {run.root_id for run in runs.values() if run.parent_id} == {whole}


async def test_a_job_may_depend_on_a_workflow_of_the_same_application(app: Foliot, etl: Workflow) -> None:
    app.job(id="digest", depends_on=["etl", "etl.load"])(lambda: None)

    async with InlineEngine(app):
        assert "digest" in [job.id for job in await app.jobs.page()]


@pytest.mark.proves("R2-35")
async def test_an_invalid_workflow_of_an_application_stores_no_jobs(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/flows.db")
    app.job(id="digest")(lambda: None)
    app.workflow(Workflow("empty"))

    with pytest.raises(InvalidWorkflow):
        await app.open()

    async with Foliot(f"sqlite:///{tmp_path}/flows.db") as other:
        assert "digest" not in [job.id for job in await other.jobs.page()]
