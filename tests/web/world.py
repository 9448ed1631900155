"""The demo, served by a process: made once for all processes of the tests, and copied by each of them."""

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from foliot.demo.create import LEAST_DAYS
from tests.scenarios.server import PATIENCE, Place, Server, until


class Site:
    """A server with its address, asked as a program would ask it."""

    def __init__(self, place: Place, server: Server, token: str | None = None) -> None:
        self.place = place
        self.server = server
        self.token = token

    @cached_property
    def url(self) -> str:
        return self.server.url

    def get(self, path: str) -> Any:
        return self._send("GET", path, None)

    def post(self, path: str, **body: Any) -> Any:
        return self._send("POST", path, body)

    def put(self, path: str, **body: Any) -> Any:
        return self._send("PUT", path, body)

    def define(self, toml: str) -> None:
        self.post("/api/definitions", toml=toml)

    def run(self, job: str, **body: Any) -> str:
        """Start a run and return its id."""
        run_id: str = self.post(f"/api/jobs/{job}/run", **body)["id"]
        return run_id

    def ended(self, run_id: str) -> Any:
        """Wait until a run has ended and return it."""

        def found() -> Any:
            run = self.get(f"/api/runs/{run_id}")
            return run if run["finished_at"] else None

        return until(found, lambda: f"the run {run_id} has not ended")

    def first_run(self, query: str) -> str:
        """Return the id of the newest run with these filters."""
        run_id: str = self.get(f"/api/runs?limit=1&{query}")["items"][0]["id"]
        return run_id

    def _send(self, method: str, path: str, body: Any) -> Any:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        content = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, data=content, headers=headers, method=method)
        with urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read()
            return json.loads(text) if text else None


def copy_demo(shared: Path, directory: Path) -> Place:
    """Copy the demo in `shared`, which the first process makes, into a directory that does not exist."""
    shared.mkdir(exist_ok=True)
    made = shared / "shop"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "complete").exists():
            # In a process of its own: the loop of this thread belongs to the browser.
            Place(shared).foliot("demo", "--directory", str(made), "--days", str(LEAST_DAYS), "--no-serve")
            (shared / "complete").touch()
    shutil.copytree(made, directory)
    return Place(directory)


@contextmanager
def served(place: Place, *options: str) -> Iterator[Site]:
    with place.serve(*options) as server:
        yield Site(place, server)
