"""Unreadable rows do not stop the engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from foliot.domain.gate.spec import Gate, WindowKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import DAY, MINUTE, SECOND
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.outcome import Reason
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Run, Status
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.domain.workflow.kind import WorkflowKind
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.ports.definitions import Deployment
from foliot.ports.storage import Storage
from foliot.testing.builders import REPORT, every
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Another
from tests.engine.rig import Rig

Spoil = Callable[[str], None]


@pytest.fixture
def spoil(tmp_path: Path) -> Spoil:
    """Writes directly into the database."""

    def write(sql: str) -> None:
        connection = apsw.Connection(str(tmp_path / "engine.db"))
        connection.execute(sql)
        assert connection.changes()
        connection.close()

    return write


def logged(caplog: pytest.LogCaptureFixture, event: str) -> int:
    return sum(record.message == event for record in caplog.records)


def of_schedule(name: str) -> Callable[[Run], bool]:
    return lambda run: run.tick is not None and run.tick.schedule_id == name


# -- schedules


async def test_an_unreadable_schedule_does_not_stop_others_and_is_logged_once(
    rig: Rig, spoil: Spoil, caplog: pytest.LogCaptureFixture
) -> None:
    await rig.schedule(every(60), "bad")
    await rig.schedule(every(60, overlap=Overlap.ALLOW), "sound")
    spoil("UPDATE schedules SET spec = '{oops' WHERE id = 'bad'")

    for _ in range(5):
        await rig.fire(MINUTE)

    assert len(await rig.runs(of_schedule("sound"))) == 5
    assert await rig.runs(of_schedule("bad")) == []
    assert logged(caplog, "schedule_unreadable") == 1


async def test_the_scheduler_sleeps_while_only_unreadable_schedules_are_due(rig: Rig, spoil: Spoil) -> None:
    await rig.schedule(every(1))
    spoil("UPDATE schedules SET spec = '{oops'")

    rests = [await rig.fire(SECOND) for _ in range(5)]

    assert rests == [rig.settings.scheduler.poll] * 5


async def test_a_batch_of_unreadable_schedules_does_not_hide_others(
    rig: Rig, spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foliot.engine.scheduler.scheduler.BATCH", 3)
    for number in range(4):
        await rig.schedule(every(60), f"bad{number}")
    rig.clock.advance(1)
    await rig.schedule(every(60), "sound")
    spoil("UPDATE schedules SET spec = '{oops' WHERE id <> 'sound'")

    first = await rig.fire(MINUTE)
    await rig.scheduler.round()

    assert first == 0
    assert len(await rig.runs(of_schedule("sound"))) == 1


@pytest.mark.proves("T2")
@pytest.mark.parametrize(
    ("catchup", "outcomes"),
    [
        (Catchup.NONE, [("ran", "on_time", 1), ("missed", "down", 4), ("ran", "on_time", 1)]),
        (Catchup.ONCE, [("ran", "on_time", 1), ("coalesced", "caught_up", 4), ("ran", "on_time", 1)]),
        (Catchup.ALL, [("ran", "on_time", 1), *[("ran", "caught_up", 1)] * 4, ("ran", "on_time", 1)]),
    ],
)
async def test_a_repaired_schedule_catches_up_by_its_policy(
    rig: Rig, spoil: Spoil, caplog: pytest.LogCaptureFixture, catchup: Catchup, outcomes: list[tuple[str, str, int]]
) -> None:
    schedule = await rig.schedule(every(60, catchup=catchup, overlap=Overlap.ALLOW))
    await rig.fire(MINUTE)
    spoil("UPDATE schedules SET spec = '{oops'")
    for _ in range(4):
        await rig.fire(MINUTE)

    spoil("UPDATE schedules SET spec = (SELECT spec FROM revisions r WHERE r.uid = schedules.uid)")
    await rig.fire(MINUTE)
    assert await rig.outcomes(schedule.uid) == outcomes

    spoil("UPDATE schedules SET spec = '{oops'")
    await rig.fire(MINUTE)
    assert logged(caplog, "schedule_unreadable") == 2


async def test_schedules_of_an_unreadable_job_wait_until_it_is_put_again(rig: Rig, spoil: Spoil) -> None:
    schedule = await rig.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
    await rig.schedule(every(60, job_id=JobId("sound")), "sound")
    spoil(f"UPDATE jobs SET spec = '{{oops' WHERE id = '{REPORT}'")
    await rig.fire(MINUTE)
    await rig.fire(MINUTE)
    assert await rig.ticks(schedule.uid) == []

    await rig.job(REPORT)
    await rig.fire(MINUTE)

    assert await rig.outcomes(schedule.uid) == [*[("ran", "caught_up", 1)] * 2, ("ran", "on_time", 1)]
    assert len(await rig.runs(of_schedule("sound"))) == 1


# -- runs


async def trouble(rig: Rig, run_id: RunId) -> tuple[Status, str | None, str]:
    run = await rig.run(run_id)
    return run.status, run.reason, (run.error or "").partition(":")[0]


@pytest.mark.parametrize(
    "damage",
    [
        "limits = '{oops'",
        "overrides = CAST('{oops' AS BLOB)",
        "overrides = CAST('[]' AS BLOB)",
        """overrides = CAST('{"spec": 5}' AS BLOB)""",
        """overrides = CAST('{"priority": "high"}' AS BLOB)""",
        """overrides = CAST('{"retry": 5}' AS BLOB)""",
        """overrides = CAST('{"timeout": []}' AS BLOB)""",
        "payload = CAST('{oops' AS BLOB)",
        "payload = x'fffe'",
        """payload = x'22ff22'""",
        """payload = CAST('"\\ud800"' AS BLOB)""",
        "attempt = 9223372036854775807",
        "lost = 9223372036854775807",
        f"""overrides = CAST('{{"a": {"[" * 100_000}{"]" * 100_000}}}' AS BLOB)""",
    ],
)
async def test_an_unreadable_run_fails_and_the_others_are_executed(rig: Rig, spoil: Spoil, damage: str) -> None:
    bad, *others = [await rig.enqueue(delay=SECOND) for _ in range(4)]
    spoil(f"UPDATE runs SET {damage} WHERE id = '{bad}'")
    rig.clock.advance(SECOND)

    await rig.work_off(3)

    assert [await rig.status(run_id) for run_id in others] == [Status.SUCCESS] * 3
    named = f"the row of run '{bad}' cannot be read"
    assert await trouble(rig, bad) == (Status.FAILED, Reason.LAUNCH_FAILED, named)


async def test_an_unreadable_run_is_not_retried(rig: Rig, spoil: Spoil) -> None:
    await rig.job(REPORT, retry=Retry(retries=3))
    bad = await rig.enqueue()
    spoil(f"UPDATE runs SET payload = CAST('{{oops' AS BLOB) WHERE id = '{bad}'")

    await rig.work_off(2)

    assert (await rig.status(bad), (await rig.run(bad)).attempt) == (Status.FAILED, 1)


@pytest.mark.parametrize("given", ['"invented_later": 1', '"retry": {"invented_later": 1}'])
async def test_options_of_a_later_version_are_ignored(rig: Rig, spoil: Spoil, given: str) -> None:
    odd, other = await rig.enqueue(), await rig.enqueue()
    spoil(f"UPDATE runs SET overrides = CAST('{{{given}}}' AS BLOB) WHERE id = '{odd}'")

    await rig.work_off(2)

    assert [await rig.status(run_id) for run_id in (odd, other)] == [Status.SUCCESS] * 2


async def test_runs_of_an_unreadable_job_fail_until_it_is_repaired(rig: Rig, spoil: Spoil) -> None:
    sound, bad = await rig.enqueue("sound"), await rig.enqueue("bad")
    spoil("UPDATE jobs SET spec = '{oops' WHERE id = 'bad'")

    await rig.work_off(2)
    await rig.job("bad")
    after = await rig.enqueue("bad")
    await rig.work_off(2)

    assert await trouble(rig, bad) == (Status.FAILED, Reason.LAUNCH_FAILED, "the row of job 'bad' cannot be read")
    assert [await rig.status(run_id) for run_id in (sound, after)] == [Status.SUCCESS] * 2


async def test_a_job_whose_row_was_repaired_runs_again(rig: Rig, spoil: Spoil) -> None:
    bad = await rig.enqueue("bad")
    spoil("UPDATE jobs SET spec = spec || '}' WHERE id = 'bad'")
    await rig.work_off(2)
    spoil("UPDATE jobs SET spec = substr(spec, 1, length(spec) - 1) WHERE id = 'bad'")

    after = await rig.enqueue("bad")
    await rig.work_off(2)

    assert [await rig.status(run_id) for run_id in (bad, after)] == [Status.FAILED, Status.SUCCESS]


async def test_the_error_of_an_unreadable_job_is_not_cached_after_its_deletion(rig: Rig, spoil: Spoil) -> None:
    bad = await rig.enqueue("bad")
    spoil("UPDATE jobs SET spec = '{oops' WHERE id = 'bad'")
    await rig.work_off(2)
    late = await rig.enqueue("sound")
    spoil(f"UPDATE runs SET job_id = 'bad' WHERE id = '{late}'")
    spoil("DELETE FROM jobs WHERE id = 'bad'")

    await rig.work_off(2)

    assert [(await rig.run(run_id)).reason for run_id in (bad, late)] == ["launch_failed", "handler_missing"]


async def test_leases_of_a_vanished_worker_are_freed_with_unreadable_rows(
    rig: Rig, another: Another, spoil: Spoil, clock: VirtualClock
) -> None:
    rig.stage.answer = None
    bad, sound = await rig.enqueue("bad"), await rig.enqueue("sound")
    await rig.claim()
    spoil("UPDATE jobs SET spec = '{oops' WHERE id = 'bad'")
    spoil(f"UPDATE runs SET limits = '{{oops' WHERE id = '{bad}'")
    clock.reboot()

    await Rig(await another(), clock).reaper.round()  # a process that has not read the job before

    assert await rig.status(sound) is Status.QUEUED
    # Whether it may be tried again is not known: it may be one that must not.
    assert await trouble(rig, bad) == (Status.FAILED, Reason.LEASE_LOST, "the worker was lost")


# -- executions and gates


async def deploy(rig: Rig, *names: str, **fields: Any) -> None:
    """Deploy workflows of two sequential steps."""
    await rig.job(REPORT)
    steps = Step(name="first", job=REPORT), Step(name="second", job=REPORT, after=(Edge(parent="first"),))
    await rig.storage.definitions.deploy(Deployment({name: WorkflowSpec(steps=steps, **fields) for name in names}))


async def go_on(rig: Rig, settling: Rig | None = None) -> None:
    """Work and settle for some rounds; `settling` is the process that settles."""
    for _ in range(6):
        await rig.work()
        await rig.finisher.round()
        await (settling or rig).settle()


@pytest.mark.parametrize(
    ("damage", "mend"),
    [
        ("trees SET held = '{oops'", "trees SET held = NULL"),
        ("steps SET blockers = '{oops'", "steps SET blockers = NULL"),
        (
            "tree_bodies SET body = CAST(body || '}' AS BLOB)",
            "tree_bodies SET body = substr(body, 1, length(body) - 1)",
        ),
    ],
)
async def test_an_unreadable_execution_does_not_stop_others_and_continues_after_repair(
    rig: Rig, storage: Storage, spoil: Spoil, caplog: pytest.LogCaptureFixture, damage: str, mend: str
) -> None:
    await deploy(rig, "etl")
    bad, sound = await rig.enqueue("etl"), await rig.enqueue("etl")
    await rig.claim()
    await rig.work()  # the first steps have been carried out
    spoil(f"UPDATE {damage} WHERE run_id = '{bad}'")
    newcomer = Rig(storage, rig.clock)  # one that has not read it before

    await go_on(rig, newcomer)
    assert [await rig.status(run_id) for run_id in (bad, sound)] == [Status.RUNNING, Status.SUCCESS]
    assert logged(caplog, "tree_settle_failed") == 1

    spoil(f"UPDATE {mend} WHERE run_id = '{bad}'")
    await go_on(rig, newcomer)
    assert await rig.status(bad) is Status.SUCCESS


async def test_executions_that_cannot_be_settled_do_not_hide_others(
    rig: Rig, spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foliot.engine.coordinator.settler.BATCH", 1)
    await deploy(rig, "etl")
    *bad, sound = [await rig.enqueue("etl") for _ in range(4)]
    await rig.claim()
    await rig.work()
    spoil(f"UPDATE trees SET held = '5' WHERE run_id <> '{sound}'")

    await go_on(rig)

    assert await rig.status(sound) is Status.SUCCESS
    assert {await rig.status(run_id) for run_id in bad} == {Status.RUNNING}


@pytest.mark.parametrize(
    "damage",
    [
        "tree_bodies SET body = CAST('{oops' AS BLOB)",
        """tree_bodies SET body = CAST('{"params": {}, "jobs": 5}' AS BLOB)""",
        "tree_bodies SET body = x'ff'",
        "trees SET held = '{oops'",
        "trees SET progress = CAST(x'ff' AS TEXT)",
        "steps SET blockers = '{oops'",
        "workflows SET spec = '{oops'",
    ],
)
async def test_an_execution_that_cannot_be_settled_can_be_cancelled(
    rig: Rig, storage: Storage, spoil: Spoil, damage: str
) -> None:
    await deploy(rig, "etl")
    bad = await rig.enqueue("etl")
    rig.stage.answer = None
    await rig.claim()
    await rig.claim()
    spoil(f"UPDATE {damage}")
    newcomer = Rig(storage, rig.clock)  # one that has not read it before

    await storage.orders.cancel([bad])
    await newcomer.coordinator.settler.round()
    assert await rig.status(bad) is Status.CANCELLING
    await rig.claim()
    await rig.save()
    await newcomer.coordinator.settler.round()

    assert await rig.status(bad) is Status.CANCELLED
    assert len(rig.stage.cancelled) == 1
    assert [step.state.result for step in await storage.trees.steps(bad)] == ["failure", "skipped"]


async def test_an_execution_that_cannot_be_settled_ends_at_its_deadline(rig: Rig, spoil: Spoil) -> None:
    await deploy(rig, "etl", options=Options(timeout=MINUTE))
    bad = await rig.enqueue("etl")
    await rig.claim()
    await rig.work()
    spoil("UPDATE trees SET held = '5'")

    await go_on(rig)
    assert await rig.status(bad) is Status.RUNNING
    rig.clock.advance(MINUTE)
    await go_on(rig)

    assert await rig.status(bad) is Status.TIMEOUT


async def test_an_unexpected_error_does_not_end_an_execution(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def out_of_memory(*_: object) -> None:
        raise MemoryError

    await deploy(rig, "etl", options=Options(timeout=MINUTE))
    run_id = await rig.enqueue("etl")
    await rig.claim()
    await rig.work()
    rig.clock.advance(MINUTE)

    with monkeypatch.context() as trouble:
        trouble.setattr(WorkflowKind, "decide", out_of_memory)
        await go_on(rig)
    assert await rig.status(run_id) is Status.RUNNING
    assert logged(caplog, "tree_settle_failed") == 1
    await go_on(rig)

    assert await rig.status(run_id) is Status.TIMEOUT


@pytest.mark.parametrize(("column", "document"), [("payload", "{oops"), ("overrides", '{"start": 5}')])
async def test_an_execution_with_unreadable_start_values_fails(
    rig: Rig, spoil: Spoil, column: str, document: str
) -> None:
    await deploy(rig, "etl")
    bad, sound = await rig.enqueue("etl"), await rig.enqueue("etl")
    spoil(f"UPDATE runs SET {column} = CAST('{document}' AS BLOB) WHERE id = '{bad}'")

    await go_on(rig)
    spoil(f"UPDATE runs SET {column} = NULL WHERE id = '{bad}'")  # or it could not be looked at

    assert (await trouble(rig, bad))[:2] == (Status.FAILED, Reason.LAUNCH_FAILED)
    assert await rig.status(sound) is Status.SUCCESS


@pytest.mark.parametrize("table", ["workflows", "jobs"])
async def test_an_unreadable_workflow_fails_only_its_own_executions(rig: Rig, spoil: Spoil, table: str) -> None:
    await deploy(rig, "bad", "sound")
    bad, sound = await rig.enqueue("bad"), await rig.enqueue("sound")
    spoil(f"UPDATE {table} SET spec = '{{oops' WHERE id = 'bad'")

    await go_on(rig)

    kind = {"workflows": "version 1 of workflow 'bad'", "jobs": "job 'bad'"}[table]
    assert await trouble(rig, bad) == (Status.FAILED, Reason.LAUNCH_FAILED, f"the row of {kind} cannot be read")
    assert await rig.status(sound) is Status.SUCCESS


@pytest.mark.parametrize(
    ("step", "damage", "row"),
    [
        (Step(name="only", job=REPORT), "tree_bodies SET body = x'ff'", "execution '{}'"),
        (
            Step(name="only", definition=JobSpec(kind="stage")),
            "workflows SET spec = '5'",
            "version 1 of workflow 'etl'",
        ),
    ],
)
async def test_a_step_with_an_unreadable_definition_fails_with_a_message(
    rig: Rig, another: Another, spoil: Spoil, step: Step, damage: str, row: str
) -> None:
    await rig.job(REPORT)
    await rig.storage.definitions.deploy(Deployment({"etl": WorkflowSpec(steps=(step,))}))
    bad = await rig.enqueue("etl")
    await rig.open_trees()
    other = await rig.enqueue()
    spoil(f"UPDATE {damage}")
    newcomer = Rig(await another(), rig.clock)  # one that has not read it before

    await newcomer.work()

    [child] = await rig.runs(lambda run: run.parent_id == bad)
    named = f"the row of {row.format(bad)} cannot be read"
    assert await trouble(rig, child.id) == (Status.FAILED, Reason.LAUNCH_FAILED, named)
    assert await rig.status(other) is Status.SUCCESS


async def test_an_unreadable_gate_fails_its_run_and_the_others_are_evaluated(rig: Rig, spoil: Spoil) -> None:
    gated = JobSpec(kind="stage", gate=Gate(depends_on=(REPORT,)))
    await rig.storage.definitions.put_jobs([(JobId("bad"), gated), (JobId("sound"), gated)])
    bad, sound = await rig.enqueue("bad", is_gated=True), await rig.enqueue("sound", is_gated=True)
    spoil("UPDATE jobs SET spec = '{oops' WHERE id = 'bad'")

    await rig.timekeeping.gates.round()

    assert await trouble(rig, bad) == (Status.FAILED, Reason.LAUNCH_FAILED, "the row of job 'bad' cannot be read")
    assert await rig.status(sound) is Status.SKIPPED


async def test_an_unreadable_gate_decision_is_ignored(rig: Rig, spoil: Spoil) -> None:
    gate = Gate(depends_on=(REPORT,), window_kind=WindowKind.LAST_SUCCESS)
    await rig.storage.definitions.watch_jobs({REPORT: DAY, JobId("bad"): DAY})
    await rig.storage.definitions.put_jobs([(JobId("bad"), JobSpec(kind="stage", gate=gate))])
    for job in (REPORT, "bad", REPORT):
        first = await rig.enqueue(job, is_gated=job == "bad")
        await rig.timekeeping.gates.round()
        await rig.work_off(2)
        rig.clock.advance(SECOND)
        assert await rig.status(first) is Status.SUCCESS
    spoil("UPDATE decisions SET body = CAST('{oops' AS BLOB)")

    again = await rig.enqueue("bad", is_gated=True)
    await rig.timekeeping.gates.round()
    await rig.work_off(2)

    assert await rig.status(again) is Status.SUCCESS
