"""Reruns of executions, and the outputs that they carry over."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot import Foliot, Workflow
from foliot.domain.ids import RunId
from foliot.domain.instant import Millis
from foliot.errors import InvalidRun, NotFound
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


# -- after a change of the workflow


def chain(*names: str, **fields: Any) -> Workflow:
    """Steps that run the jobs of these names, one after the other."""
    etl = Workflow("etl", **fields)
    for parent, name in zip((None, *names), names, strict=False):
        step = etl.step(name, job=name)
        if parent is not None:
            step.after(parent)
    return etl


@pytest.fixture
async def changing(diary: Diary) -> AsyncIterator[tuple[Foliot, InlineEngine]]:
    """An application with a workflow of jobs, which a test changes."""
    app = Foliot()
    for name in ("extract", "check", "load", "publish"):
        app.job(id=name)(diary.step(name, {"from": name}))
    async with InlineEngine(app) as engine:
        yield app, engine


async def put(app: Foliot, workflow: Workflow) -> None:
    await (await app.open()).workflows.put({workflow.id: workflow.spec})


@pytest.mark.parametrize("same_version", [False, True])
async def test_a_rerun_runs_the_newest_version_unless_the_same_is_asked_for(
    changing: tuple[Foliot, InlineEngine], diary: Diary, same_version: bool
) -> None:
    app, engine = changing
    await put(app, chain("extract", "load"))
    before = await fail(app, engine)
    diary.ran, diary.failing = [], set()
    await put(app, chain("extract", "load", "publish"))

    after = await app.workflows.rerun(before, same_version=same_version)
    await engine.run_until_idle()

    execution = await app.workflows.execution(after)
    assert (execution.status, execution.version) == ("success", 1 if same_version else 2)
    assert (execution.rerun_of, execution.rerun_version) == (before, 1)
    assert diary.ran == (["load"] if same_version else ["load", "publish"])


async def test_a_new_step_runs_with_the_steps_after_it(changing: tuple[Foliot, InlineEngine], diary: Diary) -> None:
    app, engine = changing
    await put(app, chain("extract", "load", "publish"))
    before = await fail(app, engine)
    diary.ran, diary.failing = [], set()
    await put(app, chain("extract", "check", "load"))

    after = await app.workflows.rerun(before)
    await engine.run_until_idle()

    assert diary.ran == ["check", "load"]
    assert (await app.workflows.execution(after)).results == dict.fromkeys(("extract", "check", "load"), "success")


async def test_a_paused_new_step_that_a_template_names_has_no_output(
    changing: tuple[Foliot, InlineEngine], diary: Diary
) -> None:
    app, engine = changing
    await put(app, chain("load"))
    before = await fail(app, engine)
    diary.failing = set()
    changed = Workflow("etl")
    changed.step("check", job="check")
    changed.step("load", job="load", payload={"checked": "{{ steps.check.output }}"}).after("check", "complete")
    await put(app, changed)
    await app.workflows.pause_step("etl", "check")

    after = await app.workflows.rerun(before)
    await engine.run_until_idle()

    assert (await app.workflows.execution(after)).results == {"check": "skipped", "load": "success"}
    [load] = await app.runs.page(job="load", limit=1)
    assert load.input_payload == {"checked": None}


async def test_a_rerun_is_refused_if_a_step_it_keeps_is_gone(
    changing: tuple[Foliot, InlineEngine],
) -> None:
    app, engine = changing
    await put(app, chain("extract", "load", "publish"))
    before = await fail(app, engine)
    await put(app, chain("load"))

    with pytest.raises(InvalidRun) as refused:
        await app.workflows.rerun(before)

    assert (
        refused.value.message == f'version 2 does not have step "extract", whose result execution {before} would keep'
    )
    assert refused.value.hint == f"To use version 1: foliot workflows rerun {before} --same-version"


async def test_a_rerun_is_refused_if_the_failed_step_is_gone(changing: tuple[Foliot, InlineEngine]) -> None:
    app, engine = changing
    await put(app, chain("extract", "load"))
    before = await fail(app, engine)
    await put(app, chain("extract", "publish"))

    with pytest.raises(InvalidRun, match='version 2 does not have step "load", which is to run again'):
        await app.workflows.rerun(before)

    with pytest.raises(NotFound, match="step 'lod' does not exist"):
        await app.workflows.rerun(before, "lod")


async def test_given_parameters_are_kept_and_defaults_are_those_of_the_new_version(
    changing: tuple[Foliot, InlineEngine],
) -> None:
    app, engine = changing
    await put(app, chain("load", params={"day": 1, "path": "/wrong"}))
    before = await app.workflows.start("etl", {"day": 7})
    await engine.run_until_idle()
    await put(app, chain("load", params={"day": 1, "path": "/right"}))

    after = await app.workflows.rerun(before)
    await engine.run_until_idle()

    assert (await app.workflows.execution(after)).params == {"day": 7, "path": "/right"}
    await put(app, chain("load", params={"path": "/right"}))
    with pytest.raises(InvalidRun, match="version 3 does not take these parameters: parameter 'day' does not exist"):
        await app.workflows.rerun(before)
