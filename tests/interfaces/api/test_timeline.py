"""The timeline of all jobs by HTTP, on each database."""

from datetime import UTC, datetime, timedelta

from tests.interfaces.api.serving import Client

SPAN = timedelta(hours=12)


def around_now() -> str:
    now = datetime.now(UTC)
    since, until = now - SPAN, now + SPAN
    return f"since={since:%Y-%m-%dT%H:%M:%SZ}&until={until:%Y-%m-%dT%H:%M:%SZ}"


async def test_the_runs_of_a_job_are_bars_in_its_row(on_each: Client) -> None:
    await on_each.put("/api/jobs/a", {"command": "exit 3"})
    bad = await on_each.ended((await on_each.post("/api/jobs/a/run")).json["id"])

    page = (await on_each.get(f"/api/timeline?{around_now()}")).json
    before = (await on_each.get("/api/timeline?since=1980-01-01T00:00:00Z&until=1980-01-02T00:00:00Z")).json

    [row] = page["rows"]
    [bar] = row["bars"]
    assert (row["job_id"], row["fires"]) == ("a", [])
    assert (bar["status"], bar["run_id"], bar["count"]) == ("failed", bad["id"], 1)
    assert (bar["begin"], bar["end"]) == (bad["started_at"], bad["finished_at"])
    assert (max(page["concurrency"]), page["is_complete"]) == (1, True)
    assert (before["rows"], set(before["concurrency"])) == ([], {0})


async def test_an_open_run_and_coming_fire_times_are_in_their_rows(on_each: Client) -> None:
    await on_each.put("/api/jobs/slow", {"command": "sleep 60"})
    await on_each.put("/api/jobs/often", {"command": "true", "schedule": "*/10 * * * *"})
    run_id = (await on_each.post("/api/jobs/slow/run")).json["id"]
    while (await on_each.get(f"/api/runs/{run_id}")).json["status"] != "running":
        pass

    page = (await on_each.get(f"/api/timeline?{around_now()}")).json
    await on_each.post(f"/api/runs/{run_id}/cancel")

    rows = {row["job_id"]: row for row in page["rows"]}
    [bar] = rows["slow"]["bars"]
    assert (bar["status"], bar["end"], bar["run_id"]) == ("running", None, run_id)
    fires = [fire["at"] for fire in rows["often"]["fires"]]
    assert page["at"] < fires[0] < fires[-1] < page["until"]
    assert sum(fire["count"] for fire in rows["often"]["fires"]) in (71, 72, 73)
    await on_each.ended(run_id)


async def test_an_interval_that_is_too_long_is_refused(on_each: Client) -> None:
    refused = await on_each.get("/api/timeline?since=2026-01-01T00:00:00Z&until=2027-01-01T00:00:00Z")

    assert (refused.status, refused.error["field"]) == (422, "until")
