"""The same requests on each database."""

import json
from collections.abc import AsyncIterator

import pytest

from foliot import Foliot
from tests.interfaces.api.serving import Client, serving
from tests.interfaces.serving import started


@pytest.fixture
async def client(url: str) -> AsyncIterator[Client]:
    app = Foliot(url)
    async with app, started(app), serving(await app.open()) as client:
        yield client


@pytest.mark.proves("R1-03", "R4-31")
async def test_a_job_is_created_run_and_read(client: Client) -> None:
    created = await client.put("/api/jobs/hello", {"command": "echo hi", "schedule": "@yearly"})
    run_id = (await client.post("/api/jobs/hello/run", {"payload": {"a": 1}})).json["id"]

    async with client.stream(f"/api/runs/{run_id}/log") as frames:
        found = [frame async for frame in frames]

    assert created.status == 201
    assert [json.loads(one["data"])["text"] for one in found if '"stdout"' in one["data"]] == ["hi\n"]
    assert (found[-1]["event"], json.loads(found[-1]["data"])["status"]) == ("end", "success")
    assert (await client.get("/api/runs?job_id=hello")).json["items"][0]["id"] == run_id
    assert (await client.get(f"/api/runs/{run_id}/page")).json["run"]["input_payload"] == {"a": 1}
    assert (await client.get("/api/schedules/hello:default")).json["preview"]
    assert (await client.get("/api/overview")).json["workers"]
    assert (await client.get("/readyz")).json == {"status": "ready"}


@pytest.mark.proves("A4")
async def test_edits_compare_their_revision(client: Client) -> None:
    tag = (await client.put("/api/jobs/x", {"command": "true"})).headers["ETag"]

    statuses = [
        (await client.put("/api/jobs/x", {"command": f"echo {text}"}, if_match=tag)).status for text in ("1", "2", "1")
    ]

    assert statuses == [200, 412, 200]


@pytest.mark.proves("A1", "A2")
async def test_a_request_with_a_key_is_carried_out_once(client: Client) -> None:
    await client.put("/api/jobs/x", {"command": "true"})

    first, again = [await client.post("/api/jobs/x/run", {"delay": 60}, idempotency_key="k") for _ in range(2)]
    other = await client.post("/api/jobs/x/run", {"delay": 61}, idempotency_key="k")

    assert (first.content, first.status) == (again.content, again.status)
    assert other.status == 422
    assert len((await client.get("/api/runs")).json["items"]) == 1


@pytest.mark.proves("O2")
async def test_events_are_resumed_without_gap_or_repeat(client: Client) -> None:
    before = (await client.get("/api/events/page")).json["items"][-1]["id"]
    for number in range(5):
        await client.put(f"/api/jobs/j{number}", {"command": "true"})
    seen: list[str] = []
    last = str(before)
    for _ in range(5):
        async with client.stream("/api/events", last_event_id=last) as frames:
            async for frame in frames:
                last = frame["id"]
                if frame["event"] == "job.changed":
                    seen += [item[0] for item in json.loads(frame["data"])["items"]]
                    break

    assert seen == [f"j{number}" for number in range(5)]


@pytest.mark.proves("R0-67", "R0-68")
async def test_the_children_of_a_fanout_are_listed(client: Client) -> None:
    fanout = {"kind": "fanout", "inner_kind": "shell", "items": ["a", "b", "c"], "command": "true"}
    await client.put("/api/jobs/fan", fanout)
    parent = (await client.post("/api/jobs/fan/run")).json["id"]
    await client.ended(parent)

    children = (await client.get(f"/api/runs/{parent}/children")).json["items"]
    listed = (await client.get(f"/api/runs?parent_run_id={parent}")).json["items"]

    assert [child["item"] for child in children] == ["a", "b", "c"]
    assert {child["id"] for child in children} == {child["id"] for child in listed}
