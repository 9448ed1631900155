"""Foliot as a library: public names only, on every storage and queue."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot, Workflow
from foliot.adapters.queue.memory import MemoryQueue
from foliot.adapters.queue.storage import StorageQueue
from foliot.config import ServerSettings
from foliot.domain.instant import Millis
from foliot.domain.run.logs import LogEnd, LogState
from foliot.domain.schedule.schedule import ScheduleType
from foliot.domain.schedule.tick_run import LAUNCH_JOB, make_run
from foliot.engine.node import Node
from foliot.engine.settings import Parts, Role, Settings
from foliot.errors import FoliotError, InvalidInput, InvalidJob, InvalidRun, NotFound, OwnedElsewhere
from foliot.ports.queue import Queue
from foliot.ports.topic import Topic
from foliot.testing.inline import InlineEngine
from foliot.wiring.processes import TREES
from foliot.wiring.runners import RunnerPolicy, build_runners
from tests.interfaces.serving import SETTINGS, ended, running, served, started

IMPATIENT = Settings(label="test", drain=Millis(1))
"""For a server that stops without waiting for running work."""


@pytest.fixture
def app(tmp_path: Path) -> Foliot:
    return Foliot(f"sqlite:///{tmp_path}/foliot.db")


@asynccontextmanager
async def serving(app: Foliot, queue: str = "storage", settings: Settings = SETTINGS) -> AsyncIterator[None]:
    async with app:
        services = await app.open()
        chosen: Queue = StorageQueue(services.storage) if queue == "storage" else MemoryQueue()
        parts = Parts(
            storage=services.storage,
            queue=chosen,
            tree_queue=StorageQueue(services.storage, Topic.TREES),
            trees=TREES,
            clock=services.clock,
            ids=services.ids,
            runners=build_runners(app.functions, app.launcher, 8),
            make_run=make_run,
        )
        async with running(Node(parts, settings)):
            yield


@pytest.mark.proves("R1-53")
@pytest.mark.parametrize("queue", ["storage", "memory"])
async def test_the_same_application_runs_on_every_storage_and_queue(url: str, queue: str) -> None:
    app = Foliot(url)

    @app.job(retries=1, retry_delay=0.05)
    async def flaky(fails: bool = False) -> str:
        if fails:
            raise ConnectionError("no answer")
        return "done"

    app.schedule("each-second", flaky, cron="* * * * * *")

    async with serving(app, queue):
        good = await ended(app, await app.enqueue(flaky))
        bad = await ended(app, await app.enqueue(flaky, {"fails": True}))
        while not (ticks := await app.schedules.ticks("each-second")):
            await asyncio.sleep(0.01)

    assert (good.status, good.output_payload) == ("success", "done")
    assert (bad.status, bad.attempt) == ("failed", 2)
    assert ticks[0].outcome == "ran"


@pytest.mark.proves("R1-42", "R1-59")
async def test_a_run_can_be_read_and_controlled_by_its_id(app: Foliot) -> None:
    app.shell("greet", "echo hello; exit 3")

    async with serving(app):
        run_id = await app.enqueue("greet")
        run = await ended(app, run_id)

        assert (run.id, run.status, run.exit_code) == (run_id, "failed", 3)
        assert [attempt.run_id for attempt in await app.runs.attempts(run_id)] == [run_id]
        assert [piece.data for piece in await app.runs.logs(run_id) if piece.stream == "stdout"] == [b"hello\n"]
        assert [item async for item in app.runs.follow(run_id)][-1] == LogEnd(LogState.COMPLETE)
        assert await app.runs.output(run_id) == b"hello\n"
        assert await app.runs.cancel(run_id) == "terminal"
        again = await ended(app, await app.runs.retry(run_id))
        marked = await app.runs.get((await app.runs.mark(run_id)).run_id)

    assert (again.trigger, again.status) == (f"retry:{run_id}", "failed")
    assert (marked.trigger, marked.status, marked.reason) == (f"mark:{run_id}", "success", "marked")


async def test_a_running_run_cannot_be_retried_or_marked(app: Foliot) -> None:
    app.shell("long", "sleep 600")

    async with serving(app):
        run_id = await app.enqueue("long")
        while (await app.runs.get(run_id)).status != "running":
            await asyncio.sleep(0.01)
        for ask in (app.runs.retry, app.runs.mark):
            with pytest.raises(InvalidRun, match="foliot cancel"):
                await ask(run_id)
        await app.runs.cancel(run_id)
        await ended(app, run_id)


async def test_following_a_log_continues_after_a_server_restart(app: Foliot, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    app.shell("patient", f"test -e {gate}; shut=$?; echo begin; test $shut = 0 || sleep 600; echo end")
    seen: list[bytes] = []

    async def follow(run_id: str) -> LogEnd:
        reader = Foliot(f"sqlite:///{tmp_path}/foliot.db")
        async with reader:
            async for item in reader.runs.follow(run_id):
                if isinstance(item, LogEnd):
                    return item
                seen.extend([item.data] if item.stream == "stdout" else [])
        raise AssertionError("no end")

    async with app:
        run_id = await app.enqueue("patient")
        following = asyncio.create_task(follow(run_id))
        async with started(app, IMPATIENT):
            while not seen and not following.done():
                await asyncio.sleep(0.01)
            gate.touch()
        async with started(app, IMPATIENT):
            end = await following

    assert b"".join(seen) == b"begin\nbegin\nend\n"
    assert end == LogEnd(LogState.COMPLETE)


@pytest.mark.proves("R1-57")
async def test_jobs_schedules_and_runs_are_separate_objects(app: Foliot) -> None:
    app.shell("job", "true")

    async with app:
        for name in ("morning", "evening"):
            await app.schedules.upsert(name, job_id="job", cron="@daily")
        run_id = await app.enqueue("job")
        await app.schedules.delete("morning")

        [job] = [job for job in await app.jobs.page() if job.id == "job"]
        assert job.latest_run is not None
        assert job.latest_run.id == run_id
        assert (await app.schedules.get("evening")).job_id == "job"
        with pytest.raises(NotFound):
            await app.schedules.get("morning")


@pytest.mark.proves("R1-56")
async def test_an_application_without_settings_uses_a_sqlite_file_in_its_own_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = Foliot()

    @app.job
    async def answer() -> int:
        return 42

    async with served(app):
        run = await ended(app, await app.enqueue(answer))

    assert run.output_payload == 42
    assert (tmp_path / "foliot.db").exists()


@pytest.mark.proves("R1-58")
async def test_the_library_opens_no_port(app: Foliot) -> None:
    app.shell("job", "true")
    before = listening_sockets()

    async with serving(app):
        run = await ended(app, await app.enqueue("job"))
        during = listening_sockets()

    assert run.status == "success"
    assert during == before


@pytest.mark.proves("R4-06")
async def test_a_scheduler_without_worker_executes_nothing(app: Foliot) -> None:
    app.shell("job", "true")
    app.schedule("each-second", "job", cron="* * * * * *", overlap="allow")
    only_scheduling = Settings(label="test", roles=[Role.SCHEDULER])

    async with serving(app, settings=only_scheduling):
        while len(await app.schedules.ticks("each-second")) < 2:
            await asyncio.sleep(0.01)
        runs = await app.runs.page(job="job")

    assert {(run.status, run.attempt) for run in runs} == {("queued", 0)}


@pytest.mark.proves("R4-07")
async def test_schedules_fire_by_time_only(app: Foliot) -> None:
    app.shell("job", "true")

    async with InlineEngine(app) as engine:
        await app.schedules.upsert("by-hand", job_id="job", manual=True)
        await engine.advance(timedelta(days=400))
        ticks, runs = await app.schedules.ticks("by-hand"), await app.runs.page()

    assert set(ScheduleType) == {"once", "interval", "cron", "manual", "reboot"}
    assert (ticks, runs) == ([], [])


async def test_definitions_of_the_code_cannot_be_changed_through_the_services(app: Foliot) -> None:
    app.shell("job", "true")
    app.schedule("daily", "job", cron="@daily")

    async with app:
        with pytest.raises(OwnedElsewhere, match="in the application's code"):
            await app.schedules.delete("daily")
        with pytest.raises(OwnedElsewhere):
            await app.schedules.upsert("daily", job_id="job", cron="@hourly")
        with pytest.raises(OwnedElsewhere):
            await app.jobs.delete("job")
        assert await app.jobs.pause("job") == ["daily"]
        assert (await app.schedules.get("daily")).paused


def listening_sockets() -> set[str]:
    """Return the listening TCP sockets of this process."""
    mine = {link(fd) for fd in Path("/proc/self/fd").iterdir()}
    rows = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/self/net/{name}").read_text().splitlines()
    ]
    return {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"} & mine


def link(fd: Path) -> str:
    try:
        return str(fd.readlink())
    except OSError:
        return ""  # closed in the meantime


@pytest.mark.proves("R0-22")
async def test_a_job_of_any_kind_can_have_a_gate() -> None:
    app = Foliot()

    @app.job
    def export() -> None: ...

    app.shell("mail", "true", depends_on=[export, "audit"], on_missing="fail")
    app.shell("audit", "true", depends_on=export)

    async with InlineEngine(app) as engine:
        runs = []
        for name in ("mail", "audit", "export", "audit", "mail"):
            runs.append(await app.enqueue(name))
            await engine.run_until_idle()
            await engine.advance(timedelta(seconds=1))
        ends = [await app.runs.get(run_id) for run_id in runs]

    assert [run.status for run in ends] == ["failed", "skipped", "success", "success", "success"]
    assert [run.reason for run in ends[:2]] == ["dep_missing", "dep_missing"]


async def test_a_python_step_can_have_a_gate() -> None:
    app = Foliot()
    app.shell("export", "true")
    etl = Workflow("etl")
    etl.step("load", shell="true", depends_on="export")
    etl.step("cleanup", shell="true").final()
    app.workflow(etl)

    async with InlineEngine(app) as engine:
        execution = await app.workflows.start("etl")
        await engine.run_until_idle()
        status = await app.workflows.status(execution)

    assert status is not None
    assert [(step.name, step.result) for step in status.steps] == [("load", "skipped"), ("cleanup", "success")]


async def test_a_workflow_can_be_built_with_chained_calls() -> None:
    app = Foliot()
    etl = Workflow("etl").step("extract", shell="true").step("load", shell="true").after("extract", "success")
    app.workflow(etl.step("cleanup", shell="true").final())

    async with InlineEngine(app) as engine:
        execution = await app.workflows.start(etl)
        await engine.join()
        status = await app.workflows.status(execution)

    assert status is not None
    assert [(step.name, step.result) for step in status.steps] == [
        ("extract", "success"),
        ("load", "success"),
        ("cleanup", "success"),
    ]


@pytest.mark.parametrize("wrong", ["etl", None, {"id": "etl"}])
def test_declaring_an_object_that_is_not_a_workflow_is_refused(wrong: Any) -> None:
    with pytest.raises(FoliotError, match=f"a workflow is made with Workflow, not {type(wrong).__name__}"):
        Foliot().workflow(wrong)


async def test_the_outbound_policy_of_a_node_applies_to_its_runs(app: Foliot) -> None:
    app.shell("job", "true", user="root")
    reach = RunnerPolicy(sandbox_policy=ServerSettings(allow_users=()).sandbox_policy)

    async with app, running(await app.node(SETTINGS, reach)):
        run = await ended(app, await app.enqueue("job"))

    assert "may not run as user 'root'" in (run.error_message or "")


async def test_an_invalid_workflow_is_refused_and_nothing_is_stored(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/foliot.db"
    app = Foliot(url)
    app.shell("mail", "true")
    app.workflow(Workflow("etl").step("load", job="stranger"))

    with pytest.raises(FoliotError, match="stranger"):
        await app.open()

    async with Foliot(url) as other:
        assert [job.id for job in await other.jobs.page()] == [LAUNCH_JOB]


@pytest.mark.parametrize(
    ("wrong", "message"), [("stranger", "job 'stranger' does not exist"), ("mail", '"mail" cannot depend on itself')]
)
async def test_a_gate_on_a_missing_job_or_on_itself_is_refused_and_nothing_is_stored(
    tmp_path: Path, wrong: str, message: str
) -> None:
    url = f"sqlite:///{tmp_path}/foliot.db"
    app = Foliot(url)
    app.shell("mail", "true", depends_on=[wrong])

    with pytest.raises(FoliotError, match=message):
        await app.open()

    async with Foliot(url) as other:
        assert [job.id for job in await other.jobs.page()] == [LAUNCH_JOB]


@pytest.mark.proves("R1-03")
async def test_a_run_can_be_followed_by_its_id_from_another_application(url: str) -> None:
    """Another application without definitions knows only the id."""
    app = Foliot(url)
    app.shell("job", "echo working; exit $((FOLIOT_ATTEMPT == 1))", retries=1, retry_delay=0, output="text")

    async with serving(app), Foliot(url) as stranger:
        run_id = await app.enqueue("job", {"day": 1})
        ended = await stranger.runs.wait(run_id, 60)
        attempts = await stranger.runs.attempts(run_id)
        printed = [item.data async for item in stranger.runs.follow(run_id) if not isinstance(item, LogEnd)]
        output = await stranger.runs.output(run_id)

    assert (ended.id, ended.job_id, ended.status, ended.attempt) == (run_id, "job", "success", 2)
    assert (ended.input_payload, ended.output_payload) == ({"day": 1}, "working")
    assert [one.status for one in attempts] == ["failed", "success"]
    assert b"".join(printed).count(b"working\n") == 2
    assert output == b"working\n"


async def test_values_of_the_wrong_type_are_refused_by_every_storage(url: str) -> None:
    wrong: list[Any] = [5, None, [], "a\0b"]
    app = Foliot(url)
    app.shell("greet", "true")

    async with app:
        for value in wrong[:3]:
            with pytest.raises(InvalidInput, match="run_id must be text"):
                await app.runs.cancel(value)
        assert await app.runs.cancel(wrong[3]) == "not_found"
        with pytest.raises(InvalidJob, match="concurrency_key"):
            await app.enqueue("greet", concurrency_key=wrong[3])
