"""Gates from beginning to end, on a virtual clock."""

import asyncio
from datetime import timedelta

import pytest
from msgspec import structs

from foliot import Foliot
from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.run import Status
from foliot.engine.node import Node
from foliot.engine.settings import Role, Settings
from foliot.errors import InvalidJob, NotFound
from foliot.testing.inline import InlineEngine
from tests.engine.diary import Diary
from tests.engine.ease import ease
from tests.engine.rig import Rig
from tests.engine.town import DIGEST, A, Town


@pytest.mark.proves("R0-05", "R0-18", "R0-19", "R0-22", "R0-24")
async def test_the_digest_runs_only_after_all_have_succeeded(town: Town, engine: InlineEngine) -> None:
    await town.gate()
    await town.run(engine, "a")
    town.failing = {"b"}
    await town.run(engine, "b")

    declined = await town.run(engine, "digest")
    assert (declined.status, declined.reason) == ("skipped", "dep_failed")
    assert "b (failed)" in (declined.error_message or "")
    assert declined.started_at is None

    town.failing = set()
    await town.run(engine, "b")
    passed = await town.run(engine, "digest")
    assert passed.status == "success"
    assert town.ran == ["a", "b", "b", "digest"]


@pytest.mark.proves("R0-10", "R0-15")
@pytest.mark.parametrize(("action", "status"), [("skip", "skipped"), ("fail", "failed"), ("run", "success")])
async def test_a_missing_dependency_is_handled_by_the_option_of_the_gate(
    town: Town, engine: InlineEngine, action: str, status: str
) -> None:
    await town.gate(on_missing=Action(action))

    run = await town.run(engine, "digest")

    assert run.status == status
    assert town.ran == (["digest"] if action == "run" else [])


@pytest.mark.proves("R0-51")
async def test_a_repeated_run_is_gated_again(town: Town, engine: InlineEngine) -> None:
    await town.gate()
    declined = await town.run(engine, "digest")

    for expected in ("skipped", "success"):
        again = await town.app.runs.retry(declined.id)
        await engine.run_until_idle()
        assert (await town.app.runs.get(again)).status == expected
        await town.run(engine, "a")
        await town.run(engine, "b")

    assert town.ran == ["a", "b", "digest", "a", "b"]


@pytest.mark.proves("R0-14")
async def test_the_gate_window_ends_at_the_planned_time(town: Town, engine: InlineEngine) -> None:
    await town.gate(window=HOUR)
    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(minutes=59, seconds=59))
    assert (await town.run(engine, "digest")).status == "success"

    await engine.advance(timedelta(seconds=2))

    assert (await town.run(engine, "digest")).reason == "dep_missing"


@pytest.mark.proves("D10", "R0-14")
@pytest.mark.parametrize(("wait", "status"), [(0, Status.SKIPPED), (MINUTE, Status.QUEUED)])
async def test_a_dependency_that_ends_late_counts_only_if_the_gate_waits(rig: Rig, wait: int, status: Status) -> None:
    """The gate is evaluated late, after the dependency has succeeded."""
    await rig.job(A)
    gate = Gate(depends_on=(A,), window=DAY, wait=Millis(wait))
    await rig.storage.definitions.put_jobs([(DIGEST, JobSpec(kind="stage", gate=gate))])
    await rig.storage.definitions.watch_jobs({A: DAY})
    run_id = await rig.enqueue(DIGEST, is_gated=True)
    rig.clock.advance(SECOND)
    await rig.enqueue(A)
    await rig.work()
    rig.clock.advance(SECOND)

    await rig.timekeeping.gates.round()

    assert await rig.status(run_id) is status


async def test_a_gate_waits_for_an_expected_dependency(town: Town, engine: InlineEngine) -> None:
    await town.gate(wait=10 * MINUTE)
    await town.run(engine, "a")
    later = await town.app.enqueue("b", delay=300)
    run_id = await town.app.enqueue("digest")
    await engine.run_until_idle()
    assert (await town.app.runs.get(later)).status == "scheduled"

    # A run that is not due is not expected, so the gate has declined.
    assert (await town.app.runs.get(run_id)).reason == "dep_missing"


async def test_a_last_success_window_needs_a_new_run_of_each_dependency(town: Town, engine: InlineEngine) -> None:
    await town.gate(window=DAY, window_kind=WindowKind.LAST_SUCCESS)
    await town.run(engine, "a")
    await town.run(engine, "b")
    assert (await town.run(engine, "digest")).status == "success"
    await engine.advance(timedelta(seconds=1))

    assert (await town.run(engine, "digest")).reason == "dep_missing"

    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(seconds=1))
    assert (await town.run(engine, "digest")).status == "success"


async def test_a_dependency_that_ends_during_the_gated_run_counts_for_the_next() -> None:
    app, diary = Foliot(), Diary()
    app.job(id="a")(diary.step("a"))
    app.job(id="digest", depends_on=["a"], window_kind="since_last_success")(diary.step("digest"))
    second = timedelta(seconds=1)
    async with InlineEngine(app) as engine:
        await app.enqueue("a")
        await engine.advance(second)
        diary.hold("digest")
        runs = [await app.enqueue("digest")]
        await engine.advance(second)
        await app.enqueue("a")
        await engine.advance(second)
        diary.let_go("digest")
        for _ in range(2):
            await engine.advance(second)
            runs.append(await app.enqueue("digest"))
        await engine.run_until_idle()

        found = [await app.runs.get(run_id) for run_id in runs]
    assert [(run.status, run.reason) for run in found] == [
        ("success", None),
        ("success", None),
        ("skipped", "dep_missing"),
    ]


async def test_a_dependency_that_a_gate_waited_for_does_not_count_again() -> None:
    app, diary = Foliot(), Diary()
    app.job(id="a")(diary.step("a"))
    app.job(id="digest", depends_on=["a"], window_kind="since_last_success", wait=60)(diary.step("digest"))
    diary.hold("a")
    async with InlineEngine(app) as engine:
        await app.enqueue("a")
        await engine.run_until_idle()
        waited = await app.enqueue("digest")
        await engine.advance(timedelta(seconds=5))
        diary.let_go("a")
        await engine.advance(timedelta(seconds=5))
        again = await app.enqueue("digest")
        await engine.run_until_idle()

        assert (await app.runs.get(waited)).status == "success"
        assert (await app.runs.get(again)).reason == "dep_missing"


@pytest.mark.proves("R0-74")
async def test_a_gate_skips_runs_during_its_cooldown(town: Town, engine: InlineEngine) -> None:
    await town.gate(cooldown=HOUR)
    assert (await town.run(engine, "digest")).reason == "dep_missing"
    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(minutes=1))

    assert (await town.run(engine, "digest")).reason == "cooldown"
    await engine.advance(timedelta(hours=1))
    assert (await town.run(engine, "digest")).status == "success"


@pytest.mark.proves("R0-74")
async def test_a_run_skipped_by_cooldown_does_not_extend_it(town: Town, engine: InlineEngine) -> None:
    await town.gate(cooldown=HOUR)
    assert (await town.run(engine, "digest")).reason == "dep_missing"
    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(minutes=40))
    assert (await town.run(engine, "digest")).reason == "cooldown"

    await engine.advance(timedelta(minutes=21))

    assert (await town.run(engine, "digest")).status == "success"


@pytest.mark.proves("R0-51")
async def test_the_next_tick_is_gated_again_and_the_former_run_stays(town: Town, engine: InlineEngine) -> None:
    await town.gate()
    await town.app.schedules.upsert("daily", job_id="digest", cron="0 6 * * *")
    await engine.advance(timedelta(days=1))
    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(days=1))

    runs = await town.app.runs.page(job="digest")
    assert [run.status for run in runs] == ["success", "skipped"]
    assert [tick.outcome for tick in await town.app.schedules.ticks("daily")] == ["ran", "ran"]


@pytest.mark.proves("R0-13")
async def test_a_gate_on_a_job_that_does_not_exist_is_refused(town: Town, engine: InlineEngine) -> None:
    jobs = (await town.app.open()).jobs
    spec = JobSpec(kind="shell", spec={"command": "true"}, gate=Gate(depends_on=(JobId("aa"),)))

    with pytest.raises(NotFound, match="aa"):
        await jobs.put({JobId("new"): spec})
    with pytest.raises(InvalidJob, match="itself"):
        await jobs.put({JobId("aa"): spec})


@pytest.mark.proves("D11")
async def test_a_job_used_by_a_gate_cannot_be_deleted(town: Town, engine: InlineEngine) -> None:
    jobs = (await town.app.open()).jobs
    needed = JobSpec(kind="shell", spec={"command": "true"})
    gated = JobSpec(kind="shell", spec={"command": "true"}, gate=Gate(depends_on=(JobId("needed"),)))
    await jobs.put({JobId("needed"): needed, JobId("gated"): gated})

    with pytest.raises(InvalidJob, match="needed by gated"):
        await jobs.delete("needed")


@pytest.mark.proves("R0-08")
async def test_a_gated_tick_creates_one_run_after_its_dependencies(town: Town, engine: InlineEngine) -> None:
    await town.gate()
    for job, hour in (("a", 5), ("b", 5), ("digest", 6)):
        await town.app.schedules.upsert(f"{job}-daily", job_id=job, cron=f"0 {hour} * * *")

    await engine.advance(timedelta(days=3))

    assert [sorted(town.ran[day : day + 2]) + town.ran[day + 2 : day + 3] for day in (0, 3, 6)] == [
        ["a", "b", "digest"]
    ] * 3
    assert [run.status for run in await town.app.runs.page(job="digest")] == ["success"] * 3
    assert len(await town.app.runs.page()) == 9


COMMANDS = ["echo fine", "echo out; echo err >&2; exit 3", "kill -9 $$", "exec sleep 60", 'printf "%s" "$COLOUR"']
"""`exec`: a shell that is ended with its command sometimes has the time to say so."""


@pytest.mark.proves("R0-17", "R0-19")
@pytest.mark.parametrize("command", COMMANDS)
async def test_the_command_of_a_gate_ends_as_it_would_in_a_plain_job(command: str) -> None:
    """Compares status, reason, exit code, output, attempts and log, also after a timeout."""
    app = Foliot()
    app.shell("dep", "true")
    app.shell("plain", command, retries=1, retry_delay=0, env={"COLOUR": "red"}, output="text", timeout=5)
    async with InlineEngine(app) as engine:
        jobs = (await app.open()).jobs
        plain = (await jobs.record("plain")).spec
        gate = Gate(depends_on=(JobId("dep"),))
        gated = structs.replace(plain, kind="workflow", inner_kind="shell", gate=gate)
        await jobs.put({JobId("gate"): gated})
        ends = []
        for job in ("dep", "plain", "gate"):
            run_id = await app.enqueue(job)
            while not (run := await app.runs.get(run_id)).status.is_terminal:
                # A command that sleeps is not waited for: its timeout passes in virtual time.
                await (engine.advance(timedelta(seconds=6)) if "sleep" in command else engine.join())
                await asyncio.sleep(0.01)
            printed = [(piece.attempt, piece.stream, piece.data) for piece in await app.runs.logs(run_id)]
            ends.append((run.status, run.reason, run.exit_code, run.output_payload, run.attempt, printed))

    assert ends[1] == ends[2]


@pytest.mark.proves("R0-58")
async def test_a_gate_runs_on_a_worker_that_is_not_the_scheduler(rig: Rig) -> None:
    """One process schedules and evaluates gates; another one, with its own queue, executes runs."""
    here = Node(rig.parts, Settings(label="here", roles=[Role.SCHEDULER]))
    there = Node(rig.parts, Settings(label="there", roles=[Role.WORKER], queues=("far",)))
    gate = Gate(depends_on=(A,), on_missing=Action.RUN)
    gated = JobSpec(kind="stage", gate=gate, options=Options(queue="far"))
    await rig.storage.definitions.put_jobs([(DIGEST, gated)])
    for node in (here, there):
        await node.start()
    run_id = await rig.enqueue(DIGEST, is_gated=True)

    for _ in range(5):
        rig.clock.advance(SECOND)
        await ease(60)
    for node in (there, here):
        await node.stop()

    run = await rig.run(run_id)
    assert run.status is Status.SUCCESS
    assert run.queue == "far"
    assert [attempt.run_id for attempt in rig.stage.attempts] == [run_id]
