"""Running a command on a pseudo-terminal."""

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from signal import Signals
from types import TracebackType
from typing import Final, Self

_LONGEST: Final = 60.0


class Terminal:
    """A process whose input and output are a terminal; it is killed at the end of its block."""

    def __init__(self, *arguments: str, directory: Path, environment: Mapping[str, str] = {}) -> None:
        self._ours, theirs = pty.openpty()
        variables = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40", **environment}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "foliot", *arguments],
            cwd=directory, env=variables, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._watchdog = threading.Timer(_LONGEST, self._process.kill)
        self._watchdog.start()
        self.screen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.kill()
        self.read()
        self._watchdog.cancel()
        self._process.wait()
        os.close(self._ours)

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def send(self, number: Signals) -> None:
        self._process.send_signal(number)

    def read(self, until: str | None = None) -> None:
        """Read the screen up to a text or to the end."""
        while until is None or until not in self.screen:
            try:
                data = os.read(self._ours, 65_536)
            except OSError:  # Linux: the other side is closed
                return
            self.screen += data.decode()


def on_terminal(*arguments: str, directory: Path, keys: bytes = b"", environment: Mapping[str, str] = {}) -> str:
    """Run a command, type `keys`, and return everything that was printed."""
    with Terminal(*arguments, directory=directory, environment=environment) as terminal:
        terminal.type(keys)
    return terminal.screen
