"""The pages of workflows and chains."""

import re
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Page, expect

from tests.scenarios.server import until
from tests.web.pages import visit
from tests.web.world import Site

FLOW = """
[[workflows]]
id = "flow-web"
[[workflows.steps]]
name = "build"
command = "echo built"
[[workflows.steps]]
name = "sign-off"
after = "build"
approve = { timeout = "3d", default = "reject" }
[[workflows.steps]]
name = "ship"
after = "sign-off"
command = "echo shipped"
"""


def waiting(site: Site) -> str:
    """Start an execution that waits for a person, and return its id."""
    site.define(FLOW)
    execution: str = site.post("/api/workflows/flow-web/start")["id"]
    until(lambda: waits(site, execution) or None, lambda: "the step does not wait for a person")
    return execution


def waits(site: Site, execution: str) -> bool:
    try:
        steps = site.get(f"/api/executions/{execution}")["execution"]["steps"]
    except HTTPError as error:
        if error.code == 409:  # it has not begun
            return False
        raise
    return any(step["name"] == "sign-off" and step["status"] == "scheduled" for step in steps)


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_step_is_approved_on_the_graph(way: str, page: Page, site: Site) -> None:
    execution = waiting(site)
    visit(page, f"/workflows/flow-web?execution={execution}")
    step = page.locator("[data-step=sign-off]")
    expect(step).to_be_visible()

    if way == "mouse":
        step.click()
        page.get_by_role("button", name="Approve").click()
    else:
        step.focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Approve").focus()
        page.keyboard.press("Enter")

    # The graph follows the run without a reload.
    expect(page.locator("[data-step=ship]")).to_have_accessible_name(re.compile("success"))
    assert site.get(f"/api/runs/{execution}")["status"] == "success"


def test_a_workflow_is_listed_and_opened(page: Page) -> None:
    visit(page, "/workflows")

    page.get_by_role("link", name="nightly-etl", exact=True).first.click()

    expect(page).to_have_url(re.compile("/workflows/nightly-etl"))
    expect(page.locator("[data-step]")).to_have_count(8)


def test_a_breaker_is_reset_with_a_reason(page: Page, site: Site) -> None:
    visit(page, "/chains")
    card = page.get_by_role("article", name="card-payments")
    expect(card).to_contain_text(re.compile("open", re.IGNORECASE))

    card.get_by_role("button", name="Reset").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Reset")).to_be_disabled()
    dialog.get_by_label("Reason").fill("the provider is back")
    page.keyboard.press("Enter")

    expect(card.get_by_role("button", name="Reset")).to_be_hidden()
    classes = {one["id"]: one for one in site.get("/api/chain-classes")["items"]}
    assert classes["card-payments"]["breaker"] != "open"


def test_an_active_chain_is_stopped(page: Page, site: Site) -> None:
    chain = site.get("/api/chains?is_open=true")["items"][0]
    visit(page, f"/chains/{chain['id']}")

    page.get_by_role("button", name="Stop chain").click()
    page.get_by_role("button", name="Stop it").click()

    expect(page.get_by_role("button", name="Stop chain")).to_be_hidden()
    assert site.get(f"/api/chains/{chain['id']}")["closed_at"] is not None
