"""Calling commands in this process, and a database with something in it."""

import asyncio
import json
import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from foliot import Foliot, Workflow
from foliot.domain.access.principal import DEVELOPMENT
from foliot.domain.gate.spec import Action, Gate
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.engine.settings import Role, Settings
from foliot.interfaces.cli import main
from foliot.interfaces.cli.login import login_actor
from tests.adapters.storage.postgres.fresh import fresh_database
from tests.interfaces.both_ways import LOCAL, NEED_DATABASE, SERVER, database_of, served_api
from tests.interfaces.serving import ended, outcome, served, started


class Called(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Call = Callable[..., Called]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary current directory, in UTC, without environment variables of Foliot."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    for name in ("FOLIOT_STORAGE", "FOLIOT_CONFIG", "FOLIOT_URL", "FOLIOT_TOKEN", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture(autouse=True)
def quiet_log() -> Iterator[None]:
    """What a command sets up for its own log ends with the test."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    is_wanted = getattr(metafunc.module, "BOTH_WAYS", False) and not metafunc.definition.get_closest_marker("local")
    if is_wanted and "call" in metafunc.fixturenames:
        metafunc.parametrize("way", [LOCAL, SERVER], indirect=True)


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """Whether commands work on the database of the current directory, or against a server on it."""
    return str(getattr(request, "param", LOCAL))


@pytest.fixture
def actor(way: str) -> str:
    """Who makes the changes of commands."""
    return str(login_actor() if way == LOCAL else DEVELOPMENT.actor)


@pytest.fixture
def trigger(way: str) -> str:
    """What creates the runs of commands."""
    return "cli" if way == LOCAL else "api"


@pytest.fixture
def call(
    capfd: pytest.CaptureFixture[str], elsewhere: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Call]:
    """A call of the command line: exit code and output."""
    with ExitStack() as stack:

        @cache
        def address() -> str:
            # With the first call: fixtures and tests make the database before.
            return stack.enter_context(served_api(database_of(elsewhere)))

        def run(*arguments: str) -> Called:
            with monkeypatch.context() as patched:
                if way == SERVER and arguments[0] not in NEED_DATABASE:
                    patched.setenv("FOLIOT_URL", address())
                with pytest.raises(SystemExit) as ended:
                    main(list(arguments))
            out, err = capfd.readouterr()
            return Called(int(ended.value.code or 0), out, err)

        yield run


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/foliot.db"
        return
    with fresh_database() as (server, name):
        yield server.dsn(name)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a database in which a few jobs have run; nothing runs there any more."""
    directory = tmp_path_factory.mktemp("filled")
    asyncio.run(fill(f"sqlite:///{directory}/foliot.db"))
    return directory


@pytest.fixture
def shop(filled: Path, elsewhere: Path) -> Path:
    """The filled database as foliot.db in the current directory.

    Runs, oldest first: report succeeded, broken failed on its second try, report waits, report was cancelled.
    """
    copy_files(filled, elsewhere)
    return elsewhere


async def fill(url: str) -> None:
    app = Foliot(url)
    app.shell("report", "echo one; echo two; echo oops >&2", env={"TOKEN": "hush"}, description="Für die Woche")
    app.shell("broken", "echo try; exit 3", retries=1, retry_delay=0)
    app.schedule("report-weekly", "report", cron="0 9 * * MON", timezone="Europe/Berlin")
    app.schedule("report-often", "report", every=3600)
    async with app:
        async with started(app):
            for job in ("report", "broken"):
                await ended(app, await app.enqueue(job, {"week": 7}))
        await app.enqueue("report")
        await app.runs.cancel(await app.enqueue("report"))


@pytest.fixture(scope="session")
def flowing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a database in which workflows and gates have run; nothing runs there any more."""
    directory = tmp_path_factory.mktemp("flowing")
    asyncio.run(flow(f"sqlite:///{directory}/foliot.db"))
    return directory


@pytest.fixture
def plant(flowing: Path, elsewhere: Path) -> Path:
    """That database as foliot.db in the current directory.

    Executions: of etl one in which extract failed, alarm ran and load was skipped; of release one that waits
    for an answer; of later one that has not begun. Runs of digest, a gate over good and bad: one skipped.
    """
    copy_files(flowing, elsewhere)
    return elsewhere


def copy_files(source: Path, target: Path) -> None:
    for file in source.iterdir():
        if file.is_file():
            shutil.copy(file, target)


async def flow(url: str) -> None:
    app = Foliot(url)
    etl = Workflow("etl", params={"day": "today", "n": 1}, description="Every night")
    etl.step("extract", shell="exit 3")
    etl.step("load", shell="true").after("extract")
    etl.step("report", shell="true").after("load")
    etl.step("alarm", shell="true").after("extract", "failure", exit_code=3)
    etl.step("never", shell="true").after("extract", "failure", contains='a "b" <c>')
    etl.step("cleanup", shell="true").final()
    release = Workflow("release")
    release.step("ask", approve=True)
    release.step("ship", shell="true").after("ask")
    later = Workflow("later")
    later.step("only", shell="true")
    for workflow in (etl, release, later):
        app.workflow(workflow)
    app.schedule("nightly", "etl", cron="0 2 * * *")
    app.shell("good", "true")
    app.shell("bad", "exit 1")
    async with app:
        gate = Gate(depends_on=(JobId("good"), JobId("bad"), JobId("later")), on_dep_fail=Action.SKIP)
        digest = JobSpec(kind="workflow", inner_kind="shell", spec={"command": "true"}, gate=gate, source="app")
        await (await app.open()).jobs.put({JobId("digest"): digest})
        async with started(app):
            for job in ("good", "bad", "digest", "etl"):
                await outcome(app, job)
            waiting = await app.workflows.start("release")
            while not await app.runs.page(job="release.ask"):
                await asyncio.sleep(0.01)
            assert (await app.runs.get(waiting)).status == "running"
        await app.workflows.start("later")


@pytest.fixture
def worker(shop: Path) -> Iterator[None]:
    """A worker on the database of the shop, in another thread."""
    with working(shop):
        yield


@pytest.fixture
def operator(plant: Path) -> Iterator[None]:
    """The same for the plant."""
    with working(plant):
        yield


@contextmanager
def working(directory: Path) -> Iterator[None]:
    ready, stop = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(work(f"sqlite:///{directory}/foliot.db", ready, stop)))
    thread.start()
    assert ready.wait(60)
    yield
    stop.set()
    thread.join()


async def work(url: str, ready: threading.Event, stop: threading.Event) -> None:
    try:
        async with served(Foliot(url), Settings(label="test", roles=[Role.COORDINATOR, Role.WORKER])):
            ready.set()
            await asyncio.to_thread(stop.wait)
    finally:
        ready.set()  # even if it failed to start: the thread raises the reason
