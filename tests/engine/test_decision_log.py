"""The log of the scheduler says what it decided about each tick, and why."""

import logging
from typing import Any

import pytest

from foliot.domain.gate.spec import Action, Gate
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.engine.log_rate import PER_SECOND
from foliot.engine.scheduler.role import SchedulerRole
from foliot.errors import StorageUnavailable
from foliot.testing.builders import every
from tests.engine.rig import Rig

LATE = ScheduleId("late")


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    return [vars(record) for record in caplog.records if record.message == event]


@pytest.mark.proves("R4-53")
async def test_each_tick_that_ran_is_logged_with_schedule_job_and_run(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "b"):
        await rig.schedule(every(60, job_id=f"job-{name}"), name)

    with caplog.at_level(logging.INFO, "foliot"):
        await rig.fire(MINUTE)

    runs = {str(run.job_id): run.id for run in await rig.runs()}
    found = {(line["schedule"], line["job"], line["run"], line["reason"]) for line in logged(caplog, "tick_ran")}
    assert found == {(name, f"job-{name}", runs[f"job-{name}"], "on_time") for name in ("a", "b")}


@pytest.mark.proves("R4-53")
async def test_a_tick_that_did_not_run_is_logged_with_its_reason(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.stage.answer = None
    await rig.schedule(every(60, overlap=Overlap.SKIP), "slow")
    await rig.schedule(every(60, catchup=Catchup.NONE), LATE)
    await rig.fire(MINUTE)
    await rig.storage.definitions.pause_schedules([LATE], paused=True)
    await rig.schedule(every(60, job_id=None, workflow_id="gone"), "lost")

    with caplog.at_level(logging.INFO, "foliot"):
        await rig.fire(MINUTE)
        await rig.storage.definitions.pause_schedules([LATE], paused=False)
        await rig.fire(SECOND)
        await rig.fire(10 * MINUTE + 30 * SECOND)

    lines = logged(caplog, "tick_not_run")
    found = {(line["schedule"], line["job"], line["outcome"], line["reason"]) for line in lines}
    assert found >= {
        ("slow", "report", "skipped", "overlap"),
        ("late", "report", "skipped", "paused"),
        ("late", "report", "missed", "down"),
        ("lost", "gone", "failed", "launch_failed"),
    }
    first = next(line for line in lines if line["schedule"] == "slow")
    assert (first["scheduled_for"], first["count"]) == ("2026-01-01T00:02:00Z", 1)
    assert {line["levelname"] for line in lines if line["outcome"] == "failed"} == {"WARNING"}


async def test_a_tick_skipped_because_of_an_overlap_is_logged_with_the_run(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    rig.stage.answer = None
    await rig.schedule(every(60, overlap=Overlap.SKIP))
    await rig.fire(MINUTE)
    [run] = await rig.runs()

    with caplog.at_level(logging.INFO, "foliot"):
        await rig.fire(MINUTE)

    [line] = logged(caplog, "tick_not_run")
    assert line["overlaps"] == [run.id]


async def test_a_tick_is_logged_also_if_the_run_it_overlaps_with_cannot_be_read(
    rig: Rig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise StorageUnavailable("away")

    rig.stage.answer = None
    await rig.schedule(every(60, overlap=Overlap.SKIP))
    await rig.fire(MINUTE)
    monkeypatch.setattr(rig.storage.queries, "explained_tick", refuse)

    with caplog.at_level(logging.INFO, "foliot"):
        await rig.fire(MINUTE)

    [line] = logged(caplog, "tick_not_run")
    assert (line["reason"], "overlaps" in line) == ("overlap", False)


@pytest.mark.proves("R4-53")
async def test_a_scheduler_that_loses_the_race_logs_nothing(
    rig: Rig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        await rig.schedule(every(60), name)
    other = SchedulerRole(rig.parts, rig.settings).scheduler
    commit = rig.storage.ledger.commit_firings

    async def let_the_other_win(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(rig.storage.ledger, "commit_firings", commit)
        await other.round()
        caplog.clear()
        return await commit(*arguments, **options)

    monkeypatch.setattr(rig.storage.ledger, "commit_firings", let_the_other_win)
    with caplog.at_level(logging.INFO, "foliot"):
        await rig.fire(MINUTE)

    assert len(await rig.runs()) == 2
    assert caplog.records == []


async def digest_waits_for_its_gate(rig: Rig) -> RunId:
    gate = Gate(depends_on=(JobId("report"),), on_missing=Action.SKIP)
    spec = JobSpec(kind="workflow", inner_kind="stage", spec={}, gate=gate)
    await rig.storage.definitions.put_jobs([(JobId("digest"), spec)])
    return await rig.enqueue("digest", is_gated=True)


@pytest.mark.parametrize("is_saved", [True, False])
async def test_a_gate_that_declined_is_logged_with_job_and_run_if_that_was_saved(
    rig: Rig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, is_saved: bool
) -> None:
    async def too_late(*_: object) -> list[RunId]:
        return []

    run_id = await digest_waits_for_its_gate(rig)
    await rig.dispatcher.round()
    if not is_saved:
        monkeypatch.setattr(rig.storage.admission, "decide_gates", too_late)

    with caplog.at_level(logging.INFO, "foliot"):
        await rig.timekeeping.gates.round()

    found = [(line["job"], line["run"], line["reason"]) for line in logged(caplog, "gate_declined")]
    assert found == [("digest", run_id, "dep_missing")] * is_saved


async def test_ticks_above_the_rate_are_counted_and_those_that_did_not_run_are_logged_first(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    rig.stage.answer = None
    await rig.schedule(every(60, overlap=Overlap.SKIP), "zz-slow")
    await rig.fire(MINUTE)
    for number in range(PER_SECOND + 20):
        await rig.schedule(every(60), f"s{number:03}")

    with caplog.at_level(logging.INFO, "foliot"):
        await rig.fire(MINUTE)

    [line] = logged(caplog, "tick_not_run")
    [summary] = logged(caplog, "ticks_summarized")
    assert line["schedule"] == "zz-slow"
    assert len(logged(caplog, "tick_ran")) == PER_SECOND - 1
    assert summary["ticks"] == {"ran:on_time": 21}
