"""The engine ends the log of an attempt with a closing line, whatever the attempt ends with."""

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.logs import LogChunk, read_closing
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.run import Status
from foliot.engine.worker.attempt import Ending
from foliot.ports.runner import Attempt
from tests.engine.ease import ease
from tests.engine.rig import Rig, Stage


class Chatty(Stage):
    """Like Stage, but prints first and reports truncated output."""

    async def run(self, attempt: Attempt) -> Success | Failure:
        attempt.log.write("stdout", b"hello\n")
        return await super().run(attempt)


class Lavish(Stage):
    async def run(self, attempt: Attempt) -> Success | Failure:
        attempt.log.write("stdout", b"hello")
        attempt.log.truncated(1_000, 5)
        return await super().run(attempt)


async def start(rig: Rig, runner: Stage) -> tuple[Rig, RunId]:
    """Return a rig whose only run is executed by this runner."""
    chatty = Rig(rig.storage, rig.clock, runners={"chatty": runner})
    await rig.storage.definitions.put_jobs([(JobId("report"), JobSpec(kind="chatty", options=Options()))])
    run_id = await chatty.enqueue()
    await chatty.claim()
    return chatty, run_id


async def closings(rig: Rig, run_id: RunId) -> list[LogChunk]:
    return [chunk for chunk in await rig.storage.queries.read_log(run_id) if read_closing(chunk) is not None]


@pytest.mark.proves("E4")
@pytest.mark.parametrize("answer", [Success(), Failure("no", Reason.EXIT_CODE, 1), RuntimeError("a defect")])
async def test_every_end_of_an_attempt_closes_its_log(rig: Rig, answer: Success | Failure | Exception) -> None:
    runner = Chatty()
    runner.answer = answer

    chatty, run_id = await start(rig, runner)
    await chatty.save()

    [closing] = await closings(rig, run_id)
    assert closing == (await rig.storage.queries.read_log(run_id))[-1]
    assert (await rig.status(run_id)).is_terminal


async def test_the_closing_line_has_the_bytes_that_the_runner_left_out(rig: Rig) -> None:
    chatty, run_id = await start(rig, Lavish())
    await chatty.save()

    [closing] = await closings(rig, run_id)
    assert closing.data == b"end of log: truncated, 5 of 1000 bytes kept\n"


@pytest.mark.parametrize("ending", [Ending.CANCEL, Ending.SHUTDOWN, Ending.TIMEOUT])
async def test_an_attempt_that_is_ended_early_closes_its_log(rig: Rig, ending: Ending) -> None:
    runner = Chatty()
    runner.answer = None
    chatty, run_id = await start(rig, runner)

    chatty.consumer.end(chatty.consumer.held, ending)
    await ease()
    await chatty.save()

    assert len(await closings(rig, run_id)) == 1


@pytest.mark.proves("S10")
async def test_an_attempt_whose_lease_is_lost_writes_no_closing_line(rig: Rig) -> None:
    runner = Chatty()
    runner.answer = None
    chatty, run_id = await start(rig, runner)

    chatty.consumer.end(chatty.consumer.held, Ending.LEASE_LOST)
    await ease()
    await chatty.save()

    assert await closings(rig, run_id) == []
    assert await rig.status(run_id) is Status.RUNNING


async def test_a_run_without_output_writes_no_log(rig: Rig) -> None:
    chatty, run_id = await start(rig, Stage())
    await chatty.save()

    assert await rig.status(run_id) is Status.SUCCESS
    assert await rig.storage.queries.read_log(run_id) == []
