"""GET /metrics, read by the parser of the Prometheus client."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from foliot import Foliot
from tests.interfaces.api.serving import Client, serving

PAGE = Path(__file__).parents[3] / "docs/reference/metrics.md"


class Metrics:
    """An answer of /metrics."""

    def __init__(self, text: str) -> None:
        self.families: dict[str, Metric] = {one.name: one for one in text_string_to_metric_families(text)}

    def value(self, name: str, **labels: str) -> float:
        """Return the value of a sample. Of a metric without this label there is none: 0."""
        found = [
            sample.value
            for family in self.families.values()
            for sample in family.samples
            if sample.name == f"foliot_{name}" and sample.labels == labels
        ]
        return found[0] if found else 0


async def read(client: Client, **headers: str) -> Metrics:
    answer = await client.get("/metrics", **headers)
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return Metrics(answer.content.decode())


async def until(client: Client, is_reached: Callable[[Metrics], bool]) -> Metrics:
    while not is_reached(found := await read(client)):
        await asyncio.sleep(0.02)
    return found


async def test_the_names_and_types_are_those_of_the_reference(on_each: Client) -> None:
    found = await read(on_each)

    types = {name.removeprefix("foliot_"): family.type for name, family in found.families.items()}
    assert types.items() >= {
        ("jobs_total", "gauge"),
        ("jobs_enabled", "gauge"),
        ("jobs_disabled", "gauge"),
        ("runs", "counter"),
        ("runs_running", "gauge"),
        ("build_info", "gauge"),
        ("schedules_due", "gauge"),
        ("runs_emitted", "counter"),
        ("runs_skipped_overlap", "counter"),
        ("runs_failed_launch", "counter"),
        ("run_drift_seconds", "histogram"),
        ("run_duration_seconds", "histogram"),
        ("deliveries", "gauge"),
        ("chains_active", "gauge"),
        ("chain_breaker_open", "gauge"),
    }
    assert all(name.startswith("foliot_") and family.documentation for name, family in found.families.items())
    assert (found.value("workers_alive"), found.value("worker_slots")) == (1, 8)
    assert found.value("storage_bytes", part="database") > 0


async def test_the_page_describes_every_metric_with_its_type(api: Client) -> None:
    page = dict(re.findall(r"^\| `foliot_(\w+?)(?:\{[\w,]+\})?` \| (\w+) \|", PAGE.read_text(), re.MULTILINE))
    # A run that has ended, so that every metric is there.
    meter = api.context.services.queries.metrics.meter
    meter.last_finish = api.context.services.clock.now()

    found = (await read(api)).families

    suffixes = {"counter": "_total"}
    assert page == {
        f"{name}{suffixes.get(one.type, '')}".removeprefix("foliot_"): one.type for name, one in found.items()
    }


async def test_ended_runs_are_counted_by_status_with_their_durations(on_each: Client) -> None:
    assert (await read(on_each)).value("runs_total", status="success") == 0
    await on_each.put("/api/jobs/good", {"command": "true"})
    await on_each.put("/api/jobs/bad", {"command": "exit 3"})
    await on_each.put("/api/jobs/off", {"command": "true", "enabled": False})
    for job in ("good", "good", "bad"):
        await on_each.ended((await on_each.post(f"/api/jobs/{job}/run")).json["id"])

    found = await until(on_each, lambda one: one.value("run_duration_seconds_count") == 3)

    assert [found.value("runs_total", status=one) for one in ("success", "failed", "cancelled")] == [2, 1, 0]
    assert found.value("run_reasons_total", reason="exit_code") == 1
    assert [found.value(f"jobs_{one}") for one in ("total", "enabled", "disabled")] == [3, 2, 1]
    assert found.value("run_duration_seconds_bucket", le="+Inf") == 3
    assert 0 < found.value("run_duration_seconds_sum") < 3 * 60
    assert 0 <= found.value("last_finish_age_seconds") < 60
    assert found.value("runs_running") == 0
    assert found.value("run_drift_seconds_count") == 0


@pytest.mark.proves("R4-54", "R4-55", "T8")
async def test_ticks_are_counted_with_their_drift(on_each: Client) -> None:
    await read(on_each)
    put = await on_each.put("/api/jobs/slow", {"command": "sleep 60", "every": 1, "overlap": "skip"})
    assert put.status == 201

    found = await until(
        on_each, lambda one: one.value("runs_skipped_overlap_total") >= 2 and one.value("run_drift_seconds_count") == 1
    )

    assert found.value("runs_emitted_total") == 1
    assert found.value("ticks_total", outcome="ran", reason="on_time") == 1
    skipped = found.value("ticks_total", outcome="skipped", reason="overlap")
    assert skipped == found.value("runs_skipped_overlap_total")
    assert found.value("runs_running") == 1
    buckets = [one for one in found.families["foliot_run_drift_seconds"].samples if one.name.endswith("_bucket")]
    assert [one.value for one in buckets] == sorted(one.value for one in buckets)
    assert (buckets[-1].labels["le"], buckets[-1].value) == ("+Inf", 1)
    [run] = (await on_each.get("/api/runs?job_id=slow")).json["items"]
    # The lag that is stored with the run is what the metric has counted.
    assert run["lag"] >= 0
    assert found.value("run_drift_seconds_sum") == pytest.approx(run["lag"])
    await on_each.delete("/api/schedules/slow:default")
    await on_each.post(f"/api/runs/{run['id']}/cancel")


@pytest.mark.proves("R4-54")
async def test_runs_that_cannot_be_launched_are_counted(on_each: Client) -> None:
    await read(on_each)
    await on_each.put("/api/jobs/lost", {"command": "true", "working_dir": "/does/not/exist"})
    await on_each.ended((await on_each.post("/api/jobs/lost/run")).json["id"])

    found = await until(on_each, lambda one: one.value("runs_total", status="failed") == 1)

    assert found.value("runs_failed_launch_total") == 1


@pytest.mark.proves("R4-54")
async def test_a_due_schedule_is_counted_until_it_is_decided(url: str) -> None:
    app = Foliot(url)
    async with app, serving(await app.open()) as client:
        put = await client.put("/api/jobs/x", {"command": "true", "every": 1})
        assert put.status == 201
        await client.put("/api/jobs/y", {"command": "true", "schedule": "@yearly"})

        found = await until(client, lambda one: one.value("schedules_due") > 0)

    assert found.value("schedules_due") == 1
    assert found.value("scheduler_alive") == 0


async def test_counting_continues_after_an_error_of_the_database(on_each: Client) -> None:
    await on_each.put("/api/jobs/good", {"command": "true"})
    await read(on_each)
    meter = on_each.context.services.queries.metrics.meter
    await on_each.context.metering.stop()
    await on_each.ended((await on_each.post("/api/jobs/good/run")).json["id"])

    found = await until(on_each, lambda one: one.value("runs_total", status="success") == 1)

    assert found.value("run_duration_seconds_count") == meter.durations.cumulative()[-1] == 1


async def test_metrics_need_a_role(guarded: Client) -> None:
    assert (await guarded.get("/metrics")).status == 401
    assert (await guarded.get("/metrics", authorization="Bearer trigger")).status == 403
    assert (await read(guarded, authorization="Bearer viewer")).value("jobs_total") == 0
