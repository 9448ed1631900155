"""What pages cost: bytes, requests and elements, which do not grow with what is stored."""

import re
from typing import Final

from playwright.sync_api import Page, Response, expect

from tests.web.pages import big_log, visit
from tests.web.world import Site

FIRST_PAGE: Final = 250_000
MANY: Final = 3_000
FEW: Final = 50


def test_the_first_page_takes_at_most_250_kb(page: Page, site: Site) -> None:
    sizes: dict[str, int] = {}

    def on_response(response: Response) -> None:
        if "/api/" not in response.url and not response.url.endswith(".woff2"):
            sizes[response.url] = int(response.headers.get("content-length", 0))

    page.on("response", on_response)
    visit(page, "/")

    # As they are sent, compressed. The two fonts are 89 kB more; text is shown before they are there.
    assert 50_000 < sum(sizes.values()) <= FIRST_PAGE, sorted(sizes.items(), key=lambda one: -one[1])[:12]


def test_lists_read_one_page_however_many_runs_there_are(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    visit(page, "/runs")
    expect(page.get_by_role("table", name="Runs").locator("tbody tr").first).to_be_visible()
    lists = [url for url in asked if re.search(r"/api/runs(\?|$)", url)]
    visit(page, "/jobs")
    rows = [url for url in asked if re.search(r"/api/job-rows(\?|$)", url)]

    assert len(lists) == 1
    assert len(rows) == 1


def test_a_graph_of_3000_steps_has_few_more_elements_than_one_of_50(page: Page, site: Site) -> None:
    counts, painted = {}, {}
    for size in (FEW, MANY):
        site.define(wide(size))
        visit(page, f"/workflows/wide-{size}")
        expect(page.get_by_label(f"Graph of wide-{size}")).to_be_visible()
        painted[size] = page.evaluate("Math.round(performance.now())")
        counts[size] = page.locator("*").count()
    print(f"elements {counts}, milliseconds until the graph is there {painted}")

    # Sixty times as many steps: what is out of view is drawn as blocks or not at all.
    assert counts[MANY] < 12 * counts[FEW], counts


def test_a_log_of_40000_lines_has_few_elements_at_any_place(page: Page, site: Site) -> None:
    visit(page, f"/runs/{big_log(site)}")
    log = page.get_by_role("region", name="Log of search-index")
    expect(log.get_by_role("link", name="Line 1", exact=True)).to_be_visible()
    at_top = log.locator("*").count()

    page.get_by_role("button", name="End, follow").click()

    expect(log).to_contain_text("39998 documents")
    assert max(at_top, log.locator("*").count()) < 2_000


def wide(size: int) -> str:
    """Return a workflow of layers of ten steps, each after two of the layer before."""
    steps = []
    for number in range(size):
        layer, place = divmod(number, 10)
        before = [f"s{(layer - 1) * 10 + (place + shift) % 10}" for shift in (0, 3)] if layer else []
        after = f"after = {before}\n".replace("'", '"') if before else ""
        steps.append(f'[[workflows.steps]]\nname = "s{number}"\n{after}command = "true"\n')
    return f'[[workflows]]\nid = "wide-{size}"\n' + "".join(steps)
