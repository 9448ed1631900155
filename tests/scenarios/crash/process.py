"""One real Foliot process: started, watched through its log, signalled, killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[3]
APP: Final = "tests.scenarios.crash.app:app"
KILLED: Final = -signal.SIGKILL


class FoliotProcess:
    """A process that is this test's own: it is ended by its pid and by nothing else."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it lives."""
        return self._process.poll()

    def send(self, signum: signal.Signals) -> None:
        self._process.send_signal(signum)

    def kill(self) -> None:
        """End it at once, also when it is stopped, and wait until it is gone."""
        self._process.kill()
        self._process.wait()

    def events(self) -> Iterator[dict[str, Any]]:
        """What it logged so far; a last line that is half written is left out."""
        for line in self.log.read_text().splitlines():
            if line.startswith("{") and line.endswith("}"):
                yield json.loads(line)

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [found for found in self.events() if found["event"] == event]
