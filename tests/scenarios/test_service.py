"""The unit for systemd: the how-to shows it, systemd accepts it, and a server that it starts reports its state."""

import configparser
import os
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.server import Place, Server

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "contrib" / "systemd" / "foliot.service"
HOWTO = ROOT / "docs" / "howto" / "run-as-a-service.md"
QUIET = '[[jobs]]\nid = "quiet"\ncommand = "echo quiet"\n'
PROGRAM = "/opt/foliot/bin/foliot"


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.settimeout(30)
        yield receiver


def states(receiver: socket.socket, count: int) -> list[str]:
    """Return the next reports but those to the watchdog, without their numbers."""
    found: list[str] = []
    while len(found) < count:
        lines = receiver.recv(4096).decode().split("\n")
        if lines != ["WATCHDOG=1"]:
            found.append(" ".join(line for line in lines if "_USEC=" not in line))
    return found


def test_the_how_to_shows_the_unit_that_is_shipped() -> None:
    assert f"```ini\n{UNIT.read_text()}```\n" in HOWTO.read_text()


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd is not installed")
    (copy := tmp_path / "foliot.service").write_text(UNIT.read_text().replace(PROGRAM, "/bin/true"))

    done = subprocess.run([analyze, "verify", copy], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_command_and_the_environment_of_the_unit_start_a_server(
    tmp_path: Path, receiver: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(UNIT.read_text())
    service = unit["Service"]
    program, command, *arguments = shlex.split(service["ExecStart"].replace("/etc/foliot", str(tmp_path)))
    assert program == PROGRAM
    assert service["ExecReload"].endswith("/kill -HUP $MAINPID")
    path = service["Environment"].removeprefix("PATH=")
    (tmp_path / "foliot.toml").write_text('[[jobs]]\nid = "path"\ncommand = "echo $PATH"\n')
    for name in os.environ:
        monkeypatch.delenv(name)  # systemd passes only what the unit names

    place = Place(tmp_path)
    with place.serve(*arguments, command=command, NOTIFY_SOCKET=str(tmp_path / "notify"), PATH=path):
        assert states(receiver, 1) == ["READY=1 STATUS=serving"]
        place.foliot("trigger", "path", "--wait")
        assert place.foliot("logs", "path@last") == f"{path}\n"


def test_a_server_reports_start_reload_errors_and_stop(tmp_path: Path, receiver: socket.socket) -> None:
    place = Place(tmp_path)
    place.file.write_text(QUIET)
    with serve(place) as server:
        assert states(receiver, 1) == ["READY=1 STATUS=serving"]
        server.send(signal.SIGHUP)
        assert states(receiver, 2) == ["RELOADING=1", "READY=1 STATUS=serving"]
        place.file.write_text(f"{QUIET}crom = 1\n")
        server.send(signal.SIGHUP)
        refused = "READY=1 STATUS=serving the stored definitions: foliot.toml has 1 error"
        assert states(receiver, 2) == ["RELOADING=1", refused]
    assert states(receiver, 1) == ["STOPPING=1"]

    with serve(place):
        assert states(receiver, 1) == [refused]
        place.file.write_text(QUIET)
        assert states(receiver, 2) == ["RELOADING=1", "READY=1 STATUS=serving"]


def test_a_server_reports_to_the_watchdog(tmp_path: Path, receiver: socket.socket) -> None:
    place = Place(tmp_path)
    place.file.write_text(QUIET)
    with serve(place, WATCHDOG_USEC="100000"):
        reports = [receiver.recv(4096) for _ in range(9)]

    assert reports.count(b"WATCHDOG=1") == 8


def serve(place: Place, **environ: str) -> Server:
    return place.serve(NOTIFY_SOCKET=str(place.directory / "notify"), **environ)
