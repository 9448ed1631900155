"""Hostile text in every field and in logs is shown as text: no script runs, and no element is made of it."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import pytest
from playwright.sync_api import Browser, expect

from tests.scenarios.server import Place
from tests.web.conftest import OpenContext
from tests.web.hostile import SHORT, fill, prepare
from tests.web.pages import visit
from tests.web.test_job_form import paste
from tests.web.world import Site, served

pytestmark = pytest.mark.proves("Z14")

# Elements that only hostile text would make.
MADE: Final = (
    "x-hostile, script:not([src]), img, iframe, [onerror], [onclick], [onload], [onmouseover], a[href^='javascript' i]"
)


class Hostile(NamedTuple):
    site: Site
    runs: list[str]


@pytest.fixture(scope="module")
def hostile(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    place = Place(tmp_path_factory.mktemp("hostile") / "place")
    prepare(place)
    with served(place, "--name", SHORT) as site:
        yield Hostile(site, fill(site))


WITH_TEXT: Final[dict[str, Callable[[Hostile], str]]] = {
    "home": lambda found: "/",
    "jobs": lambda found: "/jobs",
    "jobs by tag": lambda found: "/jobs?tag=%3Cx-hostile%3E%3Cscript%3Ealarm(11)%3C/script%3E",
    "job": lambda found: "/jobs/printer",
    "http job": lambda found: "/jobs/request",
    "fanout": lambda found: "/jobs/items",
    "gate": lambda found: "/jobs/gate",
    "edit in a form": lambda found: "/jobs/stored/edit",
    "edit as TOML": lambda found: "/jobs/printer/edit?way=toml",
    "copy": lambda found: "/new/job?from=printer&way=toml",
    "runs": lambda found: "/runs?open=" + ",".join(found.runs[3:6]),
    "run": lambda found: f"/runs/{found.runs[0]}",
    "run that raised": lambda found: f"/runs/{found.runs[1]}",
    "run of a request": lambda found: f"/runs/{found.runs[2]}",
    "run of a fanout": lambda found: f"/runs/{found.runs[3]}",
    "run of an item": lambda found: f"/runs/{found.site.first_run(f'parent_run_id={found.runs[3]}&children=true')}",
    "run of a class": lambda found: f"/runs/{found.runs[4]}",
    "run of a workflow": lambda found: f"/runs/{found.runs[5]}",
    "timeline": lambda found: "/timeline",
    "workflows": lambda found: "/workflows",
    "workflow": lambda found: "/workflows/flow",
    "execution": lambda found: f"/workflows/flow?execution={found.runs[5]}&step=first",
    "chains": lambda found: "/chains",
    "class of chains": lambda found: "/chain-classes/class",
    "chain": lambda found: f"/chains/{found.site.get('/api/chains')['items'][0]['id']}",
    "ledger": lambda found: "/ledger",
    "schedule": lambda found: "/schedules/printer:default",
    "workers": lambda found: "/workers",
    "audit": lambda found: f"/audit?open={changed(found, 'pause')}",
    "doctor": lambda found: "/doctor",
    "settings": lambda found: "/settings",
}
SILENT: Final = {
    *("jobs", "timeline", "ledger", "schedule", "doctor", "settings"),
    *("gate", "run of a class", "workflows", "chain"),
}
"""Pages that show ids, times and counts only."""


def changed(found: Hostile, action: str) -> str:
    """Return the cursor of the newest entry of the audit trail with this action."""
    entries = found.site.get("/api/audit")["items"]
    return next(str(entry["cursor"]) for entry in entries if entry["action"] == action)


@pytest.mark.parametrize("name", WITH_TEXT)
def test_hostile_text_is_text(name: str, hostile: Hostile, open_context: OpenContext) -> None:
    page = open_context(hostile.site).new_page()

    visit(page, WITH_TEXT[name](hostile))

    if name not in SILENT:
        expect(page.locator("body")).to_contain_text("hostile")
    expect(page.locator(MADE)).to_have_count(0)


@pytest.mark.proves("Z15")
def test_escape_sequences_are_colours_at_most(hostile: Hostile, open_context: OpenContext) -> None:
    page = open_context(hostile.site).new_page()

    visit(page, f"/runs/{hostile.runs[0]}")
    log = page.get_by_role("region", name="Log of printer")
    page.get_by_role("button", name="Top").click()

    expect(log).to_contain_text("red and bold plain")
    expect(log.locator("[data-fg]", has_text="and bold").first).to_be_visible()
    expect(log).to_contain_text("a link of a terminal")
    expect(log).to_contain_text('data: {"line": "forged"}')
    expect(log).to_contain_text("event: run.ended")
    expect(page.get_by_role("link", name="a link of a terminal")).to_have_count(0)
    expect(page).not_to_have_title("a stolen title")
    for link in log.get_by_role("link").all():
        address = link.get_attribute("href") or ""
        assert address.startswith(("#L", "http://", "https://"))


def test_hostile_text_that_is_typed_is_text(hostile: Hostile, open_context: OpenContext) -> None:
    page = open_context(hostile.site).new_page()

    visit(page, "/import")
    page.get_by_role("textbox", name="Crontab").fill(f"* * * * * echo {SHORT}\nMAILTO={SHORT}\n{SHORT}\n")
    expect(page.get_by_role("button", name="Import 1 job")).to_be_enabled()
    visit(page, "/new/job?way=toml")
    paste(page.get_by_label("Definitions as TOML"), f'[[jobs]]\nid = "{SHORT}"\ncommand = "x"\n')
    expect(page.get_by_role("complementary", name="What the text defines")).to_contain_text("hostile")

    expect(page.locator(MADE)).to_have_count(0)
