"""A worker built from the protocol alone works beside Foliot's own."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.domain.events import EventKind
from foliot.domain.logs import LogEnd, LogState
from foliot.testing.invariants import check_invariants

ROOT = Path(__file__).parents[2]
WORKER = ROOT / "examples" / "worker_in_sql.py"
PAGE = ROOT / "docs" / "reference" / "protocol.md"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Foliot]:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell("greet", 'echo hello; echo "not good" >&2', queue="foreign")
    app.shell("fail", "exit 3", queue="foreign", max_concurrent=1)
    app.shell("after", "true", queue="foreign", depends_on="greet")
    async with app:
        yield app


def work(tmp_path: Path, how_many: int) -> list[str]:
    """Let a process do it that cannot import Foliot: isolated, without site-packages."""
    command = [sys.executable, "-I", "-S", str(WORKER), f"{tmp_path}/foliot.db", "foreign", str(how_many)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.proves("R1-09")
async def test_it_carries_out_runs_as_any_other_worker_does(app: Foliot, tmp_path: Path) -> None:
    good, bad = await app.enqueue("greet"), await app.enqueue("fail")

    told = work(tmp_path, 2)

    runs = [await app.run(good), await app.run(bad)]
    assert told == [f"{good} 0", f"{bad} 3"]
    assert [(run.status, run.reason, run.exit_code, run.attempt) for run in runs] == [
        ("success", None, 0, 1),
        ("failed", "exit_code", 3, 1),
    ]
    assert [piece.data for piece in await app.logs(good) if piece.stream == "stdout"] == [b"hello\n"]
    assert [item async for item in app.follow(good)][-1] == LogEnd(LogState.COMPLETE)


@pytest.mark.proves("R1-09")
async def test_what_it_leaves_behind_holds(app: Foliot, tmp_path: Path) -> None:
    for job in ("greet", "fail", "greet"):
        await app.enqueue(job)
    work(tmp_path, 3)

    services = await app.open()
    assert await check_invariants(services.storage, now=services.clock.now()) == []
    events = await services.storage.upkeep.events(after=0, limit=1_000)
    assert [event.kind for event in events if event.kind == EventKind.RUNS_ENDED] == [EventKind.RUNS_ENDED] * 3


async def test_every_kind_of_event_is_on_the_page() -> None:
    told = set(re.findall(r"`([a-z]+\.[a-z_]+)`", PAGE.read_text()))

    assert {kind.value for kind in EventKind} <= told
