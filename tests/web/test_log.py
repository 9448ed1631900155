"""The log viewer."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.web.pages import big_log, visit
from tests.web.world import Site


def test_the_first_error_is_far_away_and_shown_at_once(page: Page, site: Site) -> None:
    visit(page, f"/runs/{big_log(site)}")
    log = page.get_by_role("region", name="Log of search-index")
    expect(log.get_by_role("link", name="Line 1", exact=True)).to_be_visible()

    page.get_by_role("button", name="First error").click()

    expect(log.locator("[data-tone=error]")).to_contain_text("ERROR document")
    # Only what is in view is in the page, of 40,000 lines.
    assert log.get_by_role("link").count() < 300


def test_a_search_finds_lines_on_the_server(page: Page, site: Site) -> None:
    visit(page, f"/runs/{big_log(site)}")

    page.get_by_role("button", name="Search").click()
    page.get_by_label("Search the log").fill("field price")

    expect(page.get_by_role("search")).to_contain_text("1 of 2")
    expect(page.get_by_role("region", name="Log of search-index").locator("mark").first).to_have_text("field price")
    page.keyboard.press("Enter")
    expect(page.get_by_role("search")).to_contain_text("2 of 2")


def test_a_line_has_an_address(page: Page, site: Site) -> None:
    run = big_log(site)
    visit(page, f"/runs/{run}#L17000-L17002")
    log = page.get_by_role("region", name="Log of search-index")

    expect(log.get_by_role("link", name="Line 17000", exact=True)).to_be_visible()
    expect(log.locator("[data-selected]")).to_have_count(3)
    log.get_by_role("link", name="Line 17001", exact=True).click()
    expect(page).to_have_url(re.compile("#L17001$"))
    page.reload()
    expect(log.locator("[data-selected]")).to_have_count(1)


@pytest.fixture
def growing(site: Site) -> Iterator[str]:
    """A run that prints until a file appears."""
    go = site.place.directory / "enough"
    site.define(
        '[[jobs]]\nid = "growing-web"\ncommand = """i=0\nwhile [ ! -e enough ]; do i=$((i+1)); '
        'echo line $i; sleep 0.02; done\n"""\n'
    )
    run = site.run("growing-web")
    yield run
    go.touch()
    site.ended(run)
    go.unlink()


def test_following_lets_go_when_the_reader_scrolls_up_and_says_so(page: Page, growing: str) -> None:
    visit(page, f"/runs/{growing}")
    log = page.get_by_role("region", name="Log of growing-web")
    expect(page.get_by_text("following", exact=True)).to_be_visible()
    expect(log).to_contain_text("line 90")

    log.hover()
    page.mouse.wheel(0, -200)
    expect(page.get_by_text("not following")).to_be_visible()
    place = log.evaluate("(log) => log.scrollTop")
    expect(page.get_by_role("button", name=re.compile("Paused.*new line"))).to_be_visible()
    assert log.evaluate("(log) => log.scrollTop") == place

    page.keyboard.press("End")
    expect(page.get_by_text("following", exact=True)).to_be_visible()
