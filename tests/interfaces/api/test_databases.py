"""The same requests on each database."""

import json

import pytest

from tests.interfaces.api.serving import Client


@pytest.mark.proves("R1-03", "R4-31")
async def test_a_job_is_created_run_and_read(on_each: Client) -> None:
    created = await on_each.put("/api/jobs/hello", {"command": "echo hi", "schedule": "@yearly"})
    run_id = (await on_each.post("/api/jobs/hello/run", {"payload": {"a": 1}})).json["id"]

    async with on_each.stream(f"/api/runs/{run_id}/log") as frames:
        found = [frame async for frame in frames]

    assert created.status == 201
    assert [json.loads(one["data"])["text"] for one in found if '"stdout"' in one["data"]] == ["hi\n"]
    assert (found[-1]["event"], json.loads(found[-1]["data"])["status"]) == ("end", "success")
    assert (await on_each.get("/api/runs?job_id=hello")).json["items"][0]["id"] == run_id
    assert (await on_each.get(f"/api/runs/{run_id}/page")).json["run"]["input_payload"] == {"a": 1}
    assert (await on_each.get("/api/schedules/hello:default")).json["preview"]
    assert (await on_each.get("/api/overview")).json["workers"]
    assert (await on_each.get("/readyz")).json == {"status": "ready"}


@pytest.mark.proves("A4")
async def test_edits_compare_their_revision(on_each: Client) -> None:
    tag = (await on_each.put("/api/jobs/x", {"command": "true"})).headers["ETag"]

    statuses = [
        (await on_each.put("/api/jobs/x", {"command": f"echo {text}"}, if_match=tag)).status for text in ("1", "2", "1")
    ]

    assert statuses == [200, 412, 200]


@pytest.mark.proves("A1", "A2")
async def test_a_request_with_a_key_is_carried_out_once(on_each: Client) -> None:
    await on_each.put("/api/jobs/x", {"command": "true"})

    first, again = [await on_each.post("/api/jobs/x/run", {"delay": 60}, idempotency_key="k") for _ in range(2)]
    other = await on_each.post("/api/jobs/x/run", {"delay": 61}, idempotency_key="k")

    assert (first.content, first.status) == (again.content, again.status)
    assert other.status == 422
    assert len((await on_each.get("/api/runs")).json["items"]) == 1


@pytest.mark.proves("O2")
async def test_events_are_resumed_without_gap_or_repeat(on_each: Client) -> None:
    before = (await on_each.get("/api/events/page")).json["items"][-1]["id"]
    for number in range(5):
        await on_each.put(f"/api/jobs/j{number}", {"command": "true"})
    seen: list[str] = []
    last = str(before)
    for _ in range(5):
        async with on_each.stream("/api/events", last_event_id=last) as frames:
            async for frame in frames:
                last = frame["id"]
                if frame["event"] == "job.changed":
                    seen += [item[0] for item in json.loads(frame["data"])["items"]]
                    break

    assert seen == [f"j{number}" for number in range(5)]


@pytest.mark.proves("R0-67", "R0-68")
async def test_the_children_of_a_fanout_are_listed(on_each: Client) -> None:
    fanout = {"kind": "fanout", "inner_kind": "shell", "items": ["a", "b", "c"], "command": "true"}
    await on_each.put("/api/jobs/fan", fanout)
    parent = (await on_each.post("/api/jobs/fan/run")).json["id"]
    await on_each.ended(parent)

    children = (await on_each.get(f"/api/runs/{parent}/children")).json["items"]
    listed = (await on_each.get(f"/api/runs?parent_run_id={parent}")).json["items"]

    assert [child["item"] for child in children] == ["a", "b", "c"]
    assert {child["id"] for child in children} == {child["id"] for child in listed}
