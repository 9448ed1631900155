"""The application object, with a real node on a real SQLite file."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from foliot import Foliot, Workflow, current_run
from foliot.domain.instant import HOUR, to_datetime
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import Status
from foliot.engine.settings import Settings
from foliot.errors import InvalidInput, InvalidJob, InvalidRun, NotFound
from foliot.testing.clock import VirtualClock
from foliot.testing.inline import InlineEngine
from tests.interfaces.serving import SETTINGS, ended, served, started

T = TypeVar("T")


@pytest.fixture
def app(tmp_path: Path) -> Foliot:
    return Foliot(f"sqlite:///{tmp_path}/foliot.db")


async def until(ask: Callable[[], Awaitable[T]], is_so: Callable[[T], bool]) -> T:
    while not is_so(answer := await ask()):
        await asyncio.sleep(0.01)
    return answer


@pytest.mark.proves("R1-01", "R1-30", "R1-48", "R1-39")
async def test_an_enqueued_function_runs_with_its_payload_and_returns_its_result(app: Foliot) -> None:
    @app.job()
    async def add(a: int, b: int) -> int:
        return a + b

    async with served(app):
        run = await ended(app, await app.enqueue(add, {"a": 1, "b": 2}))

    assert (run.status, run.output_payload, run.attempt) == (Status.SUCCESS, 3, 1)


async def test_a_plain_function_runs_in_a_thread(app: Foliot) -> None:
    @app.job()
    def double(n: int) -> int:
        return 2 * n

    async with served(app):
        run = await ended(app, await app.enqueue(double, {"n": 21}))

    assert run.output_payload == 42


@pytest.mark.proves("R1-31", "R1-33", "S3")
async def test_a_failing_function_is_retried_and_then_fails(app: Foliot) -> None:
    @app.job(retries=2, retry_delay=0)
    async def flaky() -> None:
        raise ConnectionError("no answer")

    async with served(app):
        run = await ended(app, await app.enqueue(flaky))
        attempts = await app.runs.attempts(run.id)

    assert (run.status, run.attempt, run.reason) == (Status.FAILED, 3, "exception")
    assert run.error_message is not None
    assert "ConnectionError: no answer" in run.error_message
    assert [attempt.attempt for attempt in attempts] == [1, 2, 3]


@pytest.mark.proves("R1-32")
async def test_a_payload_that_does_not_match_fails_without_retries(app: Foliot) -> None:
    @app.job(retries=5, retry_delay=0)
    async def greet(name: str) -> None:
        pass

    async with served(app):
        run = await ended(app, await app.enqueue(greet, {"nmae": "Ada"}))

    assert (run.status, run.attempt, run.reason) == (Status.FAILED, 1, "payload")


@pytest.mark.proves("R1-50")
async def test_a_function_can_read_the_id_of_its_run(app: Foliot) -> None:
    @app.job()
    async def who() -> list[object]:
        run = current_run()
        run.log("hello")
        return [run.run_id, run.attempt]

    async with served(app):
        run_id = await app.enqueue(who)
        run = await ended(app, run_id)
        logs = await app.runs.logs(run_id)

    assert run.output_payload == [run_id, 1]
    assert [(piece.stream, piece.data) for piece in logs if not piece.is_closing] == [("stdout", b"hello\n")]


async def test_a_command_runs_and_its_output_is_stored(app: Foliot) -> None:
    app.shell("count", 'echo "$FOLIOT_JOB_ID"; echo oops >&2; exit 3')

    async with served(app):
        run_id = await app.enqueue("count")
        run = await ended(app, run_id)
        logs = await app.runs.logs(run_id)

    assert (run.status, run.reason, run.exit_code) == (Status.FAILED, "exit_code", 3)
    assert {chunk.stream: chunk.data for chunk in logs if chunk.stream != "meta"} == {
        "stdout": b"count\n",
        "stderr": b"oops\n",
    }


@pytest.mark.proves("S5", "R1-34")
async def test_a_running_command_can_be_cancelled(app: Foliot) -> None:
    app.shell("sleepy", "sleep 600")

    async with served(app):
        run_id = await app.enqueue("sleepy")
        await until(lambda: app.runs.get(run_id), lambda run: run.status is Status.RUNNING)
        answer = await app.runs.cancel(run_id)
        run = await ended(app, run_id)

    assert answer is CancelAnswer.REQUESTED
    assert run.status is Status.CANCELLED


@pytest.mark.proves("S5", "R1-34")
async def test_a_cancelled_run_never_starts(app: Foliot) -> None:
    app.shell("job", "true")

    async with app:
        run_id = await app.enqueue("job")
        answers = [await app.runs.cancel(run_id), await app.runs.cancel(run_id)]
        run = await app.runs.get(run_id)

    assert answers == [CancelAnswer.CANCELLED, CancelAnswer.TERMINAL]
    assert run.status is Status.CANCELLED


@pytest.mark.proves("S7")
async def test_a_command_that_exceeds_its_timeout_is_ended(app: Foliot) -> None:
    app.shell("slow", "sleep 600", timeout=0.2)

    async with served(app):
        run = await ended(app, await app.enqueue("slow"))

    assert (run.status, run.error_message) == (Status.TIMEOUT, "took longer than 0.2 s")


async def test_an_attempt_that_outlives_the_drain_is_given_back(app: Foliot) -> None:
    app.shell("long", "sleep 600")
    async with app:
        async with started(app, Settings(label="test", drain=SETTINGS.poll)):
            run_id = await app.enqueue("long")
            await until(lambda: app.runs.get(run_id), lambda run: run.status is Status.RUNNING)
        run = await app.runs.get(run_id)

    assert (run.status, run.attempt) == (Status.QUEUED, 0)


@pytest.mark.proves("R1-41", "R1-35")
async def test_the_same_dedupe_key_returns_the_same_run(app: Foliot) -> None:
    app.shell("job", "true")

    async with app:
        first = await app.enqueue("job", {"n": 1}, dedupe_key="k")
        second = await app.enqueue("job", {"n": 2}, dedupe_key="k")
        other = await app.enqueue("job", dedupe_key="other")

        assert first == second != other
        assert (await app.runs.get(first)).input_payload == {"n": 1}


@pytest.mark.proves("R1-26", "R1-38", "R1-40")
async def test_a_run_with_run_at_waits(app: Foliot) -> None:
    app.shell("job", "true")
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)

    async with served(app):
        run = await app.runs.get(await app.enqueue("job", run_at=at))

    assert run.status is Status.SCHEDULED
    assert (run.scheduled_for, run.due_at) == (at, at)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cron": "61 * * * *"}, "61"),
        ({"cron": "61 * * * *", "timezone": "Europe/Berlin"}, "61"),
        ({"cron": "@daily", "timezone": "Europe/Berln"}, "Berln"),
        (
            {"every": 60, "start_at": datetime(2031, 1, 1, tzinfo=UTC), "end_at": datetime(2030, 1, 1, tzinfo=UTC)},
            "end_at",
        ),
    ],
)
def test_an_invalid_schedule_is_refused_when_declared(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Foliot().schedule("hourly", "report", **fields)


def test_the_value_of_h_decides_whether_a_schedule_is_valid() -> None:
    app = Foliot()
    app.schedule("c", "report", cron="0 0 31 H *")
    with pytest.raises(InvalidInput, match="no month has such a day"):
        app.schedule("a", "report", cron="0 0 31 H *")


@pytest.mark.parametrize(
    ("declare", "what"),
    [
        (lambda app: app.shell("etl", "true"), "job"),
        (lambda app: app.schedule("etl", "report", every=60), "schedule"),
        (lambda app: app.workflow(Workflow("etl")), "workflow"),
    ],
)
def test_declaring_an_id_twice_is_refused(app: Foliot, declare: Callable[[Foliot], object], what: str) -> None:
    declare(app)

    with pytest.raises(InvalidInput, match=f'{what} "etl" is declared twice') as caught:
        declare(app)

    assert caught.value.hint == "Give one of them another id."


async def test_a_schedule_of_a_job_that_does_not_exist_is_named_when_the_application_opens(app: Foliot) -> None:
    app.shell("report", "true")
    app.schedule("nightly", "reprot", cron="0 2 * * *")

    with pytest.raises(NotFound) as caught:
        await app.open()

    assert caught.value.message == "schedule 'nightly': job 'reprot' does not exist"
    assert caught.value.hint == 'Did you mean "report"?'


async def test_a_schedule_is_upserted_and_previewed(app: Foliot) -> None:
    app.shell("job", "true")

    async with app:
        first = await app.schedules.upsert("s", job_id="job", cron="0 9 * * *", timezone="Europe/Berlin")
        second = await app.schedules.upsert("s", job_id="job", cron="0 9 * * *", timezone="Europe/Berlin")
        view = await app.schedules.get("s")

    assert first == second
    assert first.schedule_id == "s"
    assert view.preview[0] == view.next_run_at == first.next_run_at
    assert len(view.preview) == 5


@pytest.mark.proves("R4-17", "R4-28")
async def test_a_tick_that_has_fired_is_not_in_the_preview() -> None:
    app = Foliot()
    app.schedule("s", app.job(id="job")(lambda: None), cron="@hourly", jitter="30m", overlap="allow")

    async with InlineEngine(app) as engine:
        while not (early := [tick for tick in await app.schedules.ticks("s") if tick.fire_at < tick.scheduled_for]):
            await engine.advance(timedelta(minutes=1))
        view = await app.schedules.get("s")

    assert early[0].scheduled_for > to_datetime(engine.clock.now())
    assert view.preview[0] == view.next_run_at == early[0].scheduled_for + timedelta(hours=1)


@pytest.mark.proves("R4-02")
async def test_an_edit_keeps_the_pause_and_a_deleted_schedule_does_not_exist(app: Foliot) -> None:
    app.shell("job", "true")

    async with app:
        await app.schedules.upsert("s", job_id="job", cron="@daily")
        await app.schedules.pause("s")
        await app.schedules.upsert("s", job_id="job", cron="@hourly")
        assert (await app.schedules.get("s")).paused
        await app.schedules.delete("s")
        with pytest.raises(NotFound, match="does not exist"):
            await app.schedules.get("s")


@pytest.mark.proves("R4-05", "R1-44", "R4-65")
async def test_a_schedule_fires_and_its_ledger_names_the_run(app: Foliot) -> None:
    app.shell("job", "true")
    app.schedule("each-second", "job", cron="* * * * * *")

    async with served(app):
        ticks = await until(lambda: app.schedules.ticks("each-second"), lambda ticks: len(ticks) >= 2)
        run_id = ticks[-1].run_id
        assert run_id is not None
        run = await ended(app, run_id)

    assert (run.job_schedule_id, run.scheduled_for) == ("each-second", ticks[-1].scheduled_for)
    assert run.started_at is not None
    assert run.started_at >= ticks[-1].scheduled_for


def test_synchronous_code_can_call_the_application(app: Foliot) -> None:
    app.shell("job", "true")

    run_id = app.wait(app.enqueue("job"))
    run = app.wait(app.runs.get(run_id))
    app.wait(app.close())

    assert (run.id, run.status) == (run_id, Status.QUEUED)


async def test_an_option_of_one_run_leaves_other_options_unchanged(app: Foliot) -> None:
    @app.job(retries=1, retry_delay=0, priority=5)
    async def flaky() -> None:
        raise ConnectionError("no answer")

    async with served(app):
        run = await ended(app, await app.enqueue(flaky, retries=2))

    assert (run.attempt, run.priority) == (3, 5)


def leave() -> None:
    sys.exit(3)


def exhaust() -> None:
    next(iter([]))


def bare() -> None:
    raise BaseException("bare")


async def leave_async() -> None:
    raise SystemExit(3)


async def cancel_itself() -> None:
    raise asyncio.CancelledError


@pytest.mark.proves("S6")
@pytest.mark.parametrize("function", [leave, exhaust, bare, leave_async, cancel_itself])
async def test_any_exception_of_a_function_is_a_failed_attempt(app: Foliot, function: Callable[[], None]) -> None:
    app.job(function)

    async with served(app):
        run = await ended(app, await app.enqueue(function))

    assert (run.status, run.reason, run.attempt) == (Status.FAILED, "exception", 1)


async def test_a_job_with_an_explicit_id_can_be_enqueued_by_its_function(app: Foliot) -> None:
    @app.job(id="other")
    async def answer() -> int:
        return 42

    async with served(app):
        run = await ended(app, await app.enqueue(answer))

    assert (run.job_id, run.output_payload) == ("other", 42)


async def test_an_application_opens_after_its_one_time_schedule_has_fired(tmp_path: Path) -> None:
    clock = VirtualClock()

    def declared() -> Foliot:
        app = Foliot(f"sqlite:///{tmp_path}/foliot.db", clock=clock)
        app.shell("job", "true")
        app.schedule("once", "job", at="2026-01-01T01:00:00Z", catchup="all")
        return app

    async with declared() as first:
        view = await first.schedules.get("once")
        assert view.next_run_at == datetime(2026, 1, 1, 1, tzinfo=UTC)
    clock.advance(2 * HOUR)

    async with declared() as second:
        assert (await second.schedules.get("once")).schedule_id == "once"


@pytest.mark.parametrize("payload", [{"x": float("nan")}, [float("inf")], {1: 2}, b"bytes", {"a": [b"x"]}])
async def test_a_payload_that_json_would_change_is_refused(app: Foliot, payload: object) -> None:
    app.shell("job", "true")

    async with app:
        with pytest.raises(InvalidRun, match="not JSON"):
            await app.enqueue("job", payload)


async def test_every_kind_of_job_can_be_declared_in_code() -> None:
    app = Foliot()
    app.shell("backup", ["tar", "c", "."], env={"A": "1"}, limits={"memory": 1 << 30}, timeout=60)
    app.http("ping", "POST https://example.org/ping", expect_status=[204, "2xx"], retries=2)
    app.call("report", "reports:weekly", working_dir="/srv", priority=3)
    app.agent("digest", "Sum up the week", model="small")

    async with InlineEngine(app):
        jobs = {job.id: job for job in await app.jobs.page()}

    assert {name: jobs[name].kind for name in ("backup", "ping", "report", "digest")} == {
        "backup": "shell",
        "ping": "http",
        "report": "python",
        "digest": "agent",
    }


def test_an_unknown_field_is_refused_with_the_closest_match() -> None:
    with pytest.raises(InvalidJob, match="Did you mean"):
        Foliot().call("report", "reports:weekly", prioritty=3)  # type: ignore[call-arg]


async def test_options_of_a_schedule_hold_for_its_runs_alone() -> None:
    app = Foliot()

    @app.job(retries=0)
    async def flaky() -> None:
        raise RuntimeError("no luck")

    app.schedule("often", flaky, every="1h", retries=2, retry_delay=1)

    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(hours=1, minutes=1))
        [scheduled] = await app.runs.page()
        by_hand = await app.enqueue(flaky)
        await engine.advance(timedelta(minutes=1))

        assert (scheduled.status, scheduled.attempt) == ("failed", 3)
        assert (await app.runs.get(by_hand)).attempt == 1
