"""Reports to systemd, received on a socket of the test."""

import asyncio
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot.domain.instant import MINUTE, Millis
from foliot.interfaces.cli.server.systemd import Systemd


@pytest.fixture(params=["path", "abstract"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"@foliot-test-{secrets.token_hex(8)}" if request.param == "abstract" else str(tmp_path / "notify")


@pytest.fixture
def receiver(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(address.replace("@", "\0", 1) if address.startswith("@") else address)
        receiver.settimeout(10)
        yield receiver


def received(receiver: socket.socket) -> list[str]:
    """Return the lines of the next report."""
    return receiver.recv(4096).decode().split("\n")


def test_start_reload_and_stop_are_reported(address: str, receiver: socket.socket) -> None:
    systemd = Systemd({"NOTIFY_SOCKET": address})

    systemd.started()
    systemd.reloading()
    systemd.reloaded("foliot.toml has\n2 errors")
    systemd.stopping(Millis(2 * MINUTE))

    assert received(receiver) == ["READY=1", "STATUS=serving"]
    state, moment = received(receiver)
    assert state == "RELOADING=1"
    assert moment.removeprefix("MONOTONIC_USEC=").isdecimal()
    assert received(receiver) == ["READY=1", "STATUS=serving the stored definitions: foliot.toml has 2 errors"]
    assert received(receiver) == ["STOPPING=1", "EXTEND_TIMEOUT_USEC=180000000"]


def test_a_reload_before_the_start_does_not_report_the_start(address: str, receiver: socket.socket) -> None:
    systemd = Systemd({"NOTIFY_SOCKET": address})

    systemd.reloading()
    systemd.reloaded("")
    systemd.started("foliot.toml has 1 error")

    assert received(receiver) == ["READY=1", "STATUS=serving the stored definitions: foliot.toml has 1 error"]


@pytest.mark.parametrize("names_pid", [True, False])
async def test_the_watchdog_gets_reports_while_the_event_loop_runs(
    address: str, receiver: socket.socket, names_pid: bool
) -> None:
    pid = {"WATCHDOG_PID": str(os.getpid())} if names_pid else {}
    systemd = Systemd({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "20000", **pid})

    async with systemd.watchdog():
        for _ in range(3):
            assert await asyncio.to_thread(received, receiver) == ["WATCHDOG=1"]


@pytest.mark.parametrize(
    "watchdog", [{}, {"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}]
)
async def test_without_a_watchdog_for_this_process_nothing_is_reported(
    address: str, receiver: socket.socket, watchdog: dict[str, str]
) -> None:
    receiver.setblocking(False)
    async with Systemd({"NOTIFY_SOCKET": address, **watchdog}).watchdog():
        await asyncio.sleep(0)

    with pytest.raises(BlockingIOError):
        receiver.recv(4096)


def test_without_systemd_nothing_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    systemd = Systemd({})
    systemd.started()
    systemd.stopping(Millis(0))

    assert caplog.records == []


def test_a_missing_socket_is_logged_and_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Systemd({"NOTIFY_SOCKET": str(tmp_path / "missing")}).started()

    [record] = caplog.records
    assert record.getMessage() == "systemd_not_reached"
    assert vars(record)["report"] == "READY=1"


def test_jobs_do_not_inherit_the_variables_of_systemd() -> None:
    environ = {"NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1", "PATH": "/bin"}
    Systemd(environ)

    assert environ == {"PATH": "/bin"}
