"""An application inside a test: virtual time, no threads, no sleeping."""

import asyncio
import threading
from datetime import timedelta

import pytest

from foliot import Foliot
from foliot.domain.instant import HOUR, later, to_datetime
from foliot.domain.run.run import Status
from foliot.testing.clock import START, VirtualClock
from foliot.testing.inline import InlineEngine
from tests.engine.ease import ease


@pytest.mark.proves("R1-15", "R4-03")
async def test_a_year_of_daily_runs_takes_no_real_time(app: Foliot) -> None:
    seen = []

    @app.job
    async def report() -> None:
        seen.append(engine.clock.now())

    app.schedule("daily", report, cron="0 6 * * *")
    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(days=365))

    assert seen == [later(START, day * 24 * HOUR + 6 * HOUR) for day in range(365)]


async def test_two_inline_engines_give_the_same_result(app: Foliot) -> None:
    @app.job(retries=3, retry_delay=10, retry_jitter=0.5)
    def shaky() -> None:
        raise ValueError

    app.schedule("often", shaky, every=45, overlap="allow", jitter=5)
    stories = []
    for _ in range(2):
        async with InlineEngine(app) as engine:
            await engine.advance(timedelta(hours=1))
            stories.append(await app.runs.page(limit=1_000))

    assert stories[0] == stories[1]
    assert len(stories[0]) > 50


async def test_plain_functions_run_in_the_thread_of_the_test(app: Foliot) -> None:
    @app.job
    def where() -> int:
        return threading.get_ident()

    async with InlineEngine(app) as engine:
        run_id = await app.enqueue(where)
        await engine.run_until_idle()
        run = await app.runs.get(run_id)

    assert run.output_payload == threading.get_ident()


async def test_an_inline_retry_runs_when_it_is_due(app: Foliot) -> None:
    tried = []

    @app.job(retries=2, retry_delays=[10, 100])
    def shaky() -> None:
        tried.append(engine.clock.now() - START)
        raise ValueError

    async with InlineEngine(app) as engine:
        await app.enqueue(shaky)
        await engine.advance(timedelta(minutes=10))

    assert tried == [0, 10_000, 110_000]


async def test_an_inline_run_for_later_starts_when_it_is_due(app: Foliot) -> None:
    @app.job
    def report() -> None: ...

    async with InlineEngine(app) as engine:
        run_id = await app.enqueue(report, delay=timedelta(hours=2))
        await engine.advance(timedelta(hours=1))
        assert (await app.runs.get(run_id)).status is Status.SCHEDULED
        await engine.advance(timedelta(hours=1))
        run = await app.runs.get(run_id)

    assert (run.status, run.started_at) == (Status.SUCCESS, to_datetime(later(START, 2 * HOUR)))


async def test_a_waiting_function_runs_until_its_timeout(app: Foliot) -> None:
    @app.job(timeout=60)
    async def endless() -> None:
        await asyncio.Event().wait()

    async with InlineEngine(app) as engine:
        run_id = await app.enqueue(endless)
        await engine.run_until_idle()
        assert (await app.runs.get(run_id)).status is Status.RUNNING
        await engine.advance(timedelta(seconds=60))

        assert (await app.runs.get(run_id)).status is Status.TIMEOUT


async def test_a_running_run_can_be_cancelled(app: Foliot) -> None:
    @app.job
    async def endless() -> None:
        await asyncio.Event().wait()

    async with InlineEngine(app) as engine:
        run_id = await app.enqueue(endless)
        await engine.run_until_idle()
        await app.runs.cancel(run_id)
        await engine.run_until_idle()

        assert (await app.runs.get(run_id)).status is Status.CANCELLED


async def test_join_waits_for_work_in_other_threads(app: Foliot) -> None:
    @app.job
    async def elsewhere() -> str:
        return await asyncio.to_thread(lambda: "done")

    async with InlineEngine(app) as engine:
        run_id = await app.enqueue(elsewhere)
        await engine.join()

        assert (await app.runs.get(run_id)).output_payload == "done"


async def test_jobs_may_enqueue_runs(app: Foliot) -> None:
    @app.job
    async def first() -> None:
        await app.enqueue(second)

    @app.job
    def second() -> None: ...

    async with InlineEngine(app) as engine:
        await app.enqueue(first)
        await engine.run_until_idle()

        assert [run.status for run in await app.runs.page()] == [Status.SUCCESS] * 2


async def test_an_inline_engine_leaves_nothing_behind(app: Foliot, clock: VirtualClock) -> None:
    @app.job
    async def endless() -> None:
        await asyncio.Event().wait()

    async with InlineEngine(app, clock) as engine:
        await app.enqueue(endless)
        await engine.run_until_idle()
    await ease()

    assert clock.waiting == 0
    assert len(asyncio.all_tasks()) == 1


async def test_leaving_an_inline_engine_ends_attempts_that_print(app: Foliot) -> None:
    app.shell("stubborn", "trap 'echo bye; exit' TERM; echo up; while true; do sleep 0.01; done")
    async with asyncio.timeout(60), InlineEngine(app) as engine:
        run_id = await app.enqueue("stubborn")
        while not await app.runs.logs(run_id):
            await asyncio.sleep(0.01)
            await engine.run_until_idle()


async def test_a_job_with_a_webhook_needs_no_key_and_sends_nothing() -> None:
    app = Foliot()

    @app.job(webhook_url="http://127.0.0.1:1/hook", notify_on="end")
    async def report() -> None: ...

    async with InlineEngine(app) as engine:
        await app.enqueue("report")
        await engine.run_until_idle()

        assert [run.status for run in await app.runs.page()] == ["success"]
