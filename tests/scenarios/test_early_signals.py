"""Signals during the start of a server are handled after it."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scenarios.server import PATIENCE, Place, environment

JOB = '[[jobs]]\nid = "hello"\ncommand = "echo hello"\n'
SIGNAL_ITSELF = "import os\nfrom foliot import Foliot\nos.kill(os.getpid(), {number})\napp = Foliot()\n"
SIGNAL_WHILE_LOADING = """
import os, sys
from foliot.interfaces.cli import main

class Signaller:
    def find_spec(self, name, path=None, target=None):
        if name == "foliot.interfaces.cli.commands.{command}":
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Signaller())
main(["{command}", "--roles" if "{command}" == "serve" else "--queue", "!"])
"""
STOPS = [signal.SIGTERM, signal.SIGINT]


def message(kind: bytes, body: bytes) -> bytes:
    """Build a message of the PostgreSQL protocol."""
    return kind + (len(body) + 4).to_bytes(4, "big") + body


WELCOME = (
    message(b"R", bytes(4))
    + message(b"S", b"server_version\x0018.0\0")
    + message(b"S", b"server_encoding\0UTF8\0")
    + message(b"K", bytes(8))
    + message(b"Z", b"I")
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "foliot.toml").write_text(JOB)
    return Place(tmp_path)


def python(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=place.directory, env=environment(), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip


def test_a_reload_requested_during_the_start_is_done_after_it(place: Place) -> None:
    (place.directory / "shop.py").write_text(SIGNAL_ITSELF.format(number=int(signal.SIGHUP)))

    with place.serve("shop:app", "--config", "foliot.toml") as server:
        server.saw("configuration_applied")
        server.saw("configuration_unchanged")


def test_a_worker_ignores_a_reload_signal(place: Place) -> None:
    (place.directory / "shop.py").write_text(SIGNAL_ITSELF.format(number=int(signal.SIGHUP)))

    with place.serve("shop:app", "--config", "foliot.toml", command="worker") as server:
        assert server.saw("node_started")["roles"] == ["worker"]


@pytest.mark.parametrize("number", STOPS)
def test_a_server_stopped_during_the_start_exits_cleanly(place: Place, number: signal.Signals) -> None:
    (place.directory / "shop.py").write_text(SIGNAL_ITSELF.format(number=int(number)))

    ended = python(place, "-m", "foliot", "serve", "shop:app", "--config", "foliot.toml")

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("loop", ["asyncio", "auto"])
@pytest.mark.parametrize("greeting", [b"", WELCOME], ids=["silent at once", "silent after the welcome"])
def test_a_server_that_waits_for_its_storage_can_be_stopped(place: Place, loop: str, greeting: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        storage = f"postgresql://foliot@127.0.0.1:{silent.getsockname()[1]}/orders?sslmode=disable"
        silent.settimeout(PATIENCE)
        server = subprocess.Popen(
            [sys.executable, "-m", "foliot", "serve", "--storage", storage, "--loop", loop],
            cwd=place.directory, env=environment(), stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            with silent.accept()[0] as session:
                assert session.recv(8192)
                if greeting:
                    session.sendall(greeting)
                    assert session.recv(8192)  # the first question, which gets no answer
                server.terminate()
                _, said = server.communicate(timeout=PATIENCE)
        finally:
            server.kill()
            server.communicate()

    assert (server.returncode, said) == (0, "")


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_signals_are_handled_before_modules_are_loaded(place: Place, command: str) -> None:
    stopped = python(place, "-c", SIGNAL_WHILE_LOADING.format(command=command, number=int(signal.SIGTERM)))
    reloaded = python(place, "-c", SIGNAL_WHILE_LOADING.format(command=command, number=int(signal.SIGHUP)))

    assert (stopped.returncode, stopped.stderr) == (0, "")
    # It continued, and reported its arguments as invalid.
    assert (reloaded.returncode, "error:" in reloaded.stderr) == (2, True)
