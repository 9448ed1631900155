"""`app.map` runs a job for each item, yields the results, and survives its caller."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import HOUR, MINUTE, Millis
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import Status
from foliot.errors import InputsRefused, InvalidInput, InvalidJob, InvalidRun, NotFound
from foliot.ports.pages import RunFilter
from foliot.testing.builders import retention
from foliot.testing.inline import InlineEngine
from tests.interfaces.serving import served


@pytest.fixture
def gate() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
def app(url: str, gate: asyncio.Event) -> Foliot:
    app = Foliot(url)

    @app.job
    async def double(n: int) -> int:
        if n < 0:
            raise ValueError(f"{n} is negative")
        return 2 * n

    @app.job
    async def held(n: int) -> int:
        if n == 0:
            await gate.wait()
        return n

    @app.job(payload={"n": 21})
    async def named(n: int) -> int:
        return n

    app.shell("print", 'printf %s "$FANOUT_ITEM"', output="text")
    return app


async def run_ids(app: Foliot) -> list[str]:
    storage = (await app.open()).storage
    return [run.id for run in await storage.queries.page_runs(RunFilter(limit=10_000))]


# -- results


async def test_results_are_in_the_order_of_the_items(app: Foliot) -> None:
    async with served(app):
        fanout = app.map("double", range(510), concurrency=8)
        results = [result async for result in fanout]

        assert [(one.index, one.item, one.output) for one in results] == [(n, n, 2 * n) for n in range(510)]
        assert {one.status for one in results} == {Status.SUCCESS}
        assert len({one.run_id for one in results}) == 510
        assert fanout.run_id is not None
        assert (await app.runs.wait(fanout.run_id)).status == "success"


async def test_results_as_they_come_do_not_wait_for_earlier_items(app: Foliot, gate: asyncio.Event) -> None:
    async with served(app):
        indices = []
        async for result in app.map("held", range(150), concurrency=2, ordered=False):
            indices.append(result.index)
            if len(indices) == 149:
                assert 0 not in indices
                gate.set()

        assert (sorted(indices), indices[-1]) == (list(range(150)), 0)


async def test_ordered_results_wait_for_earlier_items(app: Foliot, gate: asyncio.Event) -> None:
    async with served(app):
        fanout = await app.start_map("held", range(20), concurrency=4)
        results = aiter(fanout)
        first = asyncio.ensure_future(anext(results))
        while len(await app.runs.page(job="held", status="success")) < 19:
            await asyncio.sleep(0.01)
        assert not first.done()
        gate.set()

        assert [(await first).index, *[result.index async for result in results]] == list(range(20))


async def test_a_failed_item_has_its_error_and_the_fanout_its_tolerance(app: Foliot) -> None:
    async with served(app):
        fanout = app.map("double", [1, -1, 3, 4], partial_tolerance=0.25)
        results = [result async for result in fanout]

        assert [one.status for one in results] == ["success", "failed", "success", "success"]
        assert (results[1].item, results[1].output) == (-1, None)
        assert "-1 is negative" in str(results[1].error)
        assert fanout.run_id is not None
        assert (await app.runs.wait(fanout.run_id)).status == "partial"


async def test_items_are_payloads(app: Foliot) -> None:
    async with served(app):
        named = [one.output async for one in app.map("named", [{"n": 1}, 2, None])]
        printed = [one.output async for one in app.map("print", ["a b", "$(echo x)", "käse", 7, [1, None]])]

    assert named == [1, 2, 21]
    assert printed == ["a b", "$(echo x)", "käse", "7", "[1,null]"]


async def test_a_fanout_without_items_has_no_results(app: Foliot) -> None:
    async with served(app):
        assert [result async for result in app.map("double", [])] == []


async def test_items_may_come_from_an_asynchronous_iterator(app: Foliot) -> None:
    async def numbers() -> AsyncIterator[int]:
        for n in range(1_200):
            yield n

    async with served(app):
        fanout = app.map("double", numbers(), concurrency=50)

        assert [result.item async for result in fanout] == list(range(1_200))


async def test_items_are_stored_while_they_are_read(app: Foliot) -> None:
    """A million items must not be in memory together."""
    live = most = 0

    class Item(dict[str, int]):
        def __init__(self) -> None:
            nonlocal live, most
            super().__init__(n=1)
            live += 1
            most = max(most, live)

        def __del__(self) -> None:
            nonlocal live
            live -= 1

    async with app:
        fanout = await app.start_map("named", (Item() for _ in range(10_000)))

        assert await (await app.open()).storage.items.count(fanout.run_id) == 10_000  # type: ignore[arg-type]
    assert most < 3_000


def test_plain_code_uses_a_plain_loop(url: str) -> None:
    app = Foliot(url)

    @app.job
    async def double(n: int) -> int:
        return 2 * n

    async def serve() -> list[Any]:
        async with served(app):
            return await asyncio.to_thread(lambda: [one.output for one in app.map(double, [1, 2, 3])])

    assert asyncio.run(serve()) == [2, 4, 6]


async def test_the_inline_engine_runs_a_fanout() -> None:
    app = Foliot()

    @app.job
    def double(n: int) -> int:
        return 2 * n

    async with InlineEngine(app) as engine:
        fanout = await app.start_map(double, [1, 2, 3])
        await engine.run_until_idle()

        assert [result.output async for result in fanout] == [2, 4, 6]


@pytest.mark.parametrize("ordered", [True, False])
async def test_results_are_not_read_one_by_one(ordered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    app = Foliot()

    @app.job
    def double(n: int) -> int:
        return 2 * n

    async with InlineEngine(app) as engine:
        fanout = await app.start_map(double, range(300), ordered=ordered)
        await engine.run_until_idle()
        store = (await app.open()).storage.items
        reads: list[ResultQuery] = []
        read = store.results

        async def counted(run_id: RunId, query: ResultQuery) -> list[ChildResult]:
            reads.append(query)
            return await read(run_id, query)

        monkeypatch.setattr(store, "results", counted)
        assert len([result async for result in fanout]) == 300

    assert len(reads) == 1


@pytest.mark.parametrize("ordered", [True, False])
async def test_results_that_retention_has_removed_are_reported(ordered: bool) -> None:
    app = Foliot()

    @app.job
    def double(n: int) -> int:
        return 2 * n

    async with InlineEngine(app) as engine:
        fanout = await app.start_map(double, range(30), ordered=ordered)
        await engine.run_until_idle()
        await engine.advance(timedelta(hours=2))
        upkeep = (await app.open()).storage.upkeep
        epoch = await upkeep.lead("janitor", Millis(MINUTE))
        assert epoch is not None
        await upkeep.prune(retention(executions_age=Millis(HOUR)), epoch=epoch, limit=10)

        with pytest.raises(InvalidRun, match="have been removed"):
            [result async for result in fanout]


# -- the caller


async def test_a_fanout_goes_on_without_its_caller_who_can_attach_again(app: Foliot) -> None:
    async with served(app):
        async for _ in (fanout := app.map("double", range(50))):
            break
        assert fanout.run_id is not None
        assert (await app.runs.wait(fanout.run_id)).status == "success"

        attached = [result.output async for result in app.attach_map(fanout.run_id)]
        again = [result.output async for result in app.attach_map(fanout.run_id, ordered=False)]

        assert (attached, sorted(again)) == ([2 * n for n in range(50)], [2 * n for n in range(50)])


async def test_a_fanout_is_executed_by_a_server_that_starts_later(app: Foliot) -> None:
    async with app:
        fanout = await app.start_map("double", [1, 2])

    async with served(app):
        assert [result.output async for result in app.attach_map(str(fanout.run_id))] == [2, 4]


@pytest.mark.parametrize("ordered", [True, False])
async def test_items_that_never_started_are_cancelled_with_their_fanout(app: Foliot, ordered: bool) -> None:
    async with served(app):
        fanout = await app.start_map("held", [0] * 700, concurrency=2, ordered=ordered)
        while not [run for run in await app.runs.page(status="running", children=True) if run.parent_id]:
            await asyncio.sleep(0.01)
        await app.runs.cancel(str(fanout.run_id))

        results = sorted([result async for result in fanout], key=lambda one: one.index)

        assert [(one.index, one.item, one.status) for one in results] == [(n, 0, "cancelled") for n in range(700)]
        assert (results[0].run_id is None, results[-1].run_id is None) == (False, True)


async def test_the_results_of_a_fanout_that_could_not_begin_have_its_error(app: Foliot) -> None:
    async with app:
        fanout = await app.start_map("named", [1, 2])
        await app.jobs.delete("named", force=True)

    app._jobs.pop(JobId("named"))
    async with served(app):
        results = [result async for result in app.attach_map(str(fanout.run_id))]

    assert [(one.item, one.status, one.run_id) for one in results] == [(1, "cancelled", None), (2, "cancelled", None)]
    assert "named" in str(results[0].error)


# -- refused


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"concurrency": 0}, "concurrency must be 1 to 10000, not 0"),
        ({"concurrency": 10_001}, "concurrency"),
        ({"concurrency": "many"}, "concurrency"),
        ({"partial_tolerance": 1.5}, "partial_tolerance must be 0 to 1, not 1.5"),
        ({"partial_tolerance": -0.1}, "partial_tolerance"),
        ({"per_item_timeout": 0}, "per_item_timeout"),
        ({"max_items": 0}, "max_items"),
        ({"concurency": 4}, "concurency"),
        ({"ordered": "yes"}, "ordered must be true or false"),
    ],
)
async def test_wrong_options_are_refused(app: Foliot, options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named) as refused:
        app.map("double", [1], **options)

    assert refused.value.hint


@pytest.mark.parametrize("item", [b"bytes", {1: 2}, object(), float("nan"), "a\0b", "\ud800"])
async def test_an_item_that_is_no_payload_is_refused_before_any_run_exists(app: Foliot, item: Any) -> None:
    async with app:
        fanout = app.map("double", (n if n < 5_000 else item for n in range(5_001)))

        with pytest.raises(InvalidRun, match="item 5000"):
            await fanout.start()
        with pytest.raises(InvalidRun, match="could not be started"):
            await fanout.start()

        assert await run_ids(app) == []


async def test_more_items_than_allowed_are_refused(app: Foliot) -> None:
    def endless() -> Iterator[int]:
        while True:
            yield 1

    async with app:
        with pytest.raises(InputsRefused, match="more than 3000 items"):
            await app.start_map("double", endless(), max_items=3_000)
        with pytest.raises(InputsRefused, match="more than 65536 bytes"):
            await app.start_map("double", ["x" * 70_000])

        assert await run_ids(app) == []


@pytest.mark.parametrize("items", ["text", b"bytes", {"a": 1}, 7, None])
async def test_items_must_be_many(app: Foliot, items: Any) -> None:
    async with app:
        with pytest.raises(InvalidRun, match="items must be a list"):
            await app.start_map("double", items)


async def test_a_job_that_does_not_exist_is_refused(app: Foliot) -> None:
    def undeclared() -> None: ...

    async with app:
        with pytest.raises(InvalidJob, match="not a job of this application"):
            app.map(undeclared, [1])
        with pytest.raises(NotFound, match="trebble"):
            await app.start_map("trebble", [1])
        assert await run_ids(app) == []


async def test_a_job_that_starts_runs_itself_is_refused(app: Foliot) -> None:
    spec = JobSpec(kind=FANOUT, spec={"command": "true", "items": ["a"]}, options=Options(queue=TREES_QUEUE))
    async with app:
        await (await app.open()).jobs.put({JobId("digest"): spec})

        with pytest.raises(InvalidRun, match='"digest" is a fanout'):
            await app.start_map("digest", [1])


async def test_attaching_to_what_is_no_fanout_is_refused(app: Foliot) -> None:
    async with app:
        run_id = await app.enqueue("double", 1)

        with pytest.raises(InvalidRun, match="has no items"):
            [result async for result in app.attach_map(run_id)]
        with pytest.raises(NotFound):
            [result async for result in app.attach_map("01MISSING")]
