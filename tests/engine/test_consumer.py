"""The consumer executes claimed runs and reports their outcomes."""

import logging
from collections.abc import Callable

import msgspec
import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import SECOND, Millis, later
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import NewRun, Status
from foliot.ports.runner import Attempt
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage.scene import Another
from tests.engine.ease import ease
from tests.engine.rig import Rig

BROKEN = Failure("exit code 1", Reason.EXIT_CODE, exit_code=1)


@pytest.mark.proves("R1-01", "R1-30", "R1-18")
async def test_a_success_is_recorded_with_its_output(rig: Rig) -> None:
    rig.stage.answer = Success(b'{"rows":7}', exit_code=0)
    run_id = await rig.enqueue()

    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.output, run.exit_code, run.attempt) == (Status.SUCCESS, {"rows": 7}, 0, 1)


@pytest.mark.proves("R1-39")
async def test_a_due_run_needs_only_the_consumer(rig: Rig) -> None:
    run_id = await rig.enqueue()

    await rig.claim()

    assert [attempt.run_id for attempt in rig.stage.attempts] == [run_id]


@pytest.mark.proves("R1-48", "R1-50")
async def test_an_attempt_gets_the_stored_payload_and_spec(rig: Rig) -> None:
    await rig.job(spec={"command": "true"})
    payload = {"text": "ünï", "list": [1, 2.5, None], "nested": {"a": True}}
    run_id = await rig.enqueue(payload=msgspec.json.encode(payload))

    await rig.work()

    [attempt] = rig.stage.attempts
    assert (attempt.run_id, attempt.number, attempt.payload) == (run_id, 1, payload)
    assert attempt.spec == {"command": "true"}


@pytest.mark.proves("R1-31", "S3", "S9")
async def test_a_failed_attempt_is_retried_after_its_backoff(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=1, base=Millis(30 * SECOND)))
    rig.stage.answer = BROKEN
    run_id = await rig.enqueue()
    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.due_at) == (Status.SCHEDULED, later(START, 30 * SECOND))
    rig.clock.advance(30 * SECOND - 1)
    await rig.work_off(2)
    assert len(rig.stage.attempts) == 1
    rig.clock.advance(1)
    await rig.work_off(2)

    assert [attempt.number for attempt in rig.stage.attempts] == [1, 2]


@pytest.mark.proves("S9", "R1-31")
async def test_a_scheduled_retry_survives_a_restart(rig: Rig, another: Another, clock: VirtualClock) -> None:
    await rig.job(retry=Retry(retries=1, base=Millis(30 * SECOND)))
    rig.stage.answer = BROKEN
    run_id = await rig.enqueue()
    await rig.work()

    restarted = Rig(await another(), clock)
    clock.advance(30 * SECOND)
    await restarted.work_off(2)

    assert (await rig.run(run_id)).attempt == 2


@pytest.mark.proves("R1-33", "S3")
async def test_a_run_without_retries_left_fails_with_every_attempt_recorded(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=2, base=Millis(0)))
    rig.stage.answer = BROKEN
    run_id = await rig.enqueue()

    await rig.work_off()

    run = await rig.run(run_id)
    attempts = await rig.storage.queries.attempts(run_id)
    assert (run.status, run.reason, run.attempt) == (Status.FAILED, "exit_code", 3)
    assert [attempt.number for attempt in attempts] == [1, 2, 3]
    assert len({attempt.token for attempt in attempts}) == 3


@pytest.mark.proves("R1-32")
async def test_a_failure_that_is_not_retryable_ends_the_run(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=5))
    rig.stage.answer = Failure("no such table", Reason.PAYLOAD, retryable=False)
    run_id = await rig.enqueue()

    await rig.work()

    assert await rig.status(run_id) is Status.FAILED


async def test_an_exception_of_a_runner_is_a_failure_with_its_traceback(rig: Rig) -> None:
    rig.stage.answer = ZeroDivisionError("by nought")
    run_id = await rig.enqueue()

    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.reason) == (Status.FAILED, "exception")
    assert run.error is not None
    assert "Traceback" in run.error
    assert run.error.endswith("ZeroDivisionError: by nought")


async def test_a_long_traceback_keeps_its_end(rig: Rig) -> None:
    rig.stage.answer = ZeroDivisionError("x" * 100_000 + " by nought")
    run_id = await rig.enqueue()

    await rig.work()

    run = await rig.run(run_id)
    assert run.error is not None
    assert run.error.endswith("xxx by nought")
    assert len(run.error) <= 8_000


async def test_a_failure_is_logged_in_one_line_with_the_end_of_its_error(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    await rig.job(retry=Retry(retries=1, base=Millis(SECOND)))
    rig.stage.answer = Failure("Traceback\n  in the middle\nValueError: no such table\n", Reason.EXCEPTION)
    run_id = await rig.enqueue()

    with caplog.at_level(logging.INFO):
        await rig.work()
        rig.clock.advance(SECOND)
        await rig.work_off(2)

    told = [vars(record) for record in caplog.records if vars(record).get("run") == run_id]
    assert [one["message"] for one in told] == ["attempt_started", "attempt_failed"] * 2
    told = [one for one in told if one["message"] == "attempt_failed"]
    assert [one["error"] for one in told] == ["ValueError: no such table"] * 2
    assert [one["attempt"] for one in told] == [1, 2]


@pytest.mark.parametrize("text", ["a lone \udcff surrogate", "a \x00 byte", "x" * 100_000, ""])
async def test_an_outcome_is_saved_whatever_its_error_text_is(rig: Rig, text: str) -> None:
    rig.stage.answer = RuntimeError(text)
    run_id = await rig.enqueue()

    await rig.work()

    assert await rig.status(run_id) is Status.FAILED
    assert rig.finisher.backlog == 0


async def test_an_unstorable_outcome_does_not_stop_the_others(rig: Rig) -> None:
    rig.stage.answer = None
    odd, plain = await rig.enqueue(), await rig.enqueue()
    await rig.claim()
    rig.stage.end(odd, Failure("\ud800 \x00", Reason.EXCEPTION))
    rig.stage.end(plain)
    await ease()

    await rig.save()

    assert [await rig.status(run_id) for run_id in (odd, plain)] == [Status.FAILED, Status.SUCCESS]


async def test_a_job_of_an_unsupported_kind_fails_with_a_message(rig: Rig) -> None:
    await rig.storage.definitions.put_jobs([(JobId("report"), JobSpec(kind="stagee"))])
    run_id = await rig.enqueue()

    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.reason) == (Status.FAILED, "handler_missing")
    assert run.error is not None
    assert '"stage"' in run.error


async def test_a_run_of_a_deleted_job_fails_with_a_message(rig: Rig) -> None:
    ghost = JobId("ghost")
    overrides = msgspec.json.encode({"retry": Retry(retries=3, base=Millis(0))})
    run = NewRun(id=RunId(rig.ids.make(START)), job_id=ghost, due_at=START, options=Options(), overrides=overrides)
    await rig.storage.orders.create([run])

    await rig.work_off(2)

    found = await rig.run(run.id)
    assert (found.status, found.reason, found.attempt) == (Status.FAILED, "handler_missing", 1)
    assert found.error == 'job "ghost" has been deleted'


async def test_a_changed_job_applies_to_the_next_attempt(rig: Rig) -> None:
    await rig.job(spec={"command": "old"})
    await rig.enqueue()
    await rig.work()

    await rig.job(spec={"command": "new"})
    await rig.enqueue()
    await rig.work()

    assert [attempt.spec["command"] for attempt in rig.stage.attempts] == ["old", "new"]


async def test_options_given_for_one_run_override_those_of_its_job(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=0))
    rig.stage.answer = BROKEN
    overrides = msgspec.json.encode({"retry": Retry(retries=1, base=Millis(0))})
    run_id = await rig.enqueue(overrides=overrides)

    await rig.work_off(3)

    assert (await rig.run(run_id)).attempt == 2


@pytest.mark.proves("S10", "E4")
async def test_the_output_of_an_attempt_is_saved_before_its_end(rig: Rig) -> None:
    written: list[Callable[[], None]] = []

    class Chatty:
        abandoned = 0

        async def run(self, attempt: Attempt) -> Success | Failure:
            attempt.log.write("stdout", b"hello\n")
            await attempt.log.drain()
            written.append(lambda: attempt.log.write("stdout", b"too late\n"))
            return Success()

    chatty = Rig(rig.storage, rig.clock, runners={"chatty": Chatty()})
    await rig.storage.definitions.put_jobs([(JobId("report"), JobSpec(kind="chatty"))])
    run_id = await chatty.enqueue()
    await chatty.claim()
    assert chatty.finisher.backlog == 0

    await chatty.work()
    written[0]()
    await chatty.save()

    chunks = await rig.storage.queries.read_log(run_id)
    assert [(chunk.stream, chunk.data) for chunk in chunks] == [
        ("stdout", b"hello\n"),
        ("meta", b"end of log: complete\n"),
    ]
    assert await rig.status(run_id) is Status.SUCCESS
