"""The page that answers first by HTTP, on each database."""

import foliot
from tests.interfaces.api.serving import Client


async def test_the_page_of_an_empty_server_has_nothing_to_do(on_each: Client) -> None:
    home = (await on_each.get("/api/home")).json

    assert home["version"] == foliot.__version__
    assert (home["status"]["state"], home["jobs"]) == ("well", {"total": 0, "inactive": 0})
    assert (home["account"]["planned"], home["account"]["is_complete"]) == (0, True)
    empty = ("broken", "breakers", "running", "waiting", "missed", "next", "ended")
    assert {name: home[name] for name in empty} == {name: [] for name in empty}
    assert home["next_hour"] == {"count": 0, "is_complete": True, "minutes": [0] * 60}
    assert home["status"]["storage"]["engine"] in ("sqlite", "postgresql")


async def test_a_broken_job_has_its_failures_in_a_row_and_the_newest_error(on_each: Client) -> None:
    await on_each.put("/api/jobs/bad", {"command": "exit 3", "tags": ["a"]})
    for _ in range(3):
        await on_each.ended((await on_each.post("/api/jobs/bad/run")).json["id"])

    home = (await on_each.get("/api/home")).json

    [broken] = home["broken"]
    assert (broken["job"]["id"], broken["failures"], broken["is_counted"]) == ("bad", 3, True)
    assert (broken["run"]["status"], broken["run"]["exit_code"]) == ("failed", 3)
    assert broken["since"] <= broken["run"]["finished_at"]
    assert broken["job"]["is_failing"]
    assert home["broken_count"] == 1
    assert home["ended"][0]["id"] == broken["run"]["id"]
    assert len(home["ended"]) == 3


async def test_a_running_run_is_shown_with_the_usual_duration_of_its_job(on_each: Client) -> None:
    await on_each.put("/api/jobs/job", {"command": "true"})
    for _ in range(2):
        await on_each.ended((await on_each.post("/api/jobs/job/run")).json["id"])
    await on_each.put("/api/jobs/job", {"command": "sleep 60"})
    run_id = (await on_each.post("/api/jobs/job/run")).json["id"]
    while not (home := (await on_each.get("/api/home")).json)["running"]:
        pass
    await on_each.post(f"/api/runs/{run_id}/cancel")

    [running] = home["running"]
    assert (running["run"]["id"], running["usual"]["samples"]) == (run_id, 2)
    assert running["usual"]["p50"] <= running["usual"]["p95"]
    await on_each.ended(run_id)


async def test_an_open_chain_has_no_usual_duration(on_each: Client) -> None:
    scout = '[[chains]]\nid = "watch"\nevery = "6h"\nscout.command = "exit {}"\naction.command = "sleep 60"\n'
    await on_each.post("/api/definitions", {"toml": scout.format(0)})
    await on_each.ended((await on_each.post("/api/jobs/watch/run")).json["id"])
    await on_each.post("/api/definitions", {"toml": scout.format(10)})
    run_id = (await on_each.post("/api/jobs/watch/run")).json["id"]
    while not (open_chains := (await on_each.get("/api/chains?is_open=true")).json["items"]):
        pass

    running = {one["run"]["id"]: one for one in (await on_each.get("/api/home")).json["running"]}
    await on_each.post(f"/api/chains/{open_chains[0]['id']}/stop")

    assert (running[run_id]["run"]["kind"], running[run_id]["usual"]) == ("chain", None)
    await on_each.ended(run_id)


async def test_coming_fire_times_of_all_schedules_are_merged_and_counted(on_each: Client) -> None:
    await on_each.put("/api/jobs/a", {"command": "true", "schedule": "*/30 * * * *"})
    await on_each.put("/api/jobs/b", {"command": "true", "schedule": "0 * * * *"})
    await on_each.put("/api/jobs/c", {"command": "true", "schedule": "@yearly", "enabled": False})

    home = (await on_each.get("/api/home")).json

    times = [fire["at"] for fire in home["next"]]
    assert (len(times), times) == (20, sorted(times))
    assert {fire["job_id"] for fire in home["next"]} == {"a", "b"}
    assert home["next_hour"]["count"] == sum(home["next_hour"]["minutes"]) == 3
    assert home["jobs"] == {"total": 3, "inactive": 1}
