"""A server survives a full disk without loss and without a restart."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.scenarios.server import Place, until

CONFIG = """
[storage]
url = "sqlite:///disk/foliot.db"

[defaults]
catchup = "all"

[[jobs]]
id = "beat"
command = "echo beat"
every = "1s"
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A directory with its database on a disk of eight megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    (tmp_path / "foliot.toml").write_text(CONFIG)
    yield Place(tmp_path)
    subprocess.run(["umount", disk], check=True)


def fill(file: Path) -> None:
    with file.open("ab", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(4096))


def successes(place: Place) -> set[str]:
    return {run["id"] for run in place.objects("runs", "--status", "success", "-n", "1000")}


@pytest.mark.proves("M3", "M4")
def test_a_server_survives_a_full_disk_and_continues_when_there_is_room(place: Place) -> None:
    filler = place.directory / "disk" / "filler"
    with place.serve() as server:
        until(lambda: successes(place), lambda: "nothing ran")
        fill(filler)
        assert "the disk is full" in server.saw("storage_outage_began")["problem"]
        before = successes(place)

        filler.unlink()

        until(lambda: len(successes(place)) > len(before) + 2, lambda: "it did not go on")
        assert before <= successes(place)
        assert server.saw("storage_outage_ended")["failed_rounds"] > 0
        assert server.events("round_failed") == []
    assert "no problems found" in place.foliot("verify", "--since", "1h")
    assert {run["status"] for run in place.objects("runs", "-n", "1000")} <= {"success", "queued", "scheduled"}


def test_a_command_reports_a_full_disk(place: Place) -> None:
    place.foliot("reload")
    fill(place.directory / "disk" / "filler")

    text = "x" * 100_000  # more than is left in the pages that the database has already
    said = place.foliot("trigger", "beat", "--payload", f'{{"text": "{text}"}}', code=1)

    assert "the disk is full" in said
    assert "Free some space" in said
