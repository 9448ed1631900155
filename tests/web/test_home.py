"""Home says in a sentence what needs a person, and each of its numbers leads to what it counts."""

import re

from playwright.sync_api import Page, expect

from tests.web.conftest import OpenContext
from tests.web.pages import visit
from tests.web.world import Site


def test_the_first_sentence_says_what_needs_a_person(page: Page) -> None:
    visit(page, "/")

    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"\d jobs? and 1 breaker need you\."))


def test_every_number_of_the_day_leads_to_what_it_counts(page: Page) -> None:
    visit(page, "/")
    day = page.get_by_role("region", name="The last 24 hours")
    links = [(link.inner_text(), link.get_attribute("href")) for link in day.get_by_role("link").all()]
    assert len(links) >= 4

    for text, address in links:
        count = int(re.sub(r"\D", "", text))
        assert address is not None
        page.goto(address)
        # A filter is in the address, and what is shown has it.
        assert re.search(r"\?.*(outcome|failed|since)=", page.url), address
        if 0 < count < 10:
            expect(page.locator("tbody tr").first).to_be_visible()
        if count == 0:
            expect(page.get_by_text(re.compile("^No (ticks|run)"))).to_be_visible()


def test_the_keyboard_reaches_every_page_and_the_palette_every_job(page: Page) -> None:
    visit(page, "/")

    for keys, title in (("gj", "Jobs"), ("gr", "Runs"), ("gl", "Ledger"), ("ga", "Audit")):
        for key in keys:
            page.keyboard.press(key)
        expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("backup-data")
    expect(page.get_by_role("option").first).to_contain_text("backup-database")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("/jobs/backup-database"))


def test_a_failing_job_is_retried_from_home(open_context: OpenContext, small: Site) -> None:
    small.define('[[jobs]]\nid = "export"\ncommand = "exit 69"\n')
    small.ended(small.run("export"))
    page = open_context(small).new_page()
    visit(page, small.url + "/")
    broken = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="export", exact=True)).first

    broken.get_by_role("button", name="Retry").click()

    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("region", name="The last 24 hours")).to_be_visible()
