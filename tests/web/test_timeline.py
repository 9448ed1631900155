"""The timeline of all jobs."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from tests.web.pages import visit
from tests.web.world import Site


@pytest.fixture(scope="module")
def ended(site: Site) -> str:
    """A run of a job of our own."""
    site.define('[[jobs]]\nid = "bar-web"\ncron = "0 * * * *"\ncommand = "true"\n')
    run = site.run("bar-web")
    site.ended(run)
    return run


def test_a_bar_leads_to_its_run_by_mouse(page: Page, ended: str) -> None:
    visit(page, "/timeline?job=bar-web")

    page.get_by_text("hour", exact=True).click()
    expect(page).to_have_url(re.compile("span=hour"))
    bars = page.locator("svg [data-hue=ok]")
    expect(bars).to_have_count(1)
    bars.click()

    expect(page).to_have_url(re.compile(f"/runs/{ended}$"))
    page.go_back()
    expect(page).to_have_url(re.compile("/timeline.*span=hour"))


def test_a_bar_leads_to_its_run_by_keyboard(page: Page, ended: str) -> None:
    visit(page, "/")
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("bar-web")
    page.keyboard.press("Tab")
    expect(page.get_by_role("list", name="Jobs").get_by_role("listitem")).to_have_count(1)

    page.locator("body").evaluate("() => document.activeElement.blur()")
    for key in ("j", "l"):
        page.keyboard.press(key)
    expect(page.get_by_role("main").get_by_role("status")).to_contain_text("bar-web success")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(f"/runs/{ended}$"))


def test_the_page_moves_through_time_and_zones(page: Page, ended: str) -> None:
    around = f"{datetime.now(UTC):%Y-%m-%dT%H:00:00.000Z}"
    # Each day has one midnight, and its mark is the date.
    midnight = page.locator("svg text", has_text=re.compile(r"^\d+ [A-Z]"))
    visit(page, f"/timeline?at={around}&tz=UTC")
    expect(midnight).to_have_count(1)
    in_utc = midnight.get_attribute("x")

    visit(page, f"/timeline?at={around}&tz=Asia/Tokyo")
    expect(midnight).to_have_count(1)
    assert midnight.get_attribute("x") != in_utc

    page.get_by_role("button", name="Earlier").click()
    expect(page).not_to_have_url(re.compile(re.escape(around.replace(":", "%3A"))))
    page.get_by_role("button", name="Now").click()
    expect(page).not_to_have_url(re.compile("at="))
