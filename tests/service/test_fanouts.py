"""Pages of fanouts, and running their failed items again."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from foliot import Foliot, Workflow
from foliot.domain.fanout.kind import FanoutBody
from foliot.domain.fanout.progress import Counts, Progress, ReducerState
from foliot.domain.fanout.spec import FanoutFields, Reducer
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import Run, Status
from foliot.errors import FoliotError, InvalidInput, InvalidRun
from foliot.ports.fanouts import FanoutDetails, FanoutRecord
from foliot.service.explanation import FanoutRunning
from foliot.service.queries.fanout_view import FanoutView, view_fanout
from foliot.service.services import Services
from foliot.testing.inline import InlineEngine
from tests.service.test_step_logs import logs_of, printed

COMMAND = 'echo "$FANOUT_ITEM"; test "$FANOUT_ITEM" != bad'


def a_fanout(**fields: Any) -> JobSpec:
    spec = {"command": COMMAND, "items": ["a", "bad", "c"], **fields}
    return JobSpec(kind="fanout", spec=spec, options=Options(queue=TREES_QUEUE), source="app")


@pytest.fixture
def app() -> Foliot:
    return Foliot()


@pytest.fixture
async def engine(app: Foliot) -> AsyncIterator[InlineEngine]:
    async with InlineEngine(app) as engine:
        yield engine


async def ran(app: Foliot, engine: InlineEngine, job: JobSpec, name: str = "each") -> str:
    """Run a fanout to its end, and return its id."""
    await (await app.open()).jobs.put({JobId(name): job})
    run_id = await app.enqueue(name)
    await finished(app, engine, run_id)
    return run_id


async def finished(app: Foliot, engine: InlineEngine, run_id: str) -> Services:
    while not (await app.runs.get(run_id)).status.is_terminal:
        await engine.join()
    return await app.open()


async def items_of(services: Services, run_id: str, **fields: Any) -> list[tuple[str | None, str]]:
    page = await services.queries.fanouts.items(run_id, **fields)
    return [(item.item, item.status) for item in page.items]


# -- running failed items again


async def test_only_the_failed_items_run_again(app: Foliot, engine: InlineEngine) -> None:
    first = await ran(app, engine, a_fanout())

    second = await app.runs.retry_failed(first)
    services = await finished(app, engine, second)
    third = await app.runs.retry_failed(second)
    await finished(app, engine, third)

    for run_id, before in ((second, first), (third, second)):
        assert await items_of(services, run_id) == [("bad", "failed")]
        page = await services.queries.runs.page(run_id)
        assert page.fanout is not None
        assert page.fanout.rerun_of == before


async def test_a_rerun_does_not_read_the_inputs_again(app: Foliot, engine: InlineEngine) -> None:
    first = await ran(app, engine, a_fanout())
    await (await app.open()).jobs.put({JobId("each"): a_fanout(items=["other"], command="true")})

    second = await app.runs.retry_failed(first)
    services = await finished(app, engine, second)

    assert await items_of(services, second) == [("bad", "success")]


async def test_a_rerun_of_what_is_no_failed_fanout_is_refused(app: Foliot, engine: InlineEngine) -> None:
    fine = await ran(app, engine, a_fanout(items=["a"]), "fine")
    failed = await ran(app, engine, a_fanout())
    await (await app.open()).jobs.put({JobId("shell"): JobSpec(kind="shell", spec={"command": "true"}, source="app")})
    alone = await app.enqueue("shell")
    await finished(app, engine, alone)
    [child] = await app.runs.page(job="fine.item")
    await (await app.open()).jobs.put({JobId("each"): JobSpec(kind="shell", spec={"command": "true"}, source="app")})

    for run_id, kind, said in (
        (fine, InvalidRun, "has no failed items"),
        (alone, InvalidInput, "is not a fanout"),
        (child.id, InvalidInput, "is not a fanout"),
        (failed, InvalidRun, "is no fanout any more"),
    ):
        with pytest.raises(kind, match=said):
            await app.runs.retry_failed(run_id)


async def test_a_fanout_without_items_yet_cannot_be_rerun(app: Foliot, engine: InlineEngine) -> None:
    failed = await ran(app, engine, a_fanout(items=None, inputs_from="nowhere://x"))

    with pytest.raises(FoliotError, match="has no items: failed"):
        await app.runs.retry_failed(failed)


async def test_the_failed_items_of_a_map_run_again(app: Foliot, engine: InlineEngine) -> None:
    services = await app.open()
    job = JobSpec(kind="shell", spec={"command": COMMAND}, source="app")
    await services.jobs.put({JobId("check"): job})
    waiting = await services.maps.start("check", ["a", "bad"], {"job": "check"})
    assert (await app.runs.get(waiting)).kind == "fanout"
    await finished(app, engine, waiting)
    with pytest.raises(InvalidRun, match=r"was started by app\.map"):
        await app.runs.retry(waiting)

    again = await app.runs.retry_failed(waiting)
    await finished(app, engine, again)

    assert await items_of(services, waiting) == [("a", "success"), ("bad", "failed")]
    assert await items_of(services, again) == [("bad", "failed")]


# -- fanouts in workflows, and workflows in fanouts


async def test_a_step_that_is_a_fanout_is_shown_as_both(app: Foliot, engine: InlineEngine) -> None:
    services = await app.open()
    await services.jobs.put({JobId("each"): a_fanout()})
    flow = Workflow("flow")
    flow.step("scan", job="each")
    await services.workflows.put({"flow": flow.spec})
    execution_id = await app.workflows.start("flow")
    await finished(app, engine, execution_id)

    [step] = await app.runs.page(job="each")
    page = await services.queries.runs.page(step.id)
    logs = await logs_of(app, execution_id)

    assert (page.run.kind, page.run.role, page.step) == ("step", "parent", "scan")
    assert page.fanout is not None
    assert page.fanout.failed == 1
    assert page.execution is not None
    assert page.execution.execution.id == execution_id
    assert await printed(logs) == []  # items are left out


async def test_an_item_that_is_a_workflow_is_shown_with_its_steps(app: Foliot, engine: InlineEngine) -> None:
    flow = Workflow("flow", params={"who": ""})
    flow.step("greet", shell="echo hello")
    services = await app.open()
    await services.workflows.put({"flow": flow.spec})
    options = Options(queue=TREES_QUEUE)
    spec = {"job": "flow", "items": [{"who": "Ada"}]}
    fanout = await ran(app, engine, JobSpec(kind="fanout", spec=spec, options=options, source="app"))

    [item] = await app.runs.page(job="flow")
    page = await services.queries.runs.page(item.id)

    assert (item.kind, item.role, item.parent_id, item.item) == ("item", "child", fanout, '{"who":"Ada"}')
    assert page.execution is not None
    assert [step.name for step in page.execution.execution.steps] == ["greet"]
    assert page.step is None
    assert await printed(await logs_of(app, item.id)) == [("greet", b"hello\n")]


# -- numbers


def a_view(
    progress: Progress, *, status: Status = Status.RUNNING, running: int = 0, after: int = 10_000, **fields: Any
) -> FanoutView:
    """Build the view of a fanout of 100 items, so many milliseconds after it was opened."""
    body = FanoutBody(
        items=100, fields=FanoutFields(**fields), child=JobId("each.item"), reducer=JobId("each.reducer"), jobs={}
    )
    record = FanoutRecord(RunId("1"), body, progress, Instant(0), None, is_ending=False)
    run = a_stored_run(status, finished_at=Instant(after) if status.is_terminal else None)
    return view_fanout(FanoutDetails(record, running, None, {}), run, Instant(after))


def a_stored_run(status: Status, **fields: Any) -> Run:
    empty: dict[str, Any] = dict.fromkeys(Run._fields)
    return Run(**{**empty, "status": status, **fields})


def test_items_are_counted_by_where_they_are() -> None:
    progress = Progress(next=30, open=[(20, 29)], counts=Counts(succeeded=15, failed=3, timed_out=2))

    view = a_view(progress, running=4)

    assert (view.pending, view.waiting, view.running, view.ended) == (70, 6, 4, 20)
    assert (view.succeeded, view.failed, view.timed_out, view.cancelled) == (15, 3, 2, 0)


def test_throughput_and_expected_end_follow_from_what_has_ended() -> None:
    view = a_view(Progress(next=30, open=[(20, 29)], counts=Counts(succeeded=20)), after=10_000)

    assert view.throughput == 2.0
    assert view.eta == to_datetime(Instant(10_000)) + timedelta(seconds=40)


def test_nothing_is_expected_of_a_fanout_that_has_just_begun_or_has_ended() -> None:
    assert a_view(Progress(next=10, open=[(0, 9)])).eta is None
    assert a_view(Progress(next=10, open=[(0, 9)])).throughput is None
    ended = a_view(Progress(next=100, counts=Counts(succeeded=90, cancelled=10)), status=Status.CANCELLED)
    assert (ended.eta, ended.throughput) == (None, 10.0)


def test_a_reducer_without_a_run_has_its_state() -> None:
    view = a_view(Progress(reducer=ReducerState.NOT_DUE), reducer=Reducer())

    assert view.reducer is not None
    assert (view.reducer.state, view.reducer.run_id, view.reducer.run_on) == ("not_due", None, "success")


def test_views_can_be_sent_as_json() -> None:
    view = a_view(Progress(next=10, open=[(0, 9)]), reducer=Reducer())

    assert msgspec.json.decode(msgspec.json.encode(view), type=FanoutView) == view
    why = FanoutRunning(total=100, ended=0, running=4, concurrency=4, is_reducing=False)
    assert msgspec.json.decode(msgspec.json.encode(why))["code"] == "fanout_running"
