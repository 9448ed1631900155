"""One server with the demo for all tests of this directory, a browser for each file, and a context for each test.

A browser ends with its file: an open Playwright keeps the event loop of the thread, and other tests need their own.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from foliot.interfaces.web.files import ASSETS
from tests.scenarios.server import Place
from tests.web.chromium import ARGUMENTS, MISSING, PROGRAM
from tests.web.watch import Watch
from tests.web.world import Site, copy_demo, served

PATIENCE_MS: Final = 20_000
WIDE: Final = (1440, 900)
PHONE: Final = (390, 844)

SMALL: Final = """\
[server]
base_path = "/ops"

[[jobs]]
id = "backup"
cron = "0 3 * * *"
command = "echo saved"
"""

OpenContext = Callable[..., BrowserContext]

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip(MISSING)
    if not (ASSETS / "index.html").is_file():
        pytest.skip("the web UI is not built: run scripts/ui build")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=PROGRAM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The demo. Tests may add jobs, and leave those of the demo as they are."""
    if PROGRAM is None:
        pytest.skip(MISSING)
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with served(copy_demo(shared / "demo", own / "shop")) as found:
        yield found


@pytest.fixture
def small(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    """A server of its own, below a base path, for a test that changes all of it: users, tokens, restarts."""
    place = Place(tmp_path / "small")
    place.directory.mkdir()
    place.file.write_text(SMALL)
    with served(place) as found:
        yield found


@pytest.fixture
def open_context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[OpenContext]:
    """Open a context for a site, with its faults watched until the end of the test."""
    opened: list[tuple[BrowserContext, Watch]] = []

    def open_one(at: Site, *, size: tuple[int, int] = WIDE, theme: str = "light", **more: Any) -> BrowserContext:
        width, height = size
        context = browser.new_context(
            base_url=at.url,
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
            timezone_id="Europe/Berlin",
            locale="en-GB",
            **more,
        )
        context.set_default_timeout(PATIENCE_MS)
        opened.append((context, Watch(context, at.url)))
        return context

    yield open_one
    faults = [fault for context, watch in opened for fault in watch.faults()]
    for context, _ in opened:
        context.close()
    assert faults == []


@pytest.fixture
def page(site: Site, open_context: OpenContext) -> Page:
    """A page on the demo."""
    return open_context(site).new_page()
