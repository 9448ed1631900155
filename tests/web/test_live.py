"""Pages are live: many at once, after a restart of the server, and only while somebody looks."""

from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import OpenContext
from tests.web.pages import visit
from tests.web.world import Site

TABS = 8


def test_eight_tabs_are_live_at_once(site: Site, open_context: OpenContext) -> None:
    site.define('[[jobs]]\nid = "tabs-web"\ncommand = "true"\n')
    context = open_context(site)
    tabs = [context.new_page() for _ in range(TABS)]
    for tab in tabs:
        visit(tab, "/runs?job=tabs-web")
    for tab in tabs:
        expect(live(tab)).to_have_text("Live")

    site.ended(site.run("tabs-web"))

    for tab in tabs:
        expect(tab.get_by_role("table", name="Runs")).to_contain_text("success")


def test_a_page_outlives_a_restart_of_the_server(small: Site, open_context: OpenContext) -> None:
    page = open_context(small).new_page()
    port = str(urlsplit(small.url).port)
    visit(page, small.url + "/jobs")
    expect(live(page)).to_have_text("Live")

    small.server.kill()
    expect(live(page)).to_have_text("Reconnecting")
    small.place.file.write_text(small.place.file.read_text().replace('"backup"', '"renamed"'))
    with small.place.serve("--port", port):
        expect(live(page)).to_have_text("Live")
        # What changed meanwhile is shown without a reload.
        expect(page.get_by_role("link", name="renamed", exact=True)).to_be_visible()


def test_a_hidden_page_reads_nothing_until_it_is_shown(site: Site, open_context: OpenContext) -> None:
    site.define('[[jobs]]\nid = "hidden-web"\ncommand = "true"\n')
    page = open_context(site).new_page()
    visit(page, "/runs?job=hidden-web")
    expect(live(page)).to_have_text("Live")

    show(page, hidden=True)
    expect(live(page)).to_have_text("Paused")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    site.ended(site.run("hidden-web"))
    assert [url for url in requests if "/api/runs" in url] == []

    show(page, hidden=False)
    expect(live(page)).to_have_text("Live")
    expect(page.get_by_role("table", name="Runs")).to_contain_text("success")


def live(page: Page) -> Locator:
    return page.locator("header [role=status]")


def show(page: Page, *, hidden: bool) -> None:
    """Do to the page what a browser does when its tab is put into the background, which a headless one never does."""
    page.evaluate(
        """(hidden) => {
            Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
            const visibilityState = hidden ? "hidden" : "visible";
            Object.defineProperty(document, "visibilityState", { value: visibilityState, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )
