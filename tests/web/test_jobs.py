"""The pages Jobs and Job, by mouse and by keyboard."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.scenarios.server import until
from tests.web.pages import visit
from tests.web.world import Site


@pytest.fixture(scope="module")
def echo(site: Site) -> str:
    """A job of our own that prints its parameters."""
    site.define('[[jobs]]\nid = "echo-web"\ntags = ["ours"]\ncron = "0 3 1 1 *"\ncommand = "echo $FOLIOT_PAYLOAD"\n')
    return "echo-web"


def newest_payload(site: Site, job: str) -> object:
    runs = site.get(f"/api/runs?job_id={job}&limit=1")["items"]
    return runs[0]["input_payload"] if runs else None


def test_a_search_is_in_the_address_and_survives_a_reload(page: Page) -> None:
    visit(page, "/jobs")

    page.keyboard.press("/")
    page.keyboard.type("backup")

    table = page.get_by_role("table", name="Jobs")
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile("search=backup"))
    page.reload()
    expect(table.locator("tbody tr")).to_have_count(2)


def test_a_job_is_run_with_parameters_by_mouse(page: Page, site: Site, echo: str) -> None:
    visit(page, f"/jobs/{echo}")

    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog", name=f"Run {echo} now")
    dialog.get_by_label("Parameters (JSON)").fill('{"day": ')
    expect(dialog.get_by_role("button", name="Run now")).to_be_disabled()
    dialog.get_by_label("Parameters (JSON)").fill('{"day": "mouse"}')
    dialog.get_by_role("button", name="Run now").click()

    expect(dialog).to_be_hidden()
    assert newest_payload(site, echo) == {"day": "mouse"}


def test_a_job_is_run_paused_and_opened_by_keyboard(page: Page, site: Site, echo: str) -> None:
    visit(page, "/jobs?search=echo-web")
    expect(page.get_by_role("link", name=echo, exact=True)).to_be_visible()

    page.keyboard.press("j")
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name=f"Run {echo} now")
    dialog.get_by_label("Parameters (JSON)").fill('{"day": "keys"}')
    page.keyboard.press("Control+Enter")
    expect(dialog).to_be_hidden()
    assert newest_payload(site, echo) == {"day": "keys"}

    page.keyboard.press("p")
    until(lambda: site.get(f"/api/jobs/{echo}")["paused"] or None, lambda: "the job is not paused")
    expect(page.get_by_role("row").filter(has_text=echo)).to_contain_text("paused")
    page.keyboard.press("p")
    until(lambda: not site.get(f"/api/jobs/{echo}")["paused"] or None, lambda: "the job is still paused")

    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/jobs/{echo}$"))


def test_a_job_is_paused_and_resumed_by_mouse(page: Page, site: Site, echo: str) -> None:
    visit(page, f"/jobs/{echo}")

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert site.get(f"/api/jobs/{echo}")["paused"]
    page.get_by_role("button", name="Resume").click()

    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert not site.get(f"/api/jobs/{echo}")["paused"]


@pytest.mark.proves("R0-70")
def test_a_gate_shows_each_dependency_with_a_dot_that_changes(page: Page, site: Site) -> None:
    site.define(
        '[[jobs]]\nid = "dep-one"\ncommand = "true"\n[[jobs]]\nid = "dep-two"\ncommand = "false"\n'
        '[[jobs]]\nid = "gate-web"\ndepends_on = ["dep-one", "dep-two"]\ncron = "0 3 1 1 *"\ncommand = "true"\n'
    )
    site.ended(site.run("dep-one"))
    visit(page, "/jobs/gate-web")
    badges = page.get_by_role("list", name="Dependencies")

    one, two = (badges.get_by_role("listitem").filter(has_text=name) for name in ("dep-one", "dep-two"))
    expect(one.get_by_role("img")).to_have_accessible_name(re.compile("success", re.IGNORECASE))
    expect(two).to_contain_text("has not run")
    site.ended(site.run("dep-two"))

    # Nobody reloads the page.
    expect(two.get_by_role("img")).to_have_accessible_name(re.compile("failed", re.IGNORECASE))
    expect(one.get_by_role("img")).to_have_accessible_name(re.compile("success", re.IGNORECASE))
