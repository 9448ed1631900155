"""Runs and their logs by HTTP."""

import asyncio

import pytest

from foliot import Foliot, Workflow
from foliot.service.commands.cancels import MOST
from foliot.service.services import Services
from tests.interfaces.api.serving import Answer, Client


@pytest.mark.proves("R0-69", "R1-03", "R1-42")
async def test_a_run_is_started_and_read_by_its_id_alone(working: Client) -> None:
    await working.put("/api/jobs/hello", {"command": "echo hi; echo oops >&2"})

    started = await working.post("/api/jobs/hello/run")
    run = await working.ended(started.json["id"])

    assert started.status == 202
    assert (run["status"], run["exit_code"], run["attempt"]) == ("success", 0, 1)
    output = await working.get(f"/api/runs/{run['id']}/output")
    assert (output.content, output.headers["Content-Type"]) == (b"hi\n", "application/octet-stream")
    attempts = (await working.get(f"/api/runs/{run['id']}/attempts")).json["items"]
    assert [attempt["status"] for attempt in attempts] == ["success"]


async def test_a_log_is_read_as_text_and_in_parts(working: Client) -> None:
    await working.put("/api/jobs/hello", {"command": "printf '0123456789\\n'"})
    run_id = (await working.post("/api/jobs/hello/run")).json["id"]
    await working.ended(run_id)

    log = await working.get(f"/api/runs/{run_id}/log")
    middle = await working.get(f"/api/runs/{run_id}/log", range="bytes=2-5")
    tail = await working.get(f"/api/runs/{run_id}/log?offset=3&length=4")
    beyond = await working.get(f"/api/runs/{run_id}/log", range="bytes=100000-")

    assert b"0123456789\n" in log.content
    assert log.headers["Content-Type"].startswith("text/plain")
    assert "attachment" in log.headers["Content-Disposition"]
    assert (middle.status, middle.content, middle.headers["Content-Range"]) == (206, log.content[2:6], "bytes 2-5/*")
    assert (tail.status, tail.content) == (200, log.content[3:7])
    assert beyond.status == 416


async def test_a_log_is_read_in_pieces(working: Client) -> None:
    await working.put("/api/jobs/hello", {"command": "echo out"})
    run_id = (await working.post("/api/jobs/hello/run")).json["id"]
    await working.ended(run_id)

    first = (await working.get(f"/api/runs/{run_id}/log/pieces?limit=1")).json
    rest = (await working.get(f"/api/runs/{run_id}/log/pieces?after={first['next']}")).json

    pieces = [*first["items"], *rest["items"]]
    assert [piece["text"] for piece in pieces if piece["stream"] == "stdout"] == ["out\n"]
    assert (first["state"], rest["state"], rest["next"]) == (None, "complete", None)
    assert (await working.get(f"/api/runs/{run_id}/log/pieces?after=nonsense")).status == 422


async def test_the_output_of_a_run_that_has_not_ended_is_a_conflict(api: Client) -> None:
    await api.put("/api/jobs/hello", {"command": "true"})
    run_id = (await api.post("/api/jobs/hello/run")).json["id"]

    assert (await api.get(f"/api/runs/{run_id}/output")).status == 409


async def test_cancelling_has_the_phases_of_the_run(app: Foliot, working: Client) -> None:
    await working.put("/api/jobs/long", {"command": "echo started; sleep 60", "max_concurrent": 1})
    running = (await working.post("/api/jobs/long/run")).json["id"]
    async with working.stream(f"/api/runs/{running}/log") as frames:
        async for frame in frames:
            if "started" in frame["data"] and "stdout" in frame["data"]:
                break
    waiting = (await working.post("/api/jobs/long/run")).json["id"]
    working.context.is_local = lambda worker_id: True

    queued = await working.post(f"/api/runs/{waiting}/cancel")
    signalled = await working.post(f"/api/runs/{running}/cancel")
    ended = await working.ended(running)
    late = await working.post(f"/api/runs/{running}/cancel")

    assert (queued.status, queued.json["phase"], queued.json["status"]) == (200, "queued", "cancelled")
    assert (signalled.status, signalled.json["phase"]) == (202, "local_signalled")
    assert ended["status"] == "cancelled"
    assert (late.status, late.error["code"]) == (409, "terminal")
    assert (await working.post("/api/runs/nope/cancel")).status == 404


@pytest.mark.proves("Z55")
async def test_many_runs_are_cancelled_in_limited_requests_after_a_confirmation(
    services: Services, guarded: Client
) -> None:
    as_operator = {"authorization": "Bearer operator"}
    await guarded.put("/api/jobs/x", {"command": "true"}, authorization="Bearer editor")
    await services.runs.enqueue_many("x", [None] * (MOST + 1))

    async def cancel(**body: object) -> Answer:
        return await guarded.post("/api/runs/cancel-all", body, **as_operator)

    asked = await cancel()
    untouched = await guarded.get("/api/runs?status=cancelled", **as_operator)
    refused = [await cancel(confirm="yes"), await cancel(status="success", confirm=True)]
    missing = await cancel(job_id="y", confirm=True)
    done = [(await cancel(job_id="x", confirm=True)).json for _ in range(3)]

    assert (asked.status, asked.error["field"]) == (422, "confirm")
    assert asked.error["message"] == f"this cancels {MOST} or more runs"
    assert untouched.json["items"] == []
    assert [(one.status, one.error["field"]) for one in refused] == [(422, "confirm"), (422, "status")]
    assert missing.status == 404
    assert done == [
        {"cancelled": MOST, "requested": 0, "is_complete": False},
        {"cancelled": 1, "requested": 0, "is_complete": True},
        {"cancelled": 0, "requested": 0, "is_complete": True},
    ]
    found = await guarded.get("/api/audit?actor=token:operator&limit=1000", authorization="Bearer admin")
    assert [(one["action"], one["kind"]) for one in found.json["items"]] == [("cancel", "run")] * MOST


async def test_cancelling_all_runs_of_a_fanout_cancels_the_fanout(working: Client) -> None:
    await working.put("/api/jobs/fan", {"kind": "fanout", "items": ["a", "b"], "command": "sleep 60", "concurrency": 1})
    fanout = (await working.post("/api/jobs/fan/run")).json["id"]
    while not (await working.get(f"/api/runs?parent_run_id={fanout}&status=running")).json["items"]:
        await asyncio.sleep(0.01)

    cancelled = await working.post("/api/runs/cancel-all", {"job_id": "fan", "confirm": True})

    assert cancelled.json == {"cancelled": 0, "requested": 1, "is_complete": True}
    assert (await working.ended(fanout))["status"] == "cancelled"


async def test_a_second_request_to_cancel_is_already_pending(working: Client) -> None:
    await working.put("/api/jobs/stubborn", {"command": "trap '' TERM; echo started; while :; do sleep 0.05; done"})
    run_id = (await working.post("/api/jobs/stubborn/run")).json["id"]
    async with working.stream(f"/api/runs/{run_id}/log") as frames:
        async for frame in frames:
            if "started" in frame["data"] and "stdout" in frame["data"]:
                break

    first = await working.post(f"/api/runs/{run_id}/cancel")
    second = await working.post(f"/api/runs/{run_id}/cancel")

    assert (first.json["phase"], second.json["phase"]) == ("awaiting_worker", "already_pending")
    assert (await working.ended(run_id))["status"] == "cancelled"


async def test_a_failed_run_is_retried_and_marked(working: Client) -> None:
    await working.put("/api/jobs/bad", {"command": "exit 3"})
    run_id = (await working.post("/api/jobs/bad/run")).json["id"]
    failed = await working.ended(run_id)

    again = await working.post(f"/api/runs/{run_id}/retry")
    marked = await working.post(f"/api/runs/{run_id}/mark")

    assert (failed["status"], failed["exit_code"]) == ("failed", 3)
    assert (again.status, again.json["trigger"]) == (202, f"retry:{run_id}")
    assert marked.json["answer"] == "recorded"
    assert (await working.get(f"/api/runs/{marked.json['success_id']}")).json["status"] == "success"


@pytest.mark.proves("A5", "R1-17")
async def test_runs_are_listed_by_filters_and_in_pages(working: Client) -> None:
    await working.put("/api/jobs/good", {"command": "true"})
    await working.put("/api/jobs/bad", {"command": "exit 1"})
    ids = [(await working.post(f"/api/jobs/{job}/run")).json["id"] for job in ("good", "bad", "good")]
    for run_id in ids:
        await working.ended(run_id)

    async def listed(query: str) -> list[str]:
        return [run["id"] for run in (await working.get(f"/api/runs{query}")).json["items"]]

    first = (await working.get("/api/runs?limit=2")).json
    assert [run["id"] for run in first["items"]] == [ids[2], ids[1]]
    assert await listed(f"?limit=2&cursor={first['next']}") == [ids[0]]
    assert await listed("?job_id=bad") == await listed("?status=failed") == await listed("?failed=true") == [ids[1]]
    assert await listed("?since=2099-01-01T00:00:00Z") == []
    assert (await working.get("/api/runs?job_id=nope")).status == 404
    assert (await working.get("/api/runs?status=nope")).status == 422
    assert (await working.get("/api/runs?cursor=nope!")).status == 422
    assert (await working.get("/api/jobs/good/runs?limit=1")).json["items"][0]["id"] == ids[2]


@pytest.mark.proves("R0-67", "R0-68")
async def test_the_children_of_a_fanout_are_listed_in_order(working: Client) -> None:
    fanout = {"kind": "fanout", "inner_kind": "shell", "items": ["a", "b", "c"], "command": 'test "$ITEM" != b'}
    reducer = {"command": "true", "run_on": "always"}
    assert (await working.put("/api/jobs/fan", {**fanout, "item_var": "ITEM", "reducer": reducer})).status == 201
    parent = (await working.post("/api/jobs/fan/run")).json["id"]
    await working.ended(parent)

    children = (await working.get(f"/api/runs/{parent}/children?limit=2")).json
    more = (await working.get(f"/api/runs/{parent}/children?cursor={children['next']}")).json
    filtered = (await working.get(f"/api/runs?parent_run_id={parent}")).json["items"]

    runs = [*children["items"], *more["items"]]
    assert [run["item"] for run in runs if run["role"] == "child"] == ["a", "b", "c"]
    assert [run["role"] for run in runs][-1] == "reducer"
    assert {run["id"] for run in filtered} == {run["id"] for run in runs}
    failed = (await working.get(f"/api/runs/{parent}/items?failed=true")).json["items"]
    assert [item["item"] for item in failed] == ["b"]
    results = (await working.get(f"/api/runs/{parent}/results?limit=2")).json
    rest = (await working.get(f"/api/runs/{parent}/results?cursor={results['next']}")).json
    ended = [(one["item"], one["status"]) for one in (*results["items"], *rest["items"])]
    assert ended == [("a", "success"), ("b", "failed"), ("c", "success")]
    tree = (await working.get(f"/api/runs/{parent}/tree")).json["items"]
    assert {run["id"] for run in tree} >= {run["id"] for run in runs}


async def test_everything_about_a_run_is_one_page(working: Client) -> None:
    await working.put("/api/jobs/bad", {"command": "exit 1"})
    run_id = (await working.post("/api/jobs/bad/run")).json["id"]
    await working.ended(run_id)

    page = (await working.get(f"/api/runs/{run_id}/page")).json
    path = (await working.get(f"/api/runs/{run_id}/explain")).json
    same = (await working.get("/api/explain?run=bad@last")).json

    assert (page["run"]["id"], page["log"]["state"]) == (run_id, "complete")
    assert path["run_id"] == same["run_id"] == run_id
    assert (await working.get("/api/explain")).status == 422


@pytest.mark.proves("Z30")
async def test_secrets_in_payloads_are_masked(api: Client) -> None:
    await api.put("/api/jobs/hello", {"command": "true"})

    run = (await api.post("/api/jobs/hello/run", {"payload": {"password": "hush", "day": 1}})).json

    pages = [
        await api.get(path)
        for path in (f"/api/runs/{run['id']}", "/api/runs", f"/api/runs/{run['id']}/page", "/api/jobs/hello/page")
    ]
    assert run["input_payload"] == {"password": "***", "day": 1}
    assert all(b"hush" not in page.content for page in pages)


@pytest.mark.proves("R2-58", "R2-59")
async def test_an_execution_is_read_and_its_step_approved(app: Foliot, working: Client) -> None:
    steps = [{"name": "ask", "approve": True}, {"name": "ship", "command": "true", "after": ["ask"]}]
    deployed = await working.post("/api/workflows", {"id": "release", "steps": steps})
    started = await working.post("/api/workflows/release/start")
    execution = started.json["id"]
    while not [one for one in (await working.get("/api/executions")).json["items"] if one["execution"]["steps"]]:
        pass
    while (await working.post(f"/api/executions/{execution}/steps/ask/approve")).status == 422:
        pass
    ended = await working.ended(execution)

    assert (deployed.status, deployed.json["version"]) == (201, 1)
    assert ended["status"] == "success"
    page = (await working.get(f"/api/executions/{execution}")).json
    assert [step["result"] for step in page["execution"]["steps"]] == ["success", "success"]
    assert (await working.get("/api/executions")).json["items"] == []
    assert (await working.get("/api/executions/nope")).status == 404


async def test_a_workflow_of_the_application_is_listed_but_not_replaced(app: Foliot, api: Client) -> None:
    workflow = Workflow("etl")
    workflow.step("only", shell="true")
    app.workflow(workflow)
    await (await app.open()).workflows.put({"etl": workflow.spec})

    refused = await api.put("/api/workflows/etl", {"steps": [{"name": "only", "command": "false"}]})

    assert [one["id"] for one in (await api.get("/api/workflows")).json["items"]] == ["etl"]
    assert refused.status == 409
