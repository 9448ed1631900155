"""Rows of jobs by HTTP, on each database."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot import Foliot
from tests.interfaces.api.serving import Client, serving

DISK = {"command": "true", "schedule": "0 3 * * *", "tags": ["night", "Disks"], "description": "x" * 400}


@pytest.fixture
async def idle(url: str) -> AsyncIterator[Client]:
    """A client of a server without a scheduler or a worker, on each database."""
    async with Foliot(url) as app, serving(await app.open()) as client:
        yield client


def ids(answer: Any) -> list[str]:
    return [row["id"] for row in answer.json["items"]]


async def test_a_row_has_the_schedules_and_the_next_five_fire_times(idle: Client) -> None:
    await idle.put("/api/jobs/disk", DISK)
    await idle.post("/api/schedules/upsert", {"schedule_id": "often", "job_id": "disk", "every": 3600})

    row = (await idle.get("/api/jobs/disk/row")).json

    assert (row["kind"], row["tags"], row["source"], len(row["description"])) == (
        "shell",
        ["night", "Disks"],
        "api",
        300,
    )
    assert [one["schedule_id"] for one in row["schedules"]] == ["often", "disk:default"]
    assert row["schedules"][1]["words"] == "at 03:00 every day, UTC"
    assert (row["schedule_count"], row["latest_run"], row["is_failing"], row["usual_duration"]) == (
        2,
        None,
        False,
        None,
    )
    coming = row["strip"]["next"]
    assert len(coming) == 5
    assert coming == sorted(coming, key=lambda fire: str(fire["at"]))
    assert row["next_run_at"] == coming[0]["at"]
    assert row["strip"]["ticks"] == []


async def test_a_paused_job_has_no_next_fire_time(idle: Client) -> None:
    await idle.put("/api/jobs/disk", DISK)
    await idle.post("/api/jobs/disk/pause")

    row = (await idle.get("/api/jobs/disk/row")).json

    assert (row["paused"], row["next_run_at"], row["strip"]["next"]) == (True, None, [])
    assert row["schedules"][0]["next_run_at"] is None


async def test_rows_are_filtered_and_paged(idle: Client) -> None:
    await idle.put("/api/jobs/disk", DISK)
    await idle.put("/api/jobs/mail", {"command": "true", "name": "Mail the DISK report"})
    await idle.put("/api/jobs/page", {"kind": "http", "url": "https://example.com/"})
    await idle.post("/api/workflows", {"id": "etl", "steps": [{"name": "load", "command": "true"}]})

    first = await idle.get("/api/job-rows?limit=3")

    assert ids(first) == ["disk", "etl", "mail"]
    assert ids(await idle.get(f"/api/job-rows?limit=3&cursor={first.json['next']}")) == ["page"]
    assert ids(await idle.get("/api/job-rows?search=disk")) == ["disk", "mail"]
    assert ids(await idle.get("/api/job-rows?tag=night")) == ["disk"]
    assert ids(await idle.get("/api/job-rows?kind=workflow")) == ["etl"]
    assert ids(await idle.get("/api/job-rows?kind=http&search=disk")) == []
    assert ids(await idle.get("/api/job-rows?state=failing")) == []


async def test_jobs_are_counted_by_state_kind_and_tag(idle: Client) -> None:
    await idle.put("/api/jobs/disk", DISK)
    await idle.post("/api/workflows", {"id": "etl", "steps": [{"name": "load", "command": "true"}]})
    await idle.put("/api/jobs/off", {"command": "true", "enabled": False})

    facets = (await idle.get("/api/job-rows/facets")).json

    assert facets == {
        "total": 3,
        "states": {"enabled": 2, "disabled": 1, "paused": 0, "failing": 0, "running": 0},
        "kinds": {"shell": 2, "workflow": 1},
        "tags": {"Disks": 1, "night": 1},
        "is_complete": True,
    }


async def test_the_strip_shows_what_became_of_planned_times(on_each: Client) -> None:
    await on_each.put("/api/jobs/tick", {"command": "true", "every": 1})
    while len(ticks := (await on_each.get("/api/jobs/tick/row")).json["strip"]["ticks"]) < 2:
        pass
    await on_each.ended(ticks[0]["run_id"])

    row = (await on_each.get("/api/jobs/tick/row")).json

    times = [tick["scheduled_for"] for tick in row["strip"]["ticks"]]
    assert times == sorted(times)
    oldest = row["strip"]["ticks"][0]
    assert (oldest["schedule_id"], oldest["outcome"], oldest["status"], oldest["is_late"]) == (
        "tick:default",
        "ran",
        "success",
        False,
    )
    assert row["latest_run"]["job_id"] == "tick"


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        ("/api/jobs/missing/row", 404, ""),
        ("/api/job-rows?state=tired", 422, "state"),
        ("/api/job-rows?limit=201", 422, "limit"),
        ("/api/job-rows?cursor=nonsense", 422, "cursor"),
        (f"/api/job-rows?search={'x' * 201}", 422, "search"),
    ],
)
async def test_wrong_values_are_refused(api: Client, path: str, status: int, field: str) -> None:
    answer = await api.get(path)

    assert (answer.status, answer.error["field"]) == (status, field)


async def test_a_job_that_has_the_name_of_the_route_is_an_ordinary_job(api: Client) -> None:
    await api.put("/api/jobs/job-rows", {"command": "true"})

    assert ids(await api.get("/api/job-rows")) == ["job-rows"]
