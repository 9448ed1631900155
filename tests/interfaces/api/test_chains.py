"""Chains, their classes, and versions of workflows by HTTP."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from tests.interfaces.api.serving import Client

QUICK = {"stages": {"action": {"job": "act", "delay": 0}}}
SLOW = {"stages": {"action": {"job": "act", "delay": 600_000}}}


async def declare(client: Client, **classes: object) -> None:
    """Declare classes whose action is a command that ends at once."""
    await client.put("/api/jobs/act", {"command": "true"})
    for name, spec in classes.items():
        job = JobSpec(kind="chain", spec=spec, options=Options(queue=TREES_QUEUE))  # type: ignore[arg-type]
        await client.context.services.storage.definitions.put_jobs([(JobId(name), job)])


async def start(client: Client, class_id: str) -> str:
    run_id: str = (await client.post(f"/api/jobs/{class_id}/run")).json["id"]
    while (await client.get(f"/api/chains/{run_id}")).status == 404:
        assert (await client.get(f"/api/runs/{run_id}")).json["status"] != "failed"
    return run_id


async def test_chains_are_listed_in_pages_and_shown(on_each: Client) -> None:
    await declare(on_each, quick=QUICK)
    runs = [await start(on_each, "quick") for _ in range(1)]
    await on_each.ended(runs[0])
    runs.append(await start(on_each, "quick"))
    await on_each.ended(runs[1])

    first = (await on_each.get("/api/chains?limit=1")).json
    second = (await on_each.get(f"/api/chains?limit=1&cursor={first['next']}")).json
    shown = (await on_each.get(f"/api/chains/{first['items'][0]['id']}")).json

    assert [one["run_id"] for one in (*first["items"], *second["items"])] == runs[::-1]
    assert (shown["run_id"], shown["state"], shown["steps"][0]["stage"]) == (runs[1], "closed", "action")
    assert (await on_each.get("/api/chains?class_id=other")).json["items"] == []
    assert len((await on_each.get("/api/chains?state=closed")).json["items"]) == 2
    assert (await on_each.get("/api/chains?cursor=x")).status == 422
    assert (await on_each.post(f"/api/chains/{runs[0]}/stop")).error["code"] == "terminal"


async def test_a_chain_and_a_class_are_stopped(on_each: Client) -> None:
    await declare(on_each, slow=SLOW)
    one = await start(on_each, "slow")
    stopped = await on_each.post(f"/api/chains/{one}/stop")
    assert (await on_each.ended(one))["status"] == "cancelled"
    two = await start(on_each, "slow")

    answer = await on_each.post("/api/chain-classes/slow/stop")

    assert (stopped.status, stopped.json["run_id"]) == (200, one)
    assert answer.json == {"class_id": "slow", "stopped": 1}
    assert (await on_each.ended(two))["status"] == "cancelled"
    [found] = (await on_each.get("/api/chain-classes")).json["items"]
    assert (found["id"], found["stopped"]) == ("slow", True)
    assert (await on_each.post("/api/chain-classes/slow/resume")).json["stopped"] is False
    assert (await on_each.get("/metrics")).content.count(b'foliot_chains_active{class="slow"}') == 1


async def test_a_reset_needs_a_reason_and_a_class(api: Client) -> None:
    await declare(api, slow=SLOW)

    assert (await api.post("/api/chain-classes/slow/reset", {})).status == 422
    assert (await api.post("/api/chain-classes/slow/reset", {"reason": " "})).error["field"] == "reason"
    assert (await api.post("/api/chain-classes/slow/reset", {"reason": "mended"})).json["breaker"] == "closed"
    for verb in ("stop", "resume"):
        assert (await api.post(f"/api/chain-classes/none/{verb}")).status == 404
    assert (await api.post("/api/chains/none/stop")).status == 404


@pytest.mark.parametrize("limit", [2, 100])
async def test_versions_of_a_workflow_are_listed_newest_first(on_each: Client, limit: int) -> None:
    for number in range(1, 4):
        steps = [{"name": f"s{one}", "command": "true"} for one in range(number)]
        await on_each.put("/api/workflows/etl", {"steps": steps})

    found = (await on_each.get(f"/api/workflows/etl/versions?limit={limit}")).json
    rest = (await on_each.get(f"/api/workflows/etl/versions?cursor={found['next']}")).json if found["next"] else None

    versions = [*found["items"], *(rest["items"] if rest else ())]
    assert [(one["version"], one["steps"]) for one in versions] == [(3, 3), (2, 2), (1, 1)]
    assert (await on_each.get("/api/workflows/none/versions")).status == 404
