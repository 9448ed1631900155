"""The pages Runs and Run."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.scenarios.server import until
from tests.web.conftest import PHONE, OpenContext
from tests.web.pages import visit
from tests.web.world import Site


def test_filters_are_in_the_address_and_survive_a_reload(page: Page) -> None:
    visit(page, "/runs")

    page.get_by_role("group", name="Status").get_by_role("button", name="failed").click()
    page.get_by_label("Job").fill("legacy-export")

    expect(page).to_have_url(re.compile("(?=.*status=failed)(?=.*job=legacy-export)"))
    page.reload()
    rows = page.get_by_role("table", name="Runs").locator("tbody tr")
    expect(rows.first).to_contain_text("legacy-export")
    expect(page.get_by_role("button", name="failed")).to_have_attribute("aria-pressed", "true")
    assert all("failed" in text and "legacy-export" in text for text in rows.all_inner_texts())


@pytest.mark.proves("R0-23")
def test_skipped_and_failed_runs_look_and_read_differently(page: Page) -> None:
    visit(page, "/runs?status=skipped")
    skipped = look_of_first(page, "skipped")
    visit(page, "/runs?status=failed")
    failed = look_of_first(page, "failed")

    for aspect in ("word", "shape", "colour"):
        assert skipped[aspect] != failed[aspect], aspect


def look_of_first(page: Page, status: str) -> dict[str, str]:
    row = page.get_by_role("table", name="Runs").locator("tbody tr").first
    cell = row.get_by_role("cell").filter(has_text=status).first
    expect(cell).to_be_visible()
    icon = cell.locator("svg").first
    return {
        "word": cell.inner_text(),
        "shape": str(icon.inner_html()),
        "colour": str(icon.evaluate("(icon) => getComputedStyle(icon).color")),
    }


@pytest.mark.proves("R0-43", "R0-71")
def test_a_fanout_unfolds_to_its_items_in_every_state_and_its_reducer(page: Page) -> None:
    visit(page, "/runs?kind=fanout&job=resize-images")

    page.get_by_role("button", name="Show what is below resize-images").first.click()

    items = page.get_by_role("table", name="Items")
    expect(items.locator("tbody tr").first).to_be_visible()
    expect(page.get_by_text(re.compile("[Rr]educer")).first).to_be_visible()
    states = page.get_by_role("group", name="Status of items").or_(page.get_by_label("Status of items"))
    states.get_by_text("failed").first.click()
    expect(items.locator("tbody tr")).to_have_count(4)
    states.get_by_text("success").first.click()
    expect(items.locator("tbody tr").first).to_contain_text("success")


def test_the_page_of_a_fanout_finds_items_on_the_server(page: Page, site: Site) -> None:
    fanout = site.first_run("job_id=resize-images&status=partial")
    visit(page, f"/runs/{fanout}")
    items = page.get_by_role("table", name="Items")

    page.get_by_role("button", name="First failed").click()
    expect(page).to_have_url(re.compile("item=[%2]*72"))
    page.get_by_placeholder(re.compile("item", re.IGNORECASE)).first.fill("173")

    expect(items.locator("tbody tr")).to_have_count(1)
    expect(items).to_contain_text("173")


@pytest.fixture
def slow(site: Site) -> Iterator[str]:
    """A run that goes on until it is cancelled."""
    site.define('[[jobs]]\nid = "slow-web"\ncommand = "echo begun; exec sleep 600"\n')
    run = site.run("slow-web")
    yield run
    if not site.get(f"/api/runs/{run}")["finished_at"]:
        site.post(f"/api/runs/{run}/cancel")


def test_a_running_run_is_cancelled_and_run_again_by_keyboard(page: Page, site: Site, slow: str) -> None:
    visit(page, f"/runs/{slow}")
    expect(page.get_by_role("region", name="Log of slow-web")).to_contain_text("begun")

    page.keyboard.press("c")
    expect(page.get_by_role("button", name="Cancel the run")).to_be_visible()
    page.get_by_role("button", name="Cancel the run").press("Enter")
    # Its end arrives without a reload.
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("cancelled").first).to_be_visible()
    assert site.get(f"/api/runs/{slow}")["status"] == "cancelled"

    page.keyboard.press("r")
    page.get_by_role("dialog").get_by_role("button", name="Run again").press("Enter")
    expect(page).not_to_have_url(re.compile(slow))
    again = page.url.rpartition("/")[2]
    site.post(f"/api/runs/{again}/cancel")
    until(lambda: site.get(f"/api/runs/{again}")["finished_at"], lambda: "the second run goes on")


def test_a_run_is_cancelled_and_run_again_on_a_phone(site: Site, open_context: OpenContext, slow: str) -> None:
    page = open_context(site, size=PHONE, has_touch=True).new_page()
    visit(page, f"/runs/{slow}")

    page.get_by_role("button", name="Cancel").tap()
    page.get_by_role("button", name="Cancel the run").tap()
    page.get_by_role("button", name="Run again").tap()
    page.get_by_role("dialog").get_by_role("button", name="Run again").tap()

    expect(page).not_to_have_url(re.compile(slow))
    again = page.url.rpartition("/")[2]
    site.post(f"/api/runs/{again}/cancel")
    until(lambda: site.get(f"/api/runs/{again}")["finished_at"], lambda: "the second run goes on")


def test_a_run_is_opened_from_the_list_by_keyboard(page: Page) -> None:
    visit(page, "/runs?job=legacy-export&status=failed")
    expect(page.get_by_role("table", name="Runs").locator("tbody tr").first).to_be_visible()

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("/runs/[0-9A-Z]{26}$"))


def test_the_page_of_a_run_says_why(page: Page, site: Site) -> None:
    visit(page, f"/runs/{site.first_run('job_id=backup-verify&status=skipped')}")

    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    expect(page.get_by_text("backup-database").first).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("dep_failed")
