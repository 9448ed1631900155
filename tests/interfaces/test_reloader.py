"""Reloading while a server runs: which changes are noticed, and which errors are survived."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest
from watchfiles import Change

from foliot.config import Configuration, Loaded, RetentionSettings, ServerSettings, load
from foliot.config.settings import OutboundSettings
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant, Millis
from foliot.errors import FoliotError
from foliot.interfaces.cli.server import stable_read
from foliot.interfaces.cli.server.reloader import Reloader, emptied_since, may_concern
from foliot.interfaces.cli.server.stable_read import Fingerprint, directories, fingerprint, watched_paths
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from foliot.wiring.services import open_services

NOW = Instant(time.time_ns() // 1_000_000)
JOB = '[[jobs]]\nid = "report"\ncommand = "true"\n'
KEPT = JOB.replace("report", "kept")
MORE = JOB.replace("report", "more")


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
async def services(shop: Path, clock: VirtualClock) -> AsyncIterator[Services]:
    opened = await open_services(f"sqlite:///{shop}/foliot.db", clock)
    yield opened
    await opened.close()


class Site:
    """An applied configuration and its reloader."""

    def __init__(self, file: Path, services: Services, clock: VirtualClock) -> None:
        self.file = file
        self._services = services
        self._clock = clock
        self._reloader: Reloader | None = None

    async def begin(self) -> None:
        configuration = read(self.file)
        await self._services.deployer.apply(configuration.declared)
        self._reloader = Reloader(self.file, self._services, configuration, print_of(configuration))

    async def reload(self, during_the_wait: Iterable[str] = ()) -> None:
        """Reload. During each wait for the file to be stable, the next of these texts is written to it."""
        assert self._reloader
        texts, reloading = iter(during_the_wait), asyncio.create_task(self._reloader.reload())
        while not reloading.done():
            if self._clock.waiting:
                if text := next(texts, None):
                    self.file.write_text(text)
                self._clock.advance(1_000)
            await asyncio.sleep(0.001)
        await reloading

    async def jobs(self) -> dict[str, bool]:
        """Return the jobs of this file, and whether they are enabled."""
        found = await self._services.storage.definitions.get_jobs([JobId("kept"), JobId("more")])
        return {name: job.spec.enabled for name, job in found.items()}


@pytest.fixture
async def site(shop: Path, services: Services, clock: VirtualClock, caplog: pytest.LogCaptureFixture) -> Site:
    caplog.set_level(logging.INFO, "foliot")
    site = Site(shop / "foliot.toml", services, clock)
    site.file.write_text(KEPT)
    await site.begin()
    return site


def read(path: Path) -> Configuration:
    configuration = load(path, {}, NOW).configuration
    assert configuration is not None
    return configuration


@pytest.mark.parametrize(
    ("name", "concerns"),
    [("foliot.toml", True), ("jobs.d/x.toml", True), ("..data", True), ("foliot.db-wal", False), ("notes.txt", False)],
)
def test_a_changing_database_beside_the_configuration_is_ignored(name: str, concerns: bool) -> None:
    assert may_concern(Change.modified, f"/etc/foliot/{name}") is concerns


def print_of(configuration: Configuration) -> Fingerprint:
    return fingerprint(watched_paths(configuration))


@pytest.mark.proves("R4-60")
async def test_schedules_created_after_a_reload_have_its_defaults(site: Site, services: Services) -> None:
    site.file.write_text(f'{KEPT}[defaults]\noverlap = "queue"\n')

    await site.reload()
    await services.schedules.upsert("s", job_id="kept", cron="@hourly")

    assert (await services.schedules.get("s")).overlap_policy == "queue"


class TestFingerprint:
    def test_a_fingerprint_of_unchanged_files_is_the_same(self, tmp_path: Path) -> None:
        (tmp_path / "foliot.toml").write_text(JOB)
        configuration = read(tmp_path / "foliot.toml")

        seen = print_of(configuration)
        (tmp_path / "foliot.db").touch()

        assert print_of(configuration) == seen

    @pytest.mark.parametrize(
        ("include", "place", "name"),
        [
            ("jobs.d/**/*.toml", "jobs.d/x/y", "a.toml"),
            ("jobs.d/*.conf", "jobs.d", "a.conf"),
            ("j[o]bs.d/*.toml", "jobs.d", "a.toml"),
        ],
    )
    def test_a_new_file_that_an_include_matches_changes_the_fingerprint(
        self, tmp_path: Path, include: str, place: str, name: str
    ) -> None:
        (directory := tmp_path / place).mkdir(parents=True)
        file = tmp_path / f"foliot{Path(name).suffix}"
        file.write_text(f'include = ["{include}"]\n{JOB}')
        configuration = read(file)
        seen = print_of(configuration)

        (directory / name).write_text(MORE)

        assert print_of(configuration) != seen
        assert f"{directory}/" in directories(seen)

    def test_a_directory_with_glob_characters_in_its_name_is_watched(self, tmp_path: Path) -> None:
        (directory := tmp_path / "a[b]*").mkdir()
        (directory / "foliot.toml").write_text(JOB)

        assert directories(print_of(read(directory / "foliot.toml"))) == {f"{directory}/"}

    def test_an_unreadable_directory_is_not_watched(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "foliot.toml").write_text(JOB)
        configuration = read(tmp_path / "foliot.toml")
        monkeypatch.setattr(os, "access", lambda path, mode: False)

        assert directories(print_of(configuration)) == set()

    @pytest.mark.parametrize("deed", ["write", "touch", "exchange", "remove", "add"])
    def test_every_change_to_the_files_changes_the_fingerprint(self, tmp_path: Path, deed: str) -> None:
        file, other = tmp_path / "foliot.toml", tmp_path / "other.toml"
        file.write_text(JOB)
        configuration = read(file)
        seen = print_of(configuration)

        match deed:
            case "write":
                file.write_text(JOB * 2)
            case "touch":
                os.utime(file, ns=(1, 1))
            case "exchange":
                other.write_text(JOB)
                os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
                other.replace(file)
            case "remove":
                file.unlink()
            case "add":
                other.write_text("")

        assert print_of(configuration) != seen


async def test_a_failed_reload_does_not_end_the_server(
    services: Services, clock: VirtualClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The job belongs to the application of the shop; then the file can be applied."""
    file = tmp_path / "foliot.toml"
    file.write_text(JOB)
    caplog.set_level(logging.INFO, "foliot")
    reloader = Reloader(file, services, Configuration(), frozenset())
    running = asyncio.create_task(reloader.run())

    reloader.request()
    await logged(caplog, clock, "configuration_not_applied")
    file.write_text(JOB.replace("report", "own"))
    reloader.request()
    await logged(caplog, clock, "configuration_applied")
    running.cancel()

    [refusal] = [record for record in caplog.records if record.message == "configuration_not_applied"]
    assert "report" in vars(refusal)["problem"]


async def test_the_log_names_the_first_of_many_changes(
    tmp_path: Path, services: Services, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "foliot.toml"
    file.write_text("".join(JOB.replace("report", f"own-{number:02}") for number in range(30)))
    caplog.set_level(logging.INFO, "foliot")
    running = asyncio.create_task((reloader := Reloader(file, services, Configuration(), frozenset())).run())

    reloader.request()
    await logged(caplog, clock, "configuration_applied")
    running.cancel()

    [record] = [record for record in caplog.records if record.message == "configuration_applied"]
    first, second, *_, last = vars(record)["changes"].replace("; ", ", ").split(", ")
    assert (first, second) == ("created own-00", "own-01")
    assert last == "10 more"


@pytest.mark.parametrize(
    ("changed", "section"),
    [
        (Configuration(server=ServerSettings(slots=7)), "server"),
        (Configuration(storage="sqlite:///other.db"), "storage"),
        (Configuration(retention=RetentionSettings(runs_age=Millis(1))), "retention"),
        (Configuration(outbound=OutboundSettings(block_private=True)), "outbound"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_changed_sections_that_need_a_restart_are_logged(
    services: Services, tmp_path: Path, caplog: pytest.LogCaptureFixture, changed: Configuration, section: str
) -> None:
    Reloader(tmp_path / "foliot.toml", services, Configuration(), frozenset())._replace(changed)

    assert [vars(record)["sections"] for record in caplog.records] == [section]


def test_a_needed_restart_is_logged_until_the_settings_are_those_of_the_start(
    services: Services, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reloader = Reloader(tmp_path / "foliot.toml", services, Configuration(), frozenset())

    for slots in (7, 7, 100):
        reloader._replace(Configuration(server=ServerSettings(slots=slots)))

    assert [record.getMessage() for record in caplog.records] == ["restart_needed"] * 2


@pytest.mark.parametrize(
    ("text", "level"), [(KEPT[:-3], logging.ERROR), (f'include = ["nothing.d/*.toml"]\n{KEPT}', logging.WARNING)]
)
async def test_configuration_problems_are_logged_with_their_severity(
    site: Site, caplog: pytest.LogCaptureFixture, text: str, level: int
) -> None:
    site.file.write_text(text)

    await site.reload()

    assert {record.levelno for record in caplog.records if record.message == "configuration_problem"} == {level}


async def test_an_emptied_file_disables_no_job(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    site.file.write_text("\n")

    await site.reload()

    assert await site.jobs() == {"kept": True}
    assert events(caplog) == ["configuration_refused"]


async def test_a_file_that_was_empty_when_read_and_then_filled_is_read_again(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The decision is based on the text that was parsed, not on a later one."""

    def read_before_it_is_filled(path: Path) -> Loaded:
        loaded = load(path, {}, NOW)
        path.write_text(KEPT + MORE)
        monkeypatch.undo()
        return loaded

    monkeypatch.setattr(stable_read, "read_config", read_before_it_is_filled)
    site.file.write_text("")

    await site.reload()

    assert await site.jobs() == {"kept": True, "more": True}
    assert events(caplog) == ["configuration_applied"]


async def test_a_file_that_is_being_written_is_read_when_it_is_stable(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """A half file that ends between two jobs is valid TOML, and so is an empty file."""
    site.file.write_text("")

    await site.reload(during_the_wait=[MORE, MORE + KEPT])

    assert await site.jobs() == {"kept": True, "more": True}
    assert events(caplog) == ["configuration_applied"]


async def test_a_half_written_file_with_invalid_toml_is_not_an_error(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.file.write_text(KEPT[:-3])

    await site.reload(during_the_wait=[KEPT])

    assert events(caplog) == ["configuration_unchanged"]


async def test_included_files_are_read_when_they_are_stable(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    (place := site.file.parent / "jobs.d").mkdir()
    (place / "more.toml").write_text(MORE)
    site.file.write_text(f'include = ["jobs.d/*.toml"]\n{KEPT}')

    await site.reload()
    (place / "more.toml").write_text("")
    await site.reload()

    assert await site.jobs() == {"kept": True, "more": True}
    assert events(caplog) == ["configuration_applied", "configuration_refused"]
    assert "jobs.d/more.toml is empty" in vars(caplog.records[-1])["problem"]


async def test_an_included_file_that_changes_while_it_is_read_for_the_first_time_is_read_again(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (place := site.file.parent / "jobs.d").mkdir()
    (place / "more.toml").write_text("")
    site.file.write_text(f'include = ["jobs.d/*.toml"]\n{KEPT}')

    def read_before_it_is_filled(path: Path) -> Loaded:
        loaded = load(path, {}, NOW)
        (place / "more.toml").write_text(MORE)
        monkeypatch.undo()
        return loaded

    monkeypatch.setattr(stable_read, "read_config", read_before_it_is_filled)
    await site.reload()

    assert await site.jobs() == {"kept": True, "more": True}
    assert events(caplog) == ["configuration_applied"]


async def test_a_file_that_keeps_changing_is_an_error(site: Site) -> None:
    endless = (f"{MORE}# {'x' * number}\n" for number in range(1_000))

    with pytest.raises(FoliotError, match="the files keep changing"):
        await site.reload(during_the_wait=endless)

    assert await site.jobs() == {"kept": True}


@pytest.mark.parametrize(
    ("before", "blank_before", "after", "blank_after", "emptied"),
    [
        ("main a", "", "main a", "a", "a"),
        ("main a", "", "main", "main", "main"),
        ("main", "main", "main", "main", "main"),
        ("main a", "a", "main a", "a", None),
        ("main", "", "main a", "a", None),
        ("main a", "", "main", "", None),
    ],
    ids=["include", "main", "main_always", "empty_before", "new_and_empty", "deleted"],
)
def test_a_file_counts_as_emptied_if_it_had_content_or_is_the_main_file(
    before: str, blank_before: str, after: str, blank_after: str, emptied: str | None
) -> None:
    assert emptied_since(made_of(before, blank_before), made_of(after, blank_after)) == (emptied and Path(emptied))


def made_of(files: str, blank: str) -> Configuration:
    return Configuration(files=tuple(map(Path, files.split())), blank=tuple(map(Path, blank.split())))


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.message.startswith("configuration_")]


async def test_a_closed_database_does_not_end_the_server(
    services: Services, clock: VirtualClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "foliot.toml").write_text(JOB)
    reloader = Reloader(tmp_path / "foliot.toml", services, Configuration(), frozenset())
    running = asyncio.create_task(reloader.run())
    await services.close()

    reloader.request()
    await logged(caplog, clock, "configuration_not_applied")

    assert not running.done()
    running.cancel()


async def logged(caplog: pytest.LogCaptureFixture, clock: VirtualClock, event: str) -> None:
    async with asyncio.timeout(30):
        while event not in [record.message for record in caplog.records]:
            clock.advance(100)
            await asyncio.sleep(0.01)
