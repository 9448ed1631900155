"""The ledger explains why a planned time did not fire."""

import re

from playwright.sync_api import Page, expect

from tests.web.pages import visit


def test_a_missed_tick_is_explained_by_mouse(page: Page) -> None:
    visit(page, "/ledger")
    page.get_by_text("missed", exact=True).first.click()
    expect(page).to_have_url(re.compile("outcome=missed"))

    page.get_by_role("table", name="Ticks").locator("tbody tr").first.get_by_role("cell").nth(3).click()

    drawer = page.get_by_role("complementary").filter(has=page.get_by_text(re.compile("foliot explain")))
    expect(drawer).to_contain_text("missed")
    expect(page).to_have_url(re.compile("open="))


def test_a_missed_tick_is_explained_by_keyboard(page: Page) -> None:
    visit(page, "/ledger?outcome=missed")
    expect(page.get_by_role("table", name="Ticks").locator("tbody tr").first).to_be_visible()

    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page.get_by_text(re.compile("foliot explain"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text(re.compile("foliot explain"))).to_be_hidden()
