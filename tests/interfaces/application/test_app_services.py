"""The services of an application: `app.runs`, `app.jobs`, `app.schedules` and `app.workflows`."""

import gc
import weakref
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.errors import NotFound, WrongLoop

SERVICES = ["runs", "launches", "jobs", "schedules", "workflows"]


@pytest.fixture
def app(tmp_path: Path) -> Foliot:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell("report", "true")
    return app


async def test_the_first_call_of_a_service_opens_the_application(app: Foliot) -> None:
    assert await app.runs.page(job="report") == []
    await app.close()


def test_plain_code_calls_a_service_on_the_background_loop(app: Foliot) -> None:
    run_id = app.wait(app.enqueue("report"))

    assert app.wait(app.runs.cancel(run_id)) == "cancelled"
    assert [run.id for run in app.wait(app.runs.page(job="report"))] == [run_id]
    app.wait(app.close())


async def test_an_async_generator_of_a_service_opens_the_application(app: Foliot) -> None:
    async with app:
        with pytest.raises(NotFound):
            _ = [item async for item in app.runs.follow("01ARZ3NDEKTSV4RRFFQ69G5FAV")]


async def test_a_service_call_on_another_loop_is_refused(app: Foliot) -> None:
    other = Foliot(app._url)
    async with app:
        with pytest.raises(WrongLoop):
            other.wait(app.jobs.page())


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_has_its_public_methods_and_no_other(app: Foliot, service: str) -> None:
    found = getattr(app, service)

    assert [name for name in dir(found) if not callable(getattr(found, name))] == []
    for name in ("nothing", "_storage", "put", "record", "check"):
        with pytest.raises(AttributeError, match=f"has no public method '{name}'"):
            getattr(found, name)


def test_a_method_keeps_its_name_and_its_documentation(app: Foliot) -> None:
    assert app.runs.cancel.__name__ == "cancel"
    assert "Cancel a run" in (app.runs.cancel.__doc__ or "")


def test_a_service_does_not_keep_its_application_alive(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    _ = app.runs, app.jobs
    seen = weakref.ref(app)

    gc.disable()
    try:
        del app, _
        assert seen() is None
    finally:
        gc.enable()


async def test_all_schedules_can_be_paused_and_resumed(app: Foliot) -> None:
    async with app:
        await app.schedules.upsert("hourly", job_id="report", cron="@hourly")

        paused = await app.schedules.pause_all(until=datetime(2100, 1, 1, tzinfo=UTC), note="disks", by="ada")
        during = await app.schedules.get("hourly")
        ended = await app.schedules.resume_all()

        assert (paused.until, paused.note, paused.by) == (datetime(2100, 1, 1, tzinfo=UTC), "disks", "ada")
        assert (during.paused, during.all_paused, during.next_run_at) == (False, True, paused.until)
        assert ended is not None
        assert not (await app.schedules.get("hourly")).all_paused
        assert await app.schedules.resume_all() is None


async def test_jobs_and_schedules_can_be_paused_and_resumed(app: Foliot) -> None:
    async with app:
        await app.schedules.upsert("hourly", job_id="report", cron="@hourly")

        assert await app.jobs.pause(JobId("report")) == ["hourly"]
        assert (await app.schedules.get("hourly")).paused
        assert await app.jobs.resume("report") == ["hourly"]
        await app.schedules.pause("hourly")
        await app.schedules.resume("hourly")
        assert not (await app.schedules.get("hourly")).paused
