"""A server whose log is not read continues to work and can be stopped."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.scenarios.server import PATIENCE, Place, command, environment, until

JOB = '[[jobs]]\nid = "often"\ncommand = "true"\nevery = "1s"\n'


@pytest.fixture
def full_pipe() -> Iterator[int]:
    """Return a pipe that blocks its writers."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with suppress(BlockingIOError):
        while True:
            os.write(theirs, b".")
    os.set_blocking(theirs, True)
    yield theirs
    os.close(ours)
    os.close(theirs)


def test_a_server_with_an_unread_log_works_and_can_be_stopped(tmp_path: Path, full_pipe: int) -> None:
    place = Place(tmp_path)
    place.file.write_text(JOB)
    place.foliot("migrate")  # so that it can be asked at any moment what has been done

    server = subprocess.Popen(
        command("serve"), cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, stdout=full_pipe, stderr=full_pipe
    )
    try:
        until(lambda: len(succeeded(place)) >= 2, lambda: "nothing was done")
        server.send_signal(signal.SIGTERM)

        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.wait()


def succeeded(place: Place) -> list[str]:
    return [run["id"] for run in place.objects("runs", "--status", "success")]
