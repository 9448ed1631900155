"""A server that watches its files: the stored definitions stay unchanged until the files are valid."""

import asyncio
import logging
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from foliot.config import Loaded, files, load
from foliot.domain.deploy.deployment import Changes, Declared
from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE, SECOND, Instant, Millis
from foliot.errors import NotFound, StorageUnavailable
from foliot.interfaces.cli.server import reloader, stable_read
from foliot.interfaces.cli.server.reloader import Reloader, may_concern
from foliot.interfaces.cli.server.stable_read import fingerprint, watched_paths
from foliot.service.commands.deploy import Deployer
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from foliot.wiring.services import open_services

NOW = Instant(time.time_ns() // 1_000_000)
KEPT = '[[jobs]]\nid = "kept"\ncommand = "true"\n'
MORE = KEPT.replace("kept", "more")
INCLUDE = 'include = ["jobs.d/*.toml"]\n'
LOOK = Millis(2 * SECOND)


class Site:
    """A running reloader. The watcher reports no changes: files are checked when time passes."""

    def __init__(self, directory: Path, services: Services, clock: VirtualClock, log: pytest.LogCaptureFixture) -> None:
        self.directory = directory
        self.file = directory / "foliot.toml"
        self.services = services
        self.clock = clock
        self._log = log
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self, text: str = KEPT, *, watches: bool = True) -> Reloader:
        """Apply the files, and watch them."""
        if not self.file.exists():
            self.file.write_text(text)
        configuration = load(self.file, {}, NOW).configuration
        assert configuration is not None
        await self.services.deployer.apply(configuration.declared)
        reloader = Reloader(self.file, self.services, configuration, fingerprint(watched_paths(configuration)))
        duties = [reloader.run(), *([reloader.watch()] if watches else [])]
        self._tasks = [asyncio.create_task(duty) for duty in duties]
        return reloader

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        faults = await asyncio.gather(*self._tasks, return_exceptions=True)
        assert [str(fault) for fault in faults] == [""] * len(self._tasks)

    def events(self, *names: str) -> list[dict[str, Any]]:
        return [vars(record) for record in self._log.records if record.getMessage() in names]

    async def saw(self, name: str, count: int = 1) -> dict[str, Any]:
        """Return the event of this name when it has been logged this often."""
        async with asyncio.timeout(30):
            while len(self.events(name)) < count:
                await self.look()
        return self.events(name)[count - 1]

    async def look(self, times: int = 1) -> None:
        """Advance the clock until the files are checked."""
        for _ in range(times):
            self.clock.advance(LOOK)
            for _ in range(20):
                await asyncio.sleep(0.001)

    async def jobs(self) -> set[str]:
        """Return the enabled jobs."""
        found = await self.services.storage.definitions.get_jobs([JobId("kept"), JobId("more")])
        return {name for name, job in found.items() if job.spec.enabled}


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
async def site(
    tmp_path: Path, clock: VirtualClock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Site]:
    async def awatch(*_: object, stop_event: asyncio.Event, **__: object) -> AsyncIterator[set[object]]:
        while not stop_event.is_set():
            await clock.wait(stop_event, LOOK)
            yield set()

    caplog.set_level(logging.DEBUG, "foliot")
    monkeypatch.setattr("watchfiles.awatch", awatch)
    (tmp_path / "conf").mkdir()
    services = await open_services(f"sqlite:///{tmp_path}/foliot.db", clock)
    site = Site(tmp_path / "conf", services, clock, caplog)
    yield site
    await site.end()
    await services.close()


def exchange(file: Path, text: str) -> None:
    """Replace the file, as many editors do."""
    other = file.with_name(f".{file.name}.new")
    other.write_text(text)
    other.replace(file)


def delete(site: Site) -> None:
    site.file.unlink()


def empty(site: Site) -> None:
    site.file.write_text("")


def break_off(site: Site) -> None:
    site.file.write_text(MORE[:-3])


def put_a_directory(site: Site) -> None:
    site.file.unlink()
    site.file.mkdir()


def move_all_away(site: Site) -> None:
    site.directory.rename(site.directory.with_name("away"))


def name_what_is_not_there(site: Site) -> None:
    site.file.write_text(f'include = ["jobs.d/more.toml"]\n{KEPT}')


def include_what_is_wrong(site: Site) -> None:
    (site.directory / "jobs.d").mkdir()
    (site.directory / "jobs.d/more.toml").write_text(MORE[:-3])
    site.file.write_text(INCLUDE + KEPT)


def include_what_cannot_be_listed(site: Site) -> None:
    (site.directory / "jobs.d").symlink_to("jobs.d")
    site.file.write_text(INCLUDE + KEPT)


def write(site: Site) -> None:
    exchange(site.file, KEPT + MORE)


def write_instead_of_the_directory(site: Site) -> None:
    site.file.rmdir()
    write(site)


def bring_all_back(site: Site) -> None:
    site.directory.with_name("away").rename(site.directory)
    write(site)


def write_the_included(site: Site) -> None:
    place = site.directory / "jobs.d"
    if place.is_symlink():
        place.unlink()
    place.mkdir(exist_ok=True)
    (place / "more.toml").write_text(MORE)


@pytest.mark.parametrize(
    ("spoil", "mend"),
    [
        (delete, write),
        (empty, write),
        (break_off, write),
        (put_a_directory, write_instead_of_the_directory),
        (move_all_away, bring_all_back),
        (name_what_is_not_there, write_the_included),
        (include_what_is_wrong, write_the_included),
        (include_what_cannot_be_listed, write_the_included),
    ],
)
async def test_a_file_with_errors_changes_nothing_is_logged_once_and_applied_when_fixed(
    site: Site, spoil: Callable[[Site], None], mend: Callable[[Site], None]
) -> None:
    await site.begin()

    spoil(site)
    refusal = await site.saw("configuration_refused")
    await site.look(times=5)
    assert await site.jobs() == {"kept"}
    assert len(site.events("configuration_refused")) == 1
    assert all(told["hint"] for told in [refusal, *site.events("configuration_problem")])

    mend(site)
    assert (await site.saw("configuration_applied"))["changes"] == "created more"
    assert await site.jobs() == {"kept", "more"}


async def test_files_can_be_watched_only_until_they_are_applied(site: Site) -> None:
    reloader = await site.begin(watches=False)
    watching = asyncio.create_task(reloader.watch_until_applied())

    break_off(site)
    await site.saw("configuration_refused")
    assert not watching.done()

    exchange(site.file, KEPT + MORE)
    await site.saw("configuration_applied")
    await watching
    exchange(site.file, KEPT)
    await site.look(times=5)

    assert await site.jobs() == {"kept", "more"}


async def test_a_file_that_becomes_unreadable_and_readable_again_is_noticed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written during that time. A changed permission changes neither its text nor its modification time."""
    read = files._read_bytes

    def read_as_a_user(path: Path) -> bytes:
        if not path.stat().st_mode & 0o400:
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(files, "_read_bytes", read_as_a_user)
    await site.begin()
    site.file.write_text(KEPT + MORE)
    site.file.chmod(0)
    await site.saw("configuration_refused")
    assert "Give this user the right to read it" in site.events("configuration_problem")[0]["hint"]

    site.file.chmod(0o600)

    assert (await site.saw("configuration_applied"))["changes"] == "created more"


async def test_a_switched_symbolic_link_is_noticed(site: Site) -> None:
    """Switch a link, as container platforms do to replace all files of a mounted directory at once."""
    for version, text in (("..1", KEPT), ("..2", KEPT + MORE)):
        (site.directory / version).mkdir()
        (site.directory / version / "foliot.toml").write_text(text)
    (site.directory / "..data").symlink_to("..1")
    site.file.symlink_to("..data/foliot.toml")
    await site.begin()

    (site.directory / "..data_tmp").symlink_to("..2")
    (site.directory / "..data_tmp").replace(site.directory / "..data")
    shutil.rmtree(site.directory / "..1")

    assert (await site.saw("configuration_applied"))["changes"] == "created more"
    assert site.events("configuration_refused", "configuration_problem") == []


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("jobs.d/*.toml", "jobs.d/a.toml"), ("jobs.d/**/*.toml", "jobs.d/x/y/a.toml"), ("*/jobs.toml", "x/jobs.toml")],
)
async def test_an_included_file_that_appears_and_disappears_with_its_directory_is_noticed(
    site: Site, pattern: str, name: str
) -> None:
    await site.begin(f'include = ["{pattern}"]\n{KEPT}')

    (site.directory / name).parent.mkdir(parents=True)
    (site.directory / name).write_text(MORE)
    assert (await site.saw("configuration_applied"))["changes"] == "created more"

    shutil.rmtree(site.directory / name.partition("/")[0])
    assert (await site.saw("configuration_applied", 2))["changes"] == "removed more"


async def test_temporary_files_of_editors_are_ignored(site: Site) -> None:
    await site.begin()

    (site.directory / ".#foliot.toml").symlink_to("somebody@somewhere")
    (site.directory / "foliot.toml~").write_text("?")
    await site.look(times=5)

    assert site.events("configuration_unchanged", "configuration_applied", "configuration_refused") == []


async def test_a_change_noticed_during_a_read_is_applied_once(site: Site) -> None:
    reloader = await site.begin()

    site.file.write_text(KEPT + MORE)
    reloader.request()
    await site.saw("configuration_applied")
    await site.look(times=5)

    assert site.events("configuration_unchanged") == []


async def test_without_a_working_watcher_that_is_logged_once_and_files_are_polled(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    async def awatch(*_: object, **__: object) -> AsyncIterator[set[object]]:
        tries.append(site.clock.elapsed())
        raise OSError(28, "OS file watch limit reached")
        yield set()

    monkeypatch.setattr("watchfiles.awatch", awatch)
    await site.begin()
    warning = await site.saw("files_not_watched")
    await site.look(times=5)
    assert len(set(tries)) == len(tries)

    site.file.write_text(KEPT + MORE)

    assert (await site.saw("configuration_applied"))["changes"] == "created more"
    assert len(site.events("files_not_watched")) == 1
    assert "OS file watch limit reached" in warning["problem"]
    assert "fs.inotify.max_user_watches" in warning["hint"]


async def test_a_watcher_that_recovers_and_fails_again_is_logged_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_refused = True

    async def awatch(*_: object, **__: object) -> AsyncIterator[set[object]]:
        if is_refused:
            raise OSError(28, "OS file watch limit reached")
        await site.clock.wait(asyncio.Event(), LOOK)
        yield set()

    monkeypatch.setattr("watchfiles.awatch", awatch)
    await site.begin()
    await site.saw("files_not_watched")
    is_refused = False
    await site.look(times=5)
    is_refused = True

    await site.saw("files_not_watched", 2)


async def test_a_new_directory_is_watched_without_a_second_reload(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[int] = []
    wishes: dict[str, object] = {}

    async def awatch(*places: str, stop_event: asyncio.Event, **given: object) -> AsyncIterator[set[object]]:
        watched.append(len(places))
        wishes.update(given)
        while not stop_event.is_set():
            await site.clock.wait(stop_event, LOOK)
            yield set()

    monkeypatch.setattr("watchfiles.awatch", awatch)
    await site.begin(INCLUDE + KEPT)
    await site.look()
    (site.directory / "jobs.d").mkdir()
    (site.directory / "jobs.d/more.toml").write_text(MORE)
    await site.saw("configuration_applied")
    await site.look(times=5)

    assert watched == [1, 2]
    assert wishes["watch_filter"] is may_concern
    # Some file systems report no changes: the files are checked anyway.
    assert (wishes["rust_timeout"], wishes["yield_on_timeout"]) == (LOOK, True)


async def test_files_that_could_not_be_checked_are_checked_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(_places: object) -> None:
        raise OSError(24, "Too many open files")

    await site.begin()
    with monkeypatch.context() as patch:
        patch.setattr(reloader, "fingerprint", none_left)
        await site.saw("files_not_watched")
    site.file.write_text(KEPT + MORE)

    assert (await site.saw("configuration_applied"))["changes"] == "created more"


class Refusing:
    """A deployer whose first calls fail."""

    def __init__(self, services: Services, clock: VirtualClock, error: Exception, times: int) -> None:
        self._apply = services.deployer.apply
        self._clock = clock
        self._error = error
        self._times = times
        self.tries: list[int] = []

    async def __call__(self, declared: Declared) -> Changes:
        self.tries.append(self._clock.elapsed())
        if len(self.tries) <= self._times:
            raise self._error
        return await self._apply(declared)

    @property
    def pauses(self) -> list[int]:
        return [after - before for before, after in zip(self.tries, self.tries[1:], strict=False)]


@pytest.mark.parametrize("error", [StorageUnavailable("it is starting"), RuntimeError("who knows")], ids=repr)
async def test_a_temporary_failure_is_retried_with_growing_pauses(
    site: Site, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    await site.begin()
    refusing = Refusing(site.services, site.clock, error, times=9)
    monkeypatch.setattr(Deployer, "apply", refusing)

    site.file.write_text(KEPT + MORE)

    assert (await site.saw("configuration_applied"))["changes"] == "created more"
    told = [event["again_in_ms"] for event in site.events("configuration_not_applied")]
    assert told == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, *[int(MINUTE)] * 3]
    levels = [event["levelname"] for event in site.events("configuration_not_applied")]
    assert levels == ["ERROR", *["DEBUG"] * 8]  # one line, not one for each retry
    assert all(pause >= said for pause, said in zip(refusing.pauses, told, strict=True))


async def test_a_reload_that_finally_succeeded_is_not_repeated(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await site.begin()
    refusing = Refusing(site.services, site.clock, StorageUnavailable("it is starting"), times=1)
    monkeypatch.setattr(Deployer, "apply", refusing)

    site.file.write_text(KEPT + MORE)
    await site.saw("configuration_applied")
    await site.look(times=60)

    assert len(refusing.tries) == 2


async def test_files_that_cannot_be_checked_are_retried_with_growing_pauses(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(_places: object) -> None:
        raise OSError(24, "Too many open files")

    reloader = await site.begin()
    monkeypatch.setattr(stable_read, "fingerprint", none_left)
    reloader.request()
    await site.saw("configuration_not_applied", 3)

    told = [event["again_in_ms"] for event in site.events("configuration_not_applied")]
    assert told == [1_000, 2_000, 4_000]


async def test_files_that_kept_changing_are_read_again_later(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await site.begin()
    texts = iter([f"{KEPT}# {'x' * number}\n" for number in range(3)] + [KEPT + MORE])

    def read_while_it_is_written(path: Path) -> Loaded:
        loaded = load(path, {}, NOW)
        if text := next(texts, None):
            path.write_text(text)
        return loaded

    monkeypatch.setattr(stable_read, "read_config", read_while_it_is_written)
    monkeypatch.setattr(stable_read, "_TRIES", 2)
    site.file.write_text(KEPT[:-3])

    assert (await site.saw("configuration_applied"))["changes"] == "created more"
    assert "keep changing" in site.events("configuration_not_applied")[0]["problem"]


async def test_warnings_are_not_logged_again_on_each_retry(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await site.begin()
    refusing = Refusing(site.services, site.clock, StorageUnavailable("it is starting"), times=3)
    monkeypatch.setattr(Deployer, "apply", refusing)

    site.file.write_text(INCLUDE + KEPT + MORE)
    await site.saw("configuration_applied")

    assert len(site.events("configuration_problem")) == 1


async def test_a_configuration_refused_by_the_storage_is_not_retried(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await site.begin()
    refusing = Refusing(site.services, site.clock, NotFound("job", "nobody"), times=9)
    monkeypatch.setattr(Deployer, "apply", refusing)

    site.file.write_text(KEPT + MORE)
    said = await site.saw("configuration_not_applied")
    await site.look(times=60)

    assert len(refusing.tries) == 1
    assert "again_in_ms" not in said


async def test_a_new_request_logs_the_problems_again(site: Site) -> None:
    reloader = await site.begin()
    site.file.write_text(KEPT[:-3])
    await site.saw("configuration_refused")

    reloader.request()
    await site.saw("configuration_refused", 2)

    assert len(site.events("configuration_problem")) == 2


async def test_a_file_with_errors_is_not_retried(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await site.begin()
    reads: list[Path] = []

    def read(path: Path) -> bytes:
        reads.append(path)
        return b"[[jobs]]"

    monkeypatch.setattr(files, "_read_bytes", read)

    os.utime(site.file)
    await site.saw("configuration_refused")
    before = len(reads)
    await site.look(times=60)

    assert len(reads) == before
