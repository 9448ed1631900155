"""No-op runs drained by a worker with a server on this machine, beside a worker with the database itself.

    python -m bench.workers [--count 20000] [--rounds 3]

    local    foliot worker --storage ...                              the worker and the SQLite file
    signed   foliot serve --roles api   <-- signed requests --   foliot worker --server URL
    token    foliot serve --roles api   <-- with a token ------   foliot worker --server URL

All drain new databases of the same kind, in turns, in one run. The ratio of the medians to that of the local worker is
to be at least 0.5.
"""

import argparse
import asyncio
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from foliot import Foliot

APP: Final = """
import os
from foliot import Foliot
app = Foliot(os.environ.get("BENCH_STORAGE", "sqlite:///unused.db"))

@app.job
async def noop() -> None:
    pass
"""
AIM: Final = 0.5
_PATIENCE: Final = 300
_FOLIOT: Final = str(Path(sys.executable).with_name("foliot"))
_URL: Final = re.compile(r'"url": "(http://[0-9.:]+)"')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    figures: dict[str, list[float]] = {"local": [], "signed": [], "token": []}
    for _ in range(options.rounds):
        for name, found in figures.items():
            found.append(drained(options.count, name))
    base = statistics.median(figures["local"])
    for name, found in figures.items():
        median, each = statistics.median(found), ", ".join(f"{one:,.0f}" for one in found)
        verdict = "" if name == "local" else f"   {median / base:.2f} of local, aim {AIM}"
        print(f"{name:8} {median:8,.0f} runs/s{verdict}   of {each}")


def drained(count: int, kind: str) -> float:
    """Return how many runs a second one worker drains."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "bench_app.py").write_text(APP)
        storage = f"sqlite:///{place}/foliot.db"
        credentials = asyncio.run(prepared(storage, count))
        if kind == "local":
            with process(place, "worker", "bench_app:app", BENCH_STORAGE=storage):
                return measured(place / "foliot.db", count)
        serve = ("serve", "bench_app:app", "--roles", "api", "--port", "0", "--log-format", "json")
        with process(place, *serve, BENCH_STORAGE=storage) as log:
            environment = {"FOLIOT_SERVER": found_url(log), **credentials[kind]}
            with process(place, "worker", "bench_app:app", **environment):
                return measured(place / "foliot.db", count)


async def prepared(storage: str, count: int) -> dict[str, dict[str, str]]:
    """Enqueue the runs, and return both kinds of credentials of a remote worker."""
    app = Foliot(storage)

    @app.job
    async def noop() -> None: ...

    async with app:
        await app.enqueue_many("noop", [None] * count)
        services = await app.open()
        view, secret = await services.enrolments.register("bench")
        token = await services.tokens.create(role="worker")
    signed = {"FOLIOT_WORKER_ID": view.id, "FOLIOT_WORKER_SECRET": secret}
    return {"signed": signed, "token": {"FOLIOT_TOKEN": token.secret}}


@contextmanager
def process(place: Path, *arguments: str, **environment: str) -> Iterator[Path]:
    """Run a command of Foliot, and yield the file with its log."""
    log = place / f"{arguments[0]}.log"
    with log.open("wb") as written:
        started = subprocess.Popen(
            [_FOLIOT, *arguments], cwd=place, env={**os.environ, **environment}, stdout=written, stderr=written
        )
        try:
            yield log
        finally:
            started.terminate()
            started.wait(_PATIENCE)


def found_url(log: Path) -> str:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if (found := _URL.search(log.read_text())) is not None:
            return found[1]
        time.sleep(0.05)
    raise SystemExit(f"the server did not start:\n{log.read_text()}")


def measured(database: Path, count: int) -> float:
    """Return the runs a second between the first and the last that ended."""
    began, first = 0.0, count
    until = time.monotonic() + _PATIENCE
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        while time.monotonic() < until:
            [(left,)] = connection.execute("SELECT (SELECT count(*) FROM ready) + (SELECT count(*) FROM leases)")
            now = time.monotonic()
            if left < count and not began:
                began, first = now, left
            if began and left == 0:
                return first / (now - began)
            time.sleep(0.005)
    raise SystemExit("the runs were not drained in time")


if __name__ == "__main__":
    main()
