"""Reloading while a server runs: what is noticed, and what it survives."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from watchfiles import Change

from foliot.config import Configuration, load
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.interfaces.cli.reloading import Reloader, fingerprint, may_concern
from foliot.wiring import Services, open_services

NOW = Instant(time.time_ns() // 1_000_000)
JOB = '[[jobs]]\nid = "report"\ncommand = "true"\n'


@pytest.fixture
async def services(shop: Path) -> AsyncIterator[Services]:
    opened = await open_services(f"sqlite:///{shop}/foliot.db")
    yield opened
    await opened.close()


def read(path: Path) -> Configuration:
    configuration = load(path, {}, NOW).configuration
    assert configuration is not None
    return configuration


@pytest.mark.parametrize(
    ("name", "concerns"),
    [("foliot.toml", True), ("jobs.d/x.toml", True), ("..data", True), ("foliot.db-wal", False), ("notes.txt", False)],
)
def test_a_database_beside_the_file_wakes_nobody(name: str, concerns: bool) -> None:
    assert may_concern(Change.modified, f"/etc/foliot/{name}") is concerns


class TestFingerprint:
    def test_it_is_the_same_as_long_as_nothing_happens(self, tmp_path: Path) -> None:
        (tmp_path / "foliot.toml").write_text(JOB)
        configuration = read(tmp_path / "foliot.toml")

        seen = fingerprint(configuration)
        (tmp_path / "foliot.db").touch()

        assert fingerprint(configuration) == seen

    @pytest.mark.parametrize("deed", ["write", "touch", "exchange", "remove", "add"])
    def test_whatever_is_done_to_the_files_changes_it(self, tmp_path: Path, deed: str) -> None:
        file, other = tmp_path / "foliot.toml", tmp_path / "other.toml"
        file.write_text(JOB)
        configuration = read(file)
        seen = fingerprint(configuration)

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

        assert fingerprint(configuration) != seen


async def test_what_cannot_be_applied_does_not_end_the_server(
    services: Services, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The job belongs to the application that filled the shop; then the file is one that can be applied."""
    file = tmp_path / "foliot.toml"
    file.write_text(JOB)
    caplog.set_level(logging.INFO, "foliot")
    reloader = Reloader(file, services, Configuration(), frozenset())
    running = asyncio.create_task(reloader.run())

    reloader.request()
    await logged(caplog, "configuration_not_applied")
    file.write_text(JOB.replace("report", "own"))
    reloader.request()
    await logged(caplog, "configuration_applied")
    running.cancel()

    [refusal] = [record for record in caplog.records if record.message == "configuration_not_applied"]
    assert "report" in vars(refusal)["problem"]


async def test_of_many_changes_the_first_are_named(
    tmp_path: Path, services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "foliot.toml"
    file.write_text("".join(JOB.replace("report", f"own-{number:02}") for number in range(30)))
    caplog.set_level(logging.INFO, "foliot")
    running = asyncio.create_task((reloader := Reloader(file, services, Configuration(), frozenset())).run())

    reloader.request()
    await logged(caplog, "configuration_applied")
    running.cancel()

    [record] = [record for record in caplog.records if record.message == "configuration_applied"]
    first, *_, last = vars(record)["changes"].split(", ")
    assert first == "created own-00"
    assert last.endswith(" more")


async def test_a_file_that_was_emptied_disables_nothing(
    shop: Path, services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    file = shop / "foliot.toml"
    file.write_text(JOB.replace("report", "kept"))
    configuration = read(file)
    await services.deployer.apply(configuration.declared)
    file.write_text("\n")

    await Reloader(file, services, configuration, fingerprint(configuration)).reload()

    jobs = await services.storage.jobs.get([JobId("kept")])
    assert jobs[JobId("kept")].spec.enabled
    assert "configuration_refused" in caplog.text


async def test_a_closed_database_does_not_end_the_server_either(
    services: Services, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "foliot.toml").write_text(JOB)
    reloader = Reloader(tmp_path / "foliot.toml", services, Configuration(), frozenset())
    running = asyncio.create_task(reloader.run())
    await services.close()

    reloader.request()
    await logged(caplog, "configuration_not_applied")

    assert not running.done()
    running.cancel()


async def logged(caplog: pytest.LogCaptureFixture, event: str) -> None:
    async with asyncio.timeout(30):
        while event not in [record.message for record in caplog.records]:
            await asyncio.sleep(0.01)
