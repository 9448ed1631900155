"""Jobs whose schedules are paused after failures in a row, as commands and pages show them."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE, Instant, to_datetime
from foliot.errors import InvalidInput
from foliot.service.path import PausedStage
from foliot.service.queries.status import JobsStopped
from foliot.service.services import Services
from foliot.testing.builders import NIGHTLY, REPORT, a_job_spec, a_run, every, failed
from foliot.testing.conformance.storage.scene import Scene


async def fail(scene: Scene, times: int) -> None:
    for _ in range(times):
        scene.clock.advance(1)
        await scene.finish(failed(await scene.start(a_run())))


async def test_a_job_that_fails_too_often_is_shown_and_resumed(services: Services, scene: Scene) -> None:
    await services.jobs.put({JobId(REPORT): a_job_spec(spec={"command": "true"}, pause_after_failures=2)})
    await scene.schedule(every(60))
    await fail(scene, 2)
    stopped_at = scene.now
    scene.clock.advance(2 * MINUTE)

    page = await services.queries.jobs.page(REPORT)
    notices = (await services.queries.status.page()).notices
    path = await services.queries.explained.tick(NIGHTLY, to_datetime(Instant(stopped_at // MINUTE * MINUTE + MINUTE)))

    assert page.job.stopped_at is not None
    assert [schedule.paused for schedule in page.schedules] == [True]
    assert JobsStopped(jobs=(REPORT,)) in notices
    assert isinstance(path.binding, PausedStage)
    assert path.binding.after_failures

    await services.jobs.resume(REPORT)
    await fail(scene, 1)
    page = await services.queries.jobs.page(REPORT)
    assert (page.job.stopped_at, [schedule.paused for schedule in page.schedules]) == (None, [False])


@pytest.mark.parametrize("number", [0, -1, 1_001])
async def test_a_number_of_failures_out_of_range_is_refused(services: Services, number: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        await services.jobs.put({JobId(REPORT): a_job_spec(spec={"command": "true"}, pause_after_failures=number)})

    assert refused.value.field == "pause_after_failures"
