"""The temporary server ends with the process that started it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foliot.testing.postgres import PostgresServer

_START = """
from foliot.testing.postgres import PostgresServer
print(PostgresServer.start().directory, flush=True)
input()
"""


def test_a_stopped_server_leaves_nothing_behind() -> None:
    with PostgresServer.start() as server:
        assert server.sql("SELECT 1") == "1"

    assert not server.directory.exists()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_does_not_outlive_its_process(ending: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    directory = Path(process.stdout.readline().strip())
    postmaster = int((directory / "data" / "postmaster.pid").read_text().split()[0])

    process.send_signal(ending)
    process.wait()

    process.stdin.close()
    process.stdout.close()
    while directory.exists() or is_alive(postmaster):
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs. A dead one may stay as a zombie if the tests of the shell runner adopt orphans."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except FileNotFoundError:
        return False
