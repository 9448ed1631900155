"""Reruns of executions, and the outputs that they carry over."""

import pytest

from foliot import Foliot, Workflow
from foliot.domain.ids import RunId
from foliot.domain.instant import Millis
from foliot.errors import InvalidRun
from foliot.testing.builders import retention
from foliot.testing.inline import InlineEngine
from tests.engine.diary import Diary


@pytest.fixture
def diary() -> Diary:
    diary = Diary()
    diary.failing = {"load"}
    return diary


@pytest.fixture
def app(diary: Diary) -> Foliot:
    """`load` fails. It is given what `extract` gave back, as is `report` later on, and `tell` follows only that."""
    app = Foliot()
    path = {"path": "{{ steps.extract.output.path }}"}
    etl = Workflow("etl")
    etl.step("extract", diary.step("extract", {"path": "/data"}))
    etl.step("load", diary.step("load"), payload=path).after("extract")
    etl.step("report", diary.step("report"), payload=path).after("load")
    etl.step("tell", diary.step("tell")).after("load").after("extract", path="path", equals="/data")
    app.workflow(etl)
    return app


async def fail(app: Foliot, engine: InlineEngine) -> str:
    execution_id = await app.workflows.start("etl")
    await engine.run_until_idle()
    assert (await app.runs.get(execution_id)).status == "failed"
    return execution_id


async def forget_all_that_is_over(app: Foliot, *, limit: int = 1_000) -> None:
    upkeep = (await app.open()).storage.upkeep
    epoch = await upkeep.lead("janitor", Millis(1_000))
    await upkeep.prune(retention(executions_per_workflow=0), epoch=epoch or 0, limit=limit)


async def test_outputs_of_kept_steps_outlive_their_execution(app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    before = await fail(app, engine)
    diary.failing = set()
    diary.hold("load")
    after = await app.workflows.rerun(before)
    await engine.run_until_idle()

    await forget_all_that_is_over(app)
    diary.let_go("load")
    await engine.run_until_idle()

    assert await app.workflows.status(before) is None
    assert (await app.runs.get(after)).status == "success"
    [report] = await app.runs.page(job="etl.report")
    assert report.input_payload == {"path": "/data"}


async def fail_twice(app: Foliot, engine: InlineEngine, diary: Diary) -> str:
    """Return a rerun that failed while the first execution was pruned. Later runs succeed."""
    second = await app.workflows.rerun(await fail(app, engine))
    diary.hold("load")
    await engine.run_until_idle()
    await forget_all_that_is_over(app)
    diary.let_go("load")
    await engine.run_until_idle()
    diary.ran, diary.failing = [], set()
    return second


async def test_outputs_of_kept_steps_are_carried_through_further_reruns(
    app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    second = await fail_twice(app, engine, diary)

    third = await app.workflows.rerun(second)
    await engine.run_until_idle()

    assert (await app.runs.get(third)).status == "success"
    assert [run.input_payload for run in await app.runs.page(job="etl.load")] == [{"path": "/data"}] * 2


async def test_edge_tests_read_carried_outputs(app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    second = await fail_twice(app, engine, diary)

    await app.workflows.rerun(second)
    await engine.run_until_idle()

    assert sorted(diary.ran) == ["load", "report", "tell"]


async def test_a_rerun_with_nothing_left_to_run_ends_immediately(diary: Diary) -> None:
    app, short = Foliot(), Workflow("etl")
    short.step("extract", diary.step("extract"))
    short.step("load", diary.step("load")).after("extract")
    app.workflow(short)

    async with InlineEngine(app) as engine:
        after = await app.workflows.mark_step(await fail(app, engine), "load")
        await engine.run_until_idle()

        assert (await app.runs.get(after)).status == "success"
        assert [len(await app.runs.page(job=f"etl.{name}")) for name in ("extract", "load")] == [1, 1]


async def test_after_a_mark_neither_the_step_nor_another_failure_is_run_again(diary: Diary) -> None:
    app, diary.failing = Foliot(), {"load", "check"}
    etl = Workflow("etl")
    etl.step("load", diary.step("load"))
    etl.step("check", diary.step("check"))
    etl.step("report", diary.step("report")).after("load")
    app.workflow(etl)
    async with InlineEngine(app) as engine:
        after = await app.workflows.mark_step(await fail(app, engine), "load")
        await engine.run_until_idle()

        execution = await app.workflows.status(after)
        assert execution is not None
        assert execution.results == {"load": "success", "check": "failure", "report": "success"}
        assert [len(await app.runs.page(job=f"etl.{name}")) for name in ("load", "check", "report")] == [1, 1, 1]
        assert execution.status == "failed"


async def test_outputs_that_no_step_uses_are_not_carried(app: Foliot, engine: InlineEngine) -> None:
    before = await fail(app, engine)
    everything = await app.workflows.rerun(before, "extract")

    overrides = await (await app.open()).storage.queries.overrides(RunId(everything))

    assert overrides is not None
    assert b"carried" not in overrides


async def test_a_rerun_whose_results_were_pruned_fails_with_a_message(app: Foliot, engine: InlineEngine) -> None:
    before = await fail(app, engine)
    after = await app.workflows.rerun(before)
    await forget_all_that_is_over(app)
    await engine.run_until_idle()

    run = await app.runs.get(after)
    assert (run.status, run.reason) == ("failed", "launch_failed")
    said, _, advice = (run.error_message or "").partition("\n")
    assert said == f"execution {before}, whose results were to be kept, is no longer stored"
    assert advice.strip() == "Start the workflow again, or keep executions longer."


async def test_a_rerun_without_a_needed_output_is_refused(app: Foliot, engine: InlineEngine, diary: Diary) -> None:
    """An execution is removed in pieces, beginning with the runs of its steps."""
    before = await fail(app, engine)
    await forget_all_that_is_over(app, limit=1)
    assert await app.runs.page(job="etl.extract") == []

    with pytest.raises(InvalidRun, match=r'the output of step "extract" of execution \w+ is no longer stored'):
        await app.workflows.rerun(before)

    diary.failing = set()
    again = await app.workflows.rerun(before, "extract")
    await engine.run_until_idle()
    assert (await app.runs.get(again)).status == "success"
