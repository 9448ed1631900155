"""Servers in processes of their own."""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.children import ChildFailed
from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec

_PATIENCE: Final = 30.0


@contextmanager
def bare_server(directory: str) -> Iterator[str]:
    """Serve the bare application. Yields its address."""
    with _process(directory, "bench.api.bare", str(Path(directory) / "bare.db")) as log:
        yield _address(log, r"^(http://\S+)$")


@contextmanager
def foliot_server(url: str, directory: str, *, roles: str = "api") -> Iterator[str]:
    """Serve the API of a database, which has the job `noop`, with these roles. Yields its address."""
    asyncio.run(_put_job(url))
    file = Path(directory) / "foliot.toml"
    file.touch()
    options = ("--roles", roles, "--port", "0", "--log-format", "json", "--storage", url, "--config", str(file))
    with _process(directory, "foliot", "serve", *options) as log:
        yield _address(log, r'"api_started", "url": "([^"]+)"')


def _address(log: Path, pattern: str) -> str:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if found := re.search(pattern, log.read_text(), re.MULTILINE):
            return found[1]
        time.sleep(0.05)
    raise ChildFailed(f"a server did not start: {log.read_text()[-500:]}")


async def _put_job(url: str) -> None:
    async with Foliot(url) as app:
        services = await app.open()
        await services.jobs.put({JobId("noop"): JobSpec(kind="shell", spec={"command": "true"})})


def storage_url(place: str) -> str:
    return place if place.startswith("postgresql") else f"sqlite:///{place}"


@contextmanager
def _process(directory: str, *arguments: str) -> Iterator[Path]:
    """Run a module. Yields the file with its output."""
    log = Path(directory) / f"log-{time.monotonic_ns()}"
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=output, stderr=subprocess.STDOUT)
    try:
        yield log
    finally:
        process.terminate()
        process.wait()
