"""The history of a job, the ledger of a schedule, and filters of runs and items by HTTP, on each database."""

from typing import Any

import pytest

from tests.interfaces.api.serving import Client

FANOUT = {"kind": "fanout", "inner_kind": "shell", "items": ["a", "b", "c"], "command": '[ "$FANOUT_ITEM" != b ]'}


def ids(answer: Any) -> list[str]:
    return [one["id"] for one in answer.json["items"]]


async def test_the_history_of_a_job_has_its_runs_oldest_first_and_percentiles(on_each: Client) -> None:
    await on_each.put("/api/jobs/job", {"command": "true"})
    runs = [(await on_each.ended((await on_each.post("/api/jobs/job/run")).json["id"]))["id"] for _ in range(3)]

    history = (await on_each.get("/api/jobs/job/history")).json

    assert [run["id"] for run in history["runs"]] == runs
    assert (history["job_id"], history["duration"]["samples"], history["lag"]["samples"]) == ("job", 3, 3)
    assert history["duration"]["p50"] in [run["duration"] for run in history["runs"]]
    assert len((await on_each.get("/api/jobs/job/history?limit=1")).json["runs"]) == 1


async def test_a_job_without_runs_has_an_empty_history(on_each: Client) -> None:
    await on_each.put("/api/jobs/job", {"command": "true"})

    history = (await on_each.get("/api/jobs/job/history")).json

    assert (history["runs"], history["duration"], history["lag"]) == ([], None, None)
    assert (await on_each.get("/api/jobs/missing/history")).status == 404


async def test_the_ledger_of_a_schedule_has_ticks_counts_and_the_next_fire_times(on_each: Client) -> None:
    await on_each.put("/api/jobs/tick", {"command": "true", "every": 1})
    path = "/api/schedules/tick:default/ledger"
    while len((await on_each.get(path)).json["ticks"]) < 2:
        pass

    ledger = (await on_each.get(f"{path}?limit=1")).json
    none = (await on_each.get(f"{path}?until=2001-01-01T00:00:00Z")).json

    assert (ledger["job_id"], len(ledger["ticks"]), ledger["is_complete"]) == ("tick", 1, False)
    assert ledger["counts"]["planned"] >= ledger["counts"]["ran"] >= 2
    assert len(ledger["next"]) == 100
    assert (none["ticks"], none["counts"]["planned"], none["since"]) == ([], 0, "2000-12-11T00:00:00Z")


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", 422, "since"),
        ("since=yesterday", 422, "since"),
        ("limit=5001", 422, "limit"),
    ],
)
async def test_a_wrong_interval_of_a_ledger_is_refused(api: Client, query: str, status: int, field: str) -> None:
    await api.put("/api/jobs/job", {"command": "true", "schedule": "@yearly"})

    answer = await api.get(f"/api/schedules/job:default/ledger?{query}")

    assert (answer.status, answer.error["field"]) == (status, field)
    assert (await api.get("/api/schedules/missing/ledger")).status == 404


async def test_runs_are_filtered_by_statuses_tag_time_and_the_beginning_of_the_id(on_each: Client) -> None:
    await on_each.put("/api/jobs/good", {"command": "true", "tags": ["night"]})
    await on_each.put("/api/jobs/bad", {"command": "false"})
    good, bad = [(await on_each.post(f"/api/jobs/{name}/run")).json["id"] for name in ("good", "bad")]
    for run_id in (good, bad):
        await on_each.ended(run_id)

    assert ids(await on_each.get("/api/runs?statuses=success,failed")) == sorted([good, bad], reverse=True)
    assert ids(await on_each.get("/api/runs?statuses=timeout,failed")) == [bad]
    assert ids(await on_each.get("/api/runs?tag=night")) == [good]
    assert ids(await on_each.get(f"/api/runs?search={good.lower()}")) == [good]
    assert ids(await on_each.get(f"/api/runs?search={good[:4]}&job_id=bad")) == [bad]
    assert ids(await on_each.get("/api/runs?until=2001-01-01T00:00:00Z")) == []
    assert len(ids(await on_each.get("/api/runs?until=2999-01-01T00:00:00Z"))) == 2


@pytest.mark.parametrize("query", ["statuses=success,tired", "statuses=", "search=%25", "search=", "until=soon"])
async def test_wrong_filters_of_runs_are_refused(api: Client, query: str) -> None:
    answer = await api.get(f"/api/runs?{query}")

    assert (answer.status, answer.error["field"]) == (422, query.partition("=")[0])


async def test_items_of_a_fanout_are_found_by_status(on_each: Client) -> None:
    await on_each.put("/api/jobs/fan", FANOUT)
    parent = (await on_each.post("/api/jobs/fan/run")).json["id"]
    await on_each.ended(parent)

    async def items(status: str) -> list[str]:
        return [one["item"] for one in (await on_each.get(f"/api/runs/{parent}/items?status={status}")).json["items"]]

    assert await items("success") == ["a", "c"]
    assert await items("failed") == ["b"]
    assert await items("running") == await items("pending") == await items("waiting") == []
    assert (await on_each.get(f"/api/runs/{parent}/items?status=tired")).status == 422


async def test_the_timeline_of_a_run_has_each_attempt_with_its_worker(on_each: Client) -> None:
    await on_each.put("/api/jobs/bad", {"command": "false", "retry_count": 1, "retry_delay": 0})
    run_id = (await on_each.post("/api/jobs/bad/run")).json["id"]
    await on_each.ended(run_id)

    phases = (await on_each.get(f"/api/runs/{run_id}/page")).json["timeline"]

    assert [(one["kind"], one["attempt"], one["status"]) for one in phases] == [
        ("queued", 1, None),
        ("running", 1, "failed"),
        ("queued", 2, None),
        ("running", 2, "failed"),
    ]
    assert phases[1]["worker"] == "test"
    assert [one["end"] for one in phases[:-1]] == [one["begin"] for one in phases[1:]]
