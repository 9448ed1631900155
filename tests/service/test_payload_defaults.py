"""The payload of a run: given with the run, by its schedule, or by the template of its job."""

from datetime import timedelta

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.service.services import Services
from foliot.testing.inline import InlineEngine


def report(day: int, **fields: object) -> dict[JobId, JobSpec]:
    spec = JobSpec(kind="shell", spec={"command": "true"}, payload_template={"day": day}, **fields)  # type: ignore[arg-type]
    return {JobId("report"): spec}


async def opened(app: Foliot) -> Services:
    services = await app.open()
    await services.jobs.put(report(1))
    return services


@pytest.mark.proves("R1-60")
async def test_a_run_has_the_payload_of_its_job_unless_it_is_given_one() -> None:
    app = Foliot()
    async with InlineEngine(app):
        await opened(app)

        plain, given = await app.enqueue("report"), await app.enqueue("report", {"day": 2})

        assert [(await app.runs.get(one)).input_payload for one in (plain, given)] == [{"day": 1}, {"day": 2}]


@pytest.mark.proves("R1-60")
async def test_a_scheduled_run_has_the_payload_of_its_schedule_or_else_of_its_job() -> None:
    app = Foliot()
    async with InlineEngine(app) as engine:
        await opened(app)
        await app.schedules.upsert("plain", job_id="report", cron="@hourly")
        await app.schedules.upsert("given", job_id="report", cron="@hourly", payload={"day": 2})

        await engine.advance(timedelta(hours=1))

        payloads = {run.job_schedule_id: run.input_payload for run in await app.runs.page(job="report")}
        assert payloads == {"plain": {"day": 1}, "given": {"day": 2}}


@pytest.mark.proves("R1-60")
async def test_a_run_has_the_retries_of_its_job() -> None:
    app = Foliot()
    app.shell("broken", "exit 1", retries=2, retry_delay=0)
    async with InlineEngine(app) as engine:
        run_id = await app.enqueue("broken")
        await engine.join()

        run = await app.runs.get(run_id)
        assert (run.status, run.attempt) == ("failed", 3)


@pytest.mark.proves("R1-19")
async def test_a_waiting_run_keeps_its_payload_when_its_job_changes() -> None:
    app = Foliot()
    async with InlineEngine(app) as engine:
        services = await opened(app)
        await app.schedules.upsert("daily", job_id="report", cron="@hourly")
        await engine.advance(timedelta(hours=1))
        waiting = await app.enqueue("report", delay=3_600)

        await services.jobs.put(report(9))
        await engine.advance(timedelta(minutes=59))
        fired, delayed = (await app.runs.page(job="report"))[-1], await app.runs.get(waiting)
        await engine.advance(timedelta(minutes=1))

        assert (fired.input_payload, delayed.input_payload) == ({"day": 1}, {"day": 1})
        assert (await app.runs.get(waiting)).input_payload == {"day": 1}
