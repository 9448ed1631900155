"""Workers, settings, audit and doctor; and what people with a smaller role see."""

import re

from playwright.sync_api import Page, expect

from tests.web.conftest import OpenContext
from tests.web.pages import visit
from tests.web.world import Site

PASSWORD = "correct horse battery staple"


def test_a_new_worker_has_a_secret_that_is_shown_once(page: Page) -> None:
    visit(page, "/workers")

    page.get_by_role("textbox", name="Name").fill("gpu-web")
    page.get_by_role("button", name="Register worker").click()

    expect(page.get_by_text("FOLIOT_WORKER_SECRET")).to_be_visible()
    page.reload()
    expect(page.get_by_role("table", name="Remote workers")).to_contain_text("gpu-web")
    expect(page.get_by_text("FOLIOT_WORKER_SECRET")).to_have_count(0)


def test_the_audit_shows_what_was_so_before(page: Page, site: Site) -> None:
    site.define('[[jobs]]\nid = "audited-web"\ncommand = "echo before"\n')
    site.define('[[jobs]]\nid = "audited-web"\ncommand = "echo after"\n')
    visit(page, "/audit?id=audited-web")

    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page.get_by_text("echo before")).to_be_visible()
    expect(page.get_by_text("echo after")).to_be_visible()


def test_the_doctor_checks_and_verifies(page: Page) -> None:
    visit(page, "/doctor")

    page.get_by_role("button", name="Verify").click()

    expect(page.get_by_text("No problems found.")).to_be_visible()


def test_users_tokens_and_roles(small: Site, open_context: OpenContext) -> None:
    """One test for the whole way, because each step needs the one before it."""
    page = open_context(small).new_page()
    visit(page, small.url + "/settings?tab=users")

    # The first user ends the development mode: the login page appears.
    page.get_by_role("textbox", name="Name").fill("anna")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    choose(page, "Role", re.compile("^admin"))
    page.get_by_role("button", name="Add user").click()
    log_in(page, "anna")

    # A token is shown once.
    visit(page, small.url + "/settings")
    page.get_by_label("Name").fill("dashboard")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("status").filter(has_text="dashboard")).to_be_visible()
    page.reload()
    row = page.get_by_role("table", name="Tokens").get_by_role("row").filter(has_text="dashboard")
    expect(row).to_be_visible()
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("button", name="Revoke").last.click()
    expect(row).to_be_hidden()

    # A viewer sees the same pages without what it cannot do.
    page.get_by_role("tab", name="Users").click()
    page.get_by_role("textbox", name="Name").fill("ben")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    choose(page, "Role", re.compile("^viewer"))
    page.get_by_role("button", name="Add user").click()
    expect(page.get_by_role("table", name="Users")).to_contain_text("ben")
    viewer = open_context(small).new_page()
    viewer.goto(small.url + "/jobs/backup")
    log_in(viewer, "ben")
    visit(viewer, small.url + "/jobs/backup")
    for name in ("Run now", "Pause", "Edit"):
        expect(viewer.get_by_role("button", name=name)).to_have_count(0)
    visit(viewer, small.url + "/jobs")
    expect(viewer.get_by_role("link", name="New job")).to_have_count(0)
    visit(viewer, small.url + "/settings")
    expect(viewer.get_by_text("Only administrators")).to_be_visible()


def log_in(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.get_by_label("Name").fill(name)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def choose(page: Page, label: str, option: re.Pattern[str]) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option).click()
