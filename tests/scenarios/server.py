"""A server in its own directory, observed through its log and by other commands."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

PATIENCE: Final = 30.0
Answer = TypeVar("Answer")


class Place:
    """A directory with a Foliot project."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def file(self) -> Path:
        return self.directory / "foliot.toml"

    def foliot(self, *arguments: str, code: int = 0) -> str:
        """Return the output of a command, which must end with this code."""
        ended = subprocess.run(
            command(*arguments), cwd=self.directory, env=environment(), capture_output=True, text=True, check=False
        )
        assert ended.returncode == code, f"{arguments} ended with {ended.returncode}: {ended.stdout}{ended.stderr}"
        return ended.stdout + ended.stderr if code else ended.stdout

    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.foliot(*arguments, "--json").splitlines()]

    def serve(self, *arguments: str, command: str = "serve", **environ: str) -> "Server":
        return Server(self.directory, command, *arguments, **environ)


class Server:
    """A server process, which is ended with its block."""

    def __init__(self, directory: Path, *arguments: str, **environ: str) -> None:
        self._log = directory / f"server-{time.monotonic_ns()}.log"
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                command(*arguments), cwd=directory, env=environment() | environ, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def __enter__(self) -> Self:
        self.saw("node_started")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.send(signal.SIGTERM)
        try:
            self._process.wait(PATIENCE)
        finally:
            self.kill()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, if it has ended."""
        return self._process.poll()

    def output(self) -> str:
        """Wait until it has ended and return its output."""
        self._process.wait(PATIENCE)
        return self._log.read_text()

    @property
    def url(self) -> str:
        """The address of its HTTP API."""
        url: str = self.saw("api_started")["url"]
        return url

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = self._log.read_text().splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
        return [event for event in events if event["event"] == name]

    def saw(self, name: str, count: int = 1) -> dict[str, Any]:
        """Wait until the event was logged `count` times and return it."""

        def enough() -> dict[str, Any] | None:
            assert self._process.poll() is None or self.events(name), f"it ended: {self._log.read_text()}"
            found = self.events(name)
            return found[count - 1] if len(found) >= count else None

        return until(enough, lambda: f"{name} was not logged: {self._log.read_text()}")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "foliot", *arguments]


def environment() -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("FOLIOT_")}
    # Any free port: servers of other tests run at the same time.
    return {**ours, "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1", "FOLIOT_SERVER_PORT": "0"}


def until(ask: Callable[[], Answer | None], complaint: Callable[[], str]) -> Answer:
    """Poll until `ask` returns a value, for a limited time."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(complaint())
