"""The calls of the API that Foliot's routes follow, in the order in which a client of it makes them."""

import json

import pytest

from tests.interfaces.api.serving import Client


@pytest.mark.proves("R0-69")
async def test_a_client_of_the_ancestor_can_do_its_work(working: Client) -> None:
    job = {
        "id": "nightly",
        "name": "Nightly",
        "category": "default",
        "kind": "shell",
        "schedule": "0 3 * * *",
        "timezone": "UTC",
        "command": "echo done",
        "args": {},
        "env": {"A": "1"},
        "timeout_sec": 60,
        "max_concurrent": 1,
        "retry_count": 2,
        "retry_delay_sec": 5,
        "enabled": True,
        "executor": "local",
        "labels": [],
    }

    created = await working.post("/api/jobs", job)
    listed = await working.get("/api/jobs")
    one = await working.get("/api/jobs/nightly")
    started = await working.post("/api/jobs/nightly/run")
    run_id = started.json["id"]
    async with working.stream(f"/api/runs/{run_id}/log") as frames:
        log = [frame async for frame in frames]
    runs = await working.get("/api/runs?job_id=nightly&limit=10")
    late = await working.post(f"/api/runs/{run_id}/cancel")
    explained = await working.get("/api/cron/explain?expr=0+3+*+*+*&tz=UTC")
    wrong = await working.get("/api/cron/explain?expr=nonsense")
    deleted = await working.delete("/api/jobs/nightly")
    gone = await working.get("/api/jobs/nightly")

    assert (created.status, created.json["id"]) == (201, "nightly")
    assert [found["id"] for found in listed.json["items"]] == ["nightly"]
    assert one.json["options"]["retry"]["retries"] == 2
    assert started.status == 202
    assert any(json.loads(frame["data"]).get("text") == "done\n" for frame in log)
    assert (log[-1]["event"], json.loads(log[-1]["data"])["status"]) == ("end", "success")
    assert [run["id"] for run in runs.json["items"]] == [run_id]
    assert (late.status, late.error["code"]) == (409, "terminal")
    assert (explained.json["ok"], len(explained.json["fires"])) == (True, 5)
    assert (wrong.status, wrong.json["ok"]) == (400, False)
    assert (deleted.json["deleted"], gone.status) == (True, 404)
    assert (await working.get("/healthz")).json["status"] == "ok"
    assert (await working.get("/api/version")).json["version"]
