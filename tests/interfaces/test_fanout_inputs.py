"""Fanouts read their items from every kind of source, or fail without a child."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
import pytest

from foliot import Foliot
from foliot.config import load
from foliot.domain.run.run import Status
from foliot.service.queries.run_view import RunView
from foliot.testing.clock import START
from tests.adapters.outbound.servers import Server, reply
from tests.interfaces.serving import ended, outcome, started

JOB = """
[[jobs]]
id = "scan"
kind = "fanout"
command = 'printf "%s\\n" "$FANOUT_ITEM" >> {path}/seen; exit 0'
concurrency = 1
inputs_from = "{uri}"
"""
MONITOR = """
[[jobs]]
id = "monitor"
command = "echo one; echo two; echo noise >&2"
"""


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FOLIOT_SECRET_KEY", "FOLIOT_SECRET_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)


@asynccontextmanager
async def deployed(tmp_path: Path, uri: str) -> AsyncIterator[Foliot]:
    """An application that serves the file with a fanout over this source."""
    (tmp_path / "foliot.toml").write_text(MONITOR + JOB.format(path=tmp_path, uri=uri))
    loaded = load(tmp_path / "foliot.toml", {}, START)
    assert loaded.configuration is not None, loaded.problems
    app = Foliot(loaded.configuration.storage)
    async with app, started(app):
        await (await app.open()).deployer.apply(loaded.configuration.declared)
        yield app


async def scanned(tmp_path: Path, uri: str) -> RunView:
    async with deployed(tmp_path, uri) as app:
        return await outcome(app, "scan")


def seen(tmp_path: Path) -> list[str]:
    """Return the items that children got."""
    path = tmp_path / "seen"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.proves("R0-45")
async def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "targets.txt").write_text("# targets\none\r\n\n$(touch pwned)\n")

    run = await scanned(tmp_path, f"file://{tmp_path}/targets.txt")

    assert run.status is Status.SUCCESS
    assert seen(tmp_path) == ["one", "$(touch pwned)"]


@pytest.mark.proves("R0-46")
async def test_a_list_on_a_web_server(tmp_path: Path) -> None:
    async with Server({"/list": reply(200, b'["one", "two", "three"]', content_type="application/json")}) as server:
        run = await scanned(tmp_path, server.url("/list"))

    assert run.status is Status.SUCCESS
    assert seen(tmp_path) == ["one", "two", "three"]


@pytest.mark.proves("R0-47", "R0-63")
async def test_a_registered_database(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "shop.db"))
    connection.execute("CREATE TABLE targets (url, other); INSERT INTO targets VALUES ('one', 'x'), ('two', 'y')")
    connection.close()
    async with deployed(tmp_path, "sql://main?SELECT url, other FROM targets ORDER BY url") as app:
        refused = await outcome(app, "scan")
        await (await app.open()).dsns.add("main", f"sqlite:///{tmp_path}/shop.db")
        run = await outcome(app, "scan")

    assert (refused.status, 'DSN "main" is not registered' in str(refused.error_message)) == (Status.FAILED, True)
    assert run.status is Status.SUCCESS
    assert seen(tmp_path) == ["one", "two"]


@pytest.mark.proves("R0-48")
async def test_the_output_of_a_job(tmp_path: Path) -> None:
    async with deployed(tmp_path, "job://monitor?output_as_lines") as app:
        refused = await outcome(app, "scan")
        await ended(app, await app.enqueue("monitor"))
        run = await outcome(app, "scan")

    assert (refused.status, "no successful run" in str(refused.error_message)) == (Status.FAILED, True)
    assert run.status is Status.SUCCESS
    assert seen(tmp_path) == ["one", "two"]


@pytest.mark.proves("R0-46", "F8")
async def test_a_source_that_cannot_be_used_fails_the_fanout_and_no_child_exists(tmp_path: Path) -> None:
    (tmp_path / "items.json").write_text('["one", "two", 3')
    async with Server({"/list": reply(200, b"<html></html>", content_type="text/html")}) as server:
        sources = {
            f"file://{tmp_path}/missing": "no such file or directory",
            f"file://{tmp_path}": "is a directory",
            f"file://{tmp_path}/items.json": "not a complete JSON array",
            server.url("/list"): "the answer is HTML",
        }
        for uri, message in sources.items():
            run = await scanned(tmp_path, uri)

            assert (run.status, run.reason) == (Status.FAILED, "inputs")
            assert message in str(run.error_message)
    assert seen(tmp_path) == []
