"""Hooks are called for runs, steps and executions, and change none of them."""

import logging
from datetime import timedelta

import pytest

from foliot import Foliot, Workflow
from foliot.errors import InvalidInput
from foliot.service.queries.execution_view import ExecutionView, StepView
from foliot.service.queries.run_view import RunView
from foliot.testing.inline import InlineEngine


class Log:
    """Registers all hooks and records their calls."""

    def __init__(self, app: Foliot, name: str | None = None) -> None:
        self.calls: list[str] = []
        app.on_run_start(name=name)(lambda run: self.note("run start", run.job_id))
        app.on_run_end(name=name)(lambda run: self.note("run end", f"{run.job_id} {run.status}"))
        app.on_step_start(name=name)(lambda _, step: self.note("step start", step.name))
        app.on_step_end(name=name)(lambda _, step: self.note("step end", f"{step.name} {step.result}"))
        app.on_workflow_complete(name=name)(lambda whole: self.note("complete", whole.workflow_id))

    def note(self, *words: str) -> None:
        self.calls.append(" ".join(words))

    def of(self, beginning: str) -> list[str]:
        return [call.removeprefix(f"{beginning} ") for call in self.calls if call.startswith(beginning)]


@pytest.fixture
def app() -> Foliot:
    made = Foliot()

    @made.job
    async def good() -> None: ...

    @made.job(retries=2, retry_delay=60)
    async def bad() -> None:
        raise ValueError("no")

    return made


@pytest.mark.proves("R2-56")
@pytest.mark.parametrize("name", [None, "billing"])
async def test_every_run_of_every_job_calls_the_start_and_end_hook_once(app: Foliot, name: str | None) -> None:
    log = Log(app, name)
    async with InlineEngine(app) as engine:
        await app.enqueue("good")
        await app.enqueue("bad")
        await app.runs.cancel(await app.enqueue("good", delay=3600))
        await engine.advance(timedelta(hours=1))

    assert sorted(log.of("run start")) == ["bad", "good"]
    assert sorted(log.of("run end")) == ["bad failed", "good cancelled", "good success"]


@pytest.mark.proves("R2-56", "R2-57")
async def test_every_step_calls_the_start_and_end_hook_once(app: Foliot) -> None:
    flow = Workflow("flow")
    flow.step("one", job="good")
    flow.step("two", job="good").after("one")
    flow.step("never", job="good").after("one", "failure")
    app.workflow(flow)
    log = Log(app)
    async with InlineEngine(app) as engine:
        await app.workflows.start("flow")
        await engine.run_until_idle()

    assert log.of("step start") == ["one", "two"]
    assert sorted(log.of("step end")) == ["never skipped", "one success", "two success"]
    assert log.of("complete") == ["flow"]
    assert sorted(log.of("run start")) == ["flow", "good", "good"]
    assert (
        log.calls.index("step start one") < log.calls.index("step end one success") < log.calls.index("complete flow")
    )


async def test_a_question_to_a_person_calls_the_start_hook(app: Foliot) -> None:
    flow = Workflow("flow")
    flow.step("ask", approve=True)
    app.workflow(flow)
    log = Log(app)
    async with InlineEngine(app) as engine:
        execution = await app.workflows.start("flow")
        await engine.run_until_idle()
        assert (log.of("step start"), log.of("step end")) == (["ask"], [])

        await app.workflows.approve(execution, "ask")
        await engine.run_until_idle()

    assert log.of("step end") == ["ask success"]


async def test_a_hook_gets_the_run_as_it_is_stored(app: Foliot) -> None:
    ended: list[RunView] = []

    @app.on_run_end
    async def keep(run: RunView) -> None:
        ended.append(run)

    async with InlineEngine(app) as engine:
        run_id = await app.enqueue("good", {})
        await engine.run_until_idle()

        assert ended == [await app.runs.get(run_id)]


async def test_a_hook_that_raises_is_logged_and_changes_nothing(app: Foliot, caplog: pytest.LogCaptureFixture) -> None:
    @app.on_run_end
    def broken(run: RunView) -> None:
        raise ValueError("no")

    @app.on_step_end
    async def broken_too(execution: ExecutionView, step: StepView) -> None:
        raise ValueError("no")

    log = Log(app)
    async with InlineEngine(app) as engine:
        run_id = await app.enqueue("good")
        await engine.run_until_idle()
        run = await app.runs.get(run_id)

    assert (run.status, run.attempt) == ("success", 1)
    assert log.of("run end") == ["good success"]
    [record] = [one for one in caplog.records if one.message == "hook_failed"]
    assert record.levelno == logging.ERROR
    assert (record.__dict__["hook"], record.__dict__["id"]) == ("on_run_end", run_id)


async def test_a_hook_can_enqueue_runs(app: Foliot) -> None:
    @app.on_run_end
    async def follow(run: RunView) -> None:
        if run.job_id == "bad":
            await app.enqueue("good")

    log = Log(app)
    async with InlineEngine(app) as engine:
        await app.enqueue("bad", retries=0)
        await engine.run_until_idle()

    assert log.of("run end") == ["bad failed", "good success"]


async def test_a_hook_registered_later_gets_only_later_events(app: Foliot) -> None:
    async with InlineEngine(app) as engine:
        await app.enqueue("good")
        await engine.run_until_idle()
        log = Log(app)
        await app.enqueue("bad", retries=0)
        await engine.run_until_idle()

    assert log.of("run end") == ["bad failed"]


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 129, 7])
def test_the_name_of_a_hook_must_be_short_printable_text(app: Foliot, name: object) -> None:
    with pytest.raises(InvalidInput, match="the name of a hook") as refused:
        app.on_run_end(name=name)(print)  # type: ignore[call-overload]

    assert refused.value.hint


def test_a_hook_must_be_a_function(app: Foliot) -> None:
    with pytest.raises(InvalidInput, match="on_run_end needs a function"):
        app.on_run_end("report")  # type: ignore[call-overload]
