"""Single steps: results, overlap and waiting."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from foliot import Foliot, Workflow
from foliot.errors import InvalidInput, NotFound, WaitTimeout
from foliot.service.queries.execution_view import ExecutionView, StepView
from foliot.testing.inline import InlineEngine
from tests.engine.diary import Diary

SECOND = timedelta(seconds=1)


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.fixture
def app(diary: Diary) -> Foliot:
    """Jobs `first` and `child`; `alone` has one run at a time, and `slow` a minute."""
    app = Foliot()
    app.job(id="first")(diary.step("first"))
    app.job(id="child")(diary.step("child"))
    app.job(id="alone", max_concurrent=1)(diary.step("alone"))
    app.job(id="slow", timeout=60)(diary.step("slow"))
    return app


async def register(app: Foliot, *flows: Workflow) -> None:
    await (await app.open()).workflows.put({flow.id: flow.spec for flow in flows})


async def begin(app: Foliot, engine: InlineEngine, flow: str = "flow") -> str:
    execution_id = await app.workflows.start(flow)
    await engine.run_until_idle()
    return execution_id


async def execution(app: Foliot, execution_id: str) -> ExecutionView:
    found = await app.workflows.status(execution_id)
    assert found is not None
    return found


# -- how they end


@pytest.mark.proves("R2-04", "R2-36", "R2-47")
async def test_each_outcome_of_a_step_is_a_result_with_its_error() -> None:
    def returns() -> str:
        return "fine"

    async def fails() -> None:
        raise ValueError("no way")

    flow = Workflow("flow")
    flow.step("returns", returns)
    flow.step("raises", fails)
    flow.step("exits", shell="exit 3")
    flow.step("works", shell="true")
    app = Foliot()
    app.workflow(flow)
    heard: dict[str, tuple[str | None, str | None, str, str]] = {}

    @app.on_step_end
    def ended(whole: ExecutionView, step: StepView) -> None:
        heard[step.name] = (step.result, step.cause, "".join((step.error or "").splitlines()[-1:]), whole.id)

    async with InlineEngine(app) as engine:
        execution_id = await begin(app, engine)
        await engine.join()
        await engine.run_until_idle()

    assert heard == {
        "returns": ("success", None, "", execution_id),
        "raises": ("failure", "exception", "ValueError: no way", execution_id),
        "exits": ("failure", "exit_code", "exit code 3", execution_id),
        "works": ("success", None, "", execution_id),
    }


@pytest.mark.proves("R2-63")
async def test_a_step_that_times_out_fails(app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    flow = Workflow("flow")
    flow.step("slow", job="slow")
    flow.step("rescue", job="first").after("slow", "failure")
    await register(app, flow)
    diary.hold("slow")
    execution_id = await begin(app, engine)
    await engine.advance(timedelta(seconds=61))

    ended = await execution(app, execution_id)
    assert ended.results == {"slow": "failure", "rescue": "success"}
    assert (ended.steps[0].status, ended.steps[0].cause) == ("timeout", "timeout")


# -- what holds them back


@pytest.mark.proves("R2-50")
@pytest.mark.parametrize("earlier", ["execution", "alone"])
async def test_a_step_whose_job_still_runs_is_skipped(
    app: Foliot, engine: InlineEngine, diary: Diary, earlier: str
) -> None:
    flow = Workflow("flow")
    flow.step("first", job="first")
    flow.step("child", job="child", overlap="skip").after("first")
    flow.step("next", job="first").after("child")
    await register(app, flow)
    diary.hold("child")
    before = await app.workflows.start("flow") if earlier == "execution" else await app.enqueue("child")
    await engine.run_until_idle()

    later = await begin(app, engine)

    ended = await execution(app, later)
    assert ended.results == {"first": "success", "child": "skipped", "next": "skipped"}
    assert ended.steps[1].reason == "overlap"
    diary.let_go("child")
    await engine.run_until_idle()
    assert (await app.runs.get(before)).status == "success"
    assert (await execution(app, await begin(app, engine))).results["child"] == "success"


@pytest.mark.proves("R2-50")
async def test_a_scheduled_run_does_not_block_a_step(app: Foliot, engine: InlineEngine) -> None:
    flow = Workflow("flow")
    flow.step("child", job="child", overlap="skip")
    await register(app, flow)
    await app.enqueue("child", delay=3_600)

    assert (await execution(app, await begin(app, engine))).results == {"child": "success"}


async def test_a_running_job_is_found_behind_any_number_of_scheduled_runs(
    app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    flow = Workflow("flow")
    flow.step("child", job="child", overlap="skip")
    await register(app, flow)
    diary.hold("child")
    await begin(app, engine)
    for _ in range(60):
        await app.enqueue("child", delay=3_600)

    assert (await execution(app, await begin(app, engine))).results == {"child": "skipped"}
    diary.let_go("child")


@pytest.mark.proves("R2-51")
@pytest.mark.parametrize("earlier", ["execution", "alone"])
async def test_a_step_with_overlap_queue_waits_for_the_running_run(
    app: Foliot, engine: InlineEngine, diary: Diary, earlier: str
) -> None:
    flow = Workflow("flow")
    flow.step("child", job="alone", overlap="queue")
    await register(app, flow)
    diary.hold("alone")
    before = await app.workflows.start("flow") if earlier == "execution" else await app.enqueue("alone")
    await engine.run_until_idle()

    later = await begin(app, engine)
    assert diary.ran == ["alone"]
    assert (await execution(app, later)).steps[0].status == "queued"

    diary.let_go("alone")
    await engine.run_until_idle()
    assert diary.ran == ["alone", "alone"]
    assert [(await app.runs.get(one)).status for one in (before, later)] == ["success", "success"]


# -- who can tell


@pytest.mark.proves("R2-52", "R2-54")
async def test_a_job_runs_and_can_be_waited_for_also_as_a_step(app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    flow = Workflow("flow")
    flow.step("first", job="first").step("child", job="child").after("first")
    await register(app, flow)
    diary.hold("child")
    execution_id = await begin(app, engine)
    assert [await app.jobs.is_running(job) for job in ("first", "child")] == [False, True]

    waiting = asyncio.create_task(app.jobs.wait("child"))
    await engine.advance(SECOND)
    assert not waiting.done()
    diary.let_go("child")
    await engine.advance(SECOND)

    [ended] = await waiting
    assert (ended.status, ended.parent_id, ended.child_key) == ("success", execution_id, "child")
    assert not await app.jobs.is_running("child")
    assert (await app.runs.wait(execution_id)).status == "success"


@pytest.mark.proves("R2-52")
async def test_waiting_for_a_job_that_does_not_run_returns_immediately(app: Foliot, engine: InlineEngine) -> None:
    later = await app.enqueue("child", delay=60)

    assert await app.jobs.wait("child") == []
    assert (await app.runs.get(later)).status == "scheduled"
    with pytest.raises(NotFound):
        await app.jobs.wait("chidl")
    with pytest.raises(NotFound):
        await app.jobs.is_running("chidl")
    with pytest.raises(NotFound):
        await app.runs.wait("01NOWHERE")


@pytest.mark.proves("R2-52")
async def test_waiting_for_a_job_ignores_runs_that_start_later(app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    diary.hold("child")
    first = await app.enqueue("child")
    await engine.run_until_idle()
    waiting = asyncio.create_task(app.jobs.wait("child"))
    await engine.run_until_idle()
    diary.let_go("child")
    diary.hold("child")
    await app.enqueue("child")
    await engine.advance(SECOND)

    assert [run.id for run in await waiting] == [first]
    assert await app.jobs.is_running("child")
    diary.let_go("child")


@pytest.mark.proves("R2-52")
@pytest.mark.parametrize("span", [10, 10.0, timedelta(seconds=10)])
async def test_waiting_for_a_job_times_out_and_the_run_continues(
    app: Foliot, engine: InlineEngine, diary: Diary, span: float | timedelta
) -> None:
    diary.hold("child")
    run_id = await app.enqueue("child")
    await engine.run_until_idle()
    calls = app.jobs.wait("child", timeout=span), app.runs.wait(run_id, timeout=span)
    waiting = [asyncio.ensure_future(call) for call in calls]

    await engine.advance(timedelta(milliseconds=9_999))
    assert not any(task.done() for task in waiting)
    await engine.advance(timedelta(milliseconds=1))

    for error in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(error, WaitTimeout)
        assert (error.run_ids, error.code, isinstance(error, TimeoutError)) == ((run_id,), "wait_timeout", True)
        assert str(error) == (
            f"run {run_id} did not end within 10s\n"
            f"  The run continues. Wait longer, or look at it with: foliot show {run_id}"
        )
    assert await app.jobs.is_running("child")
    diary.let_go("child")
    await engine.run_until_idle()
    assert (await app.runs.wait(run_id, timeout=0)).status == "success"


@pytest.mark.parametrize("span", [-1, timedelta(seconds=-1), float("inf"), float("nan"), True, "soon"])
async def test_an_invalid_wait_timeout_is_refused(app: Foliot, engine: InlineEngine, span: Any) -> None:
    run_id = await app.enqueue("child", delay=60)

    with pytest.raises(InvalidInput) as refused:
        await app.runs.wait(run_id, timeout=span)

    assert refused.value.field == "timeout"


async def test_a_wait_timeout_of_zero_checks_once(app: Foliot, engine: InlineEngine) -> None:
    late = await app.enqueue("child", delay=60)

    with pytest.raises(WaitTimeout, match="within 0s"):
        await app.runs.wait(late, timeout=0)
    assert await app.jobs.wait("child", timeout=0) == []


# -- corners


@pytest.mark.proves("R2-61")
async def test_one_job_is_the_root_of_several_workflows(app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    one, two = Workflow("one"), Workflow("two")
    one.step("first", job="first").step("child", job="child").after("first")
    two.step("first", job="first").step("rescue", job="child").after("first", "failure")
    await register(app, one, two)

    executions = [await begin(app, engine, "one"), await begin(app, engine, "two")]

    assert diary.seen == [("first", executions[0]), ("child", executions[0]), ("first", executions[1])]
    assert (await execution(app, executions[1])).results == {"first": "success", "rescue": "skipped"}


@pytest.mark.proves("R2-61")
@pytest.mark.parametrize(("failing", "status"), [(set(), "success"), ({"first"}, "failed")])
async def test_a_workflow_of_one_step_ends_with_it(
    app: Foliot, engine: InlineEngine, diary: Diary, failing: set[str], status: str
) -> None:
    diary.failing = failing
    flow = Workflow("flow")
    flow.step("first", job="first")
    await register(app, flow)

    assert (await execution(app, await begin(app, engine))).status == status


@pytest.mark.proves("R2-66", "R2-24", "R2-60")
async def test_an_edit_while_a_step_runs_applies_to_the_next_execution(
    app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    before, after = Workflow("flow"), Workflow("flow")
    before.step("first", job="first").step("child", job="child").after("first")
    after.step("first", job="first").step("other", job="alone").after("first")
    await register(app, before)
    diary.hold("first")
    first = await begin(app, engine)

    await register(app, after)
    diary.let_go("first")
    await engine.run_until_idle()

    assert (await execution(app, first)).results == {"first": "success", "child": "success"}
    assert (await execution(app, await begin(app, engine))).results == {"first": "success", "other": "success"}


@pytest.mark.proves("R2-53")
async def test_a_step_with_a_paused_job_is_skipped_until_the_job_is_resumed(
    app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    flow = Workflow("flow")
    flow.step("first", job="first").step("next", job="child").after("first").step("last", job="alone").after(
        "next", "skipped"
    )
    await register(app, flow)
    await app.jobs.pause("child")

    skipped = await execution(app, await begin(app, engine))
    await app.jobs.resume("child")
    run = await execution(app, await begin(app, engine))

    assert skipped.results == {"first": "success", "next": "skipped", "last": "success"}
    assert {step.name: step.reason for step in skipped.steps} == {"first": "", "next": "job_paused", "last": ""}
    assert run.results == {"first": "success", "next": "success", "last": "skipped"}
