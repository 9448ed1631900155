"""A server with a small UI that looks like a built one."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot import Foliot
from tests.interfaces.api.serving import Client, RoleAccess, serving

SCRIPT = b"console.log('a script')" * 100


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "assets-of-test"
    (folder / "assets").mkdir(parents=True)
    index = Path(__file__).parents[3] / "ui/index.html"
    (folder / "index.html").write_text(index.read_text().replace("/src/main.tsx", "./assets/index-1a2b.js"))
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "digest").write_text("the digest of the sources")
    (folder / "assets/index-1a2b.js").write_bytes(SCRIPT)
    (folder / "assets/index-1a2b.js.gz").write_bytes(gzip.compress(SCRIPT))
    (folder / "assets/index-3c4d.css").write_text("body {}")
    return folder


@pytest.fixture
async def ui(tmp_path: Path, built: Path) -> AsyncIterator[Client]:
    """A client of a server with that UI, which needs credentials for the API."""
    async with (
        Foliot(f"sqlite:///{tmp_path}/foliot.db") as app,
        serving(await app.open(), RoleAccess(), web_assets=built) as client,
    ):
        yield client


@pytest.fixture
async def below(tmp_path: Path, built: Path) -> AsyncIterator[Client]:
    """The same with a base path."""
    async with (
        Foliot(f"sqlite:///{tmp_path}/foliot.db") as app,
        serving(await app.open(), web_assets=built, base_path="/foliot") as client,
    ):
        yield client
