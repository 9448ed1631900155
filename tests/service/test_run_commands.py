"""Commands on runs: enqueue, retry, cancel, mark."""

from datetime import timedelta
from typing import Any

import pytest

from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE
from foliot.domain.job.job import JobSpec
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer
from foliot.domain.run.run import Status
from foliot.errors import InvalidRun, NotFound
from foliot.ports.pages import RunFilter
from foliot.service.commands.run_request import RunRequest
from foliot.service.services import Services
from foliot.testing.builders import REPORT, a_run, failed, succeeded
from foliot.testing.conformance.storage.scene import Scene

SHELL = JobSpec(kind="shell", spec={"command": "true"})


async def run_once(services: Services, scene: Scene, request: RunRequest, *, fails: bool = True) -> str:
    """Enqueue a run of the report and end it."""
    await scene.job(max_concurrent=5, priority=1, payload_template={"day": 0})
    run_id = await services.runs.enqueue(REPORT, request)
    [claim] = await scene.claim()
    await scene.finish(failed(claim) if fails else succeeded(claim))
    return run_id


async def test_enqueue_many_gives_each_run_its_payload_and_all_the_same_options(
    services: Services, scene: Scene
) -> None:
    await scene.job(payload_template={"day": 0})

    created = await services.runs.enqueue_many(
        REPORT, [{"day": 1}, None, [2]], RunRequest(delay=60, options={"priority": 9})
    )

    runs = [await services.runs.record(run_id) for run_id in created]
    assert [run.payload for run in runs] == [{"day": 1}, {"day": 0}, [2]]
    assert {(run.due_at, run.priority) for run in runs} == {(scene.after(MINUTE), 9)}
    assert [run.id for run in runs] == sorted({run.id for run in runs})


async def test_a_run_has_the_options_of_a_job_that_another_process_changed(services: Services, scene: Scene) -> None:
    await scene.job(priority=1)
    await services.runs.enqueue(REPORT)
    await scene.job(priority=7)

    run_id = await services.runs.enqueue(REPORT)

    assert (await services.runs.record(run_id)).priority == 7


async def test_a_job_that_another_process_deleted_cannot_be_enqueued(services: Services, scene: Scene) -> None:
    await scene.job()
    await services.runs.enqueue(REPORT)
    await scene.storage.definitions.delete_jobs([REPORT])

    with pytest.raises(NotFound):
        await services.runs.enqueue(REPORT)


async def test_runs_of_a_known_job_are_created_without_reading_it_again(
    services: Services, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.job()
    await services.runs.enqueue(REPORT)
    monkeypatch.setattr(scene.storage.definitions, "get_jobs", None)

    run_id = await services.runs.enqueue(REPORT)

    assert (await services.runs.record(run_id)).job_id == REPORT


@pytest.mark.parametrize("payload", [{}, [], 0, False, ""])
async def test_an_empty_payload_replaces_the_template(services: Services, scene: Scene, payload: Any) -> None:
    await scene.job(payload_template={"day": 0})

    run_id = await services.runs.enqueue(REPORT, RunRequest(payload=payload))

    assert (await services.runs.record(run_id)).payload == payload


async def test_a_dedupe_key_may_have_255_characters_and_a_window_be_as_short_as_a_second(
    services: Services, scene: Scene
) -> None:
    await scene.job()
    request = RunRequest(dedupe_key="k" * 255, dedupe=timedelta(seconds=1))

    first, second = [(await services.runs.create(REPORT, request, [None]))[0] for _ in range(2)]

    assert (first.is_new, second.is_new, second.run_id) == (True, False, first.run_id)
    for wrong in (RunRequest(dedupe_key="k" * 256), RunRequest(dedupe_key="k", dedupe=timedelta(milliseconds=999))):
        with pytest.raises(InvalidRun):
            await services.runs.enqueue(REPORT, wrong)


async def test_one_invalid_payload_refuses_all_runs(services: Services, scene: Scene) -> None:
    await scene.job()

    with pytest.raises(InvalidRun, match="bytes are not text"):
        await services.runs.enqueue_many(REPORT, [1, b"2"])

    assert await services.runs.records(RunFilter()) == []


async def test_a_run_is_repeated_with_its_payload_and_its_options(services: Services, scene: Scene) -> None:
    first = await run_once(services, scene, RunRequest(payload={"day": 1}, options={"priority": 9}))

    again = await services.runs.retry(first)

    [claim] = await scene.claim()
    assert claim.run_id == again
    run = await services.runs.record(again)
    assert (run.job_id, run.payload, run.priority, run.trigger) == (REPORT, {"day": 1}, 9, f"retry:{first}")
    assert claim.overrides == b'{"priority":9}'
    assert claim.limit_keys == ("job:report",)


@pytest.mark.proves("S1")
async def test_the_run_that_is_repeated_stays_as_it_was(services: Services, scene: Scene) -> None:
    first = await run_once(services, scene, RunRequest())
    before = await services.runs.record(first)
    scene.clock.advance(MINUTE)

    await services.runs.retry(first)

    assert await services.runs.record(first) == before


async def test_a_run_without_a_payload_is_repeated_without_one(services: Services, scene: Scene) -> None:
    [run_id] = await scene.create(a_run())
    [claim] = await scene.claim()
    await scene.finish(succeeded(claim))
    await scene.job(payload_template={"day": 0})

    again = await services.runs.retry(run_id)

    assert (await services.runs.record(again)).payload is None


async def test_an_open_run_cannot_be_retried(services: Services, scene: Scene) -> None:
    await scene.job()
    claim = await scene.start()
    [queued] = await scene.create(a_run())

    for run_id in (claim.run_id, queued):
        with pytest.raises(InvalidRun, match="has not ended"):
            await services.runs.retry(run_id)


async def test_a_missing_run_cannot_be_retried(services: Services, scene: Scene) -> None:
    claim = await scene.start(a_run(job_id=JobId("deleted")))
    await scene.finish(failed(claim))

    with pytest.raises(NotFound, match="run"):
        await services.runs.retry("nobody")
    with pytest.raises(NotFound, match="job"):
        await services.runs.retry(claim.run_id)


async def test_marking_a_failed_run_creates_a_substitute(services: Services, scene: Scene) -> None:
    first = await run_once(services, scene, RunRequest(payload={"day": 1}))

    marked = await services.runs.mark(first)
    again = await services.runs.mark(first)

    assert (marked.answer, again.answer) == (MarkAnswer.RECORDED, MarkAnswer.SUCCESS)
    assert marked.run_id == again.run_id != first
    run = await services.runs.record(marked.run_id)
    assert (run.status, run.reason, run.payload) == (Status.SUCCESS, "marked", {"day": 1})


async def test_a_running_or_missing_run_cannot_be_marked(services: Services, scene: Scene) -> None:
    claim = await scene.start()

    with pytest.raises(InvalidRun, match="is running") as refused:
        await services.runs.mark(claim.run_id)
    assert "foliot cancel" in refused.value.hint
    with pytest.raises(NotFound):
        await services.runs.mark("nobody")


async def test_many_runs_are_cancelled_in_one_call(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    [queued] = await scene.create(a_run())

    answers = await services.runs.cancel_many([queued, claim.run_id, "nobody"])

    assert answers == {
        queued: CancelAnswer.CANCELLED,
        claim.run_id: CancelAnswer.REQUESTED,
        "nobody": CancelAnswer.NOT_FOUND,
    }


async def test_a_disabled_job_still_runs_by_hand(services: Services, scene: Scene) -> None:
    await scene.job(enabled=False)

    run_id = await services.runs.enqueue(REPORT, RunRequest(trigger="cli"))

    [claim] = await scene.claim()
    assert claim.run_id == run_id
    assert (await services.runs.record(run_id)).trigger == "cli"


async def test_the_attempts_of_a_run_are_listed(services: Services, scene: Scene) -> None:
    first = await run_once(services, scene, RunRequest())

    assert [record.number for record in await services.runs.attempt_records(first)] == [1]
    with pytest.raises(NotFound):
        await services.runs.attempt_records("nobody")


async def test_a_plain_job_may_contain_template_braces(services: Services) -> None:
    spec = {"command": "docker ps --format '{{ .Names }}'", "env": {"FORMAT": "{{ params.day }}"}}
    await services.jobs.put({JobId("names"): JobSpec(kind="shell", spec=spec)})

    [created] = await services.runs.create("names", RunRequest(), [None])

    assert created.is_new
