"""Every page of the web UI, with the address of one that has something to show."""

from collections.abc import Callable, Mapping
from typing import Final

from playwright.sync_api import Page, expect

from tests.web.world import Site

PAGES: Final[Mapping[str, Callable[[Site], str]]] = {
    "home": lambda site: "/",
    "jobs": lambda site: "/jobs",
    "job": lambda site: "/jobs/backup-database",
    "job-gate": lambda site: "/jobs/backup-verify",
    "job-fanout": lambda site: "/jobs/resize-images",
    "new-job": lambda site: "/new/job",
    "new-toml": lambda site: "/new/job?way=toml",
    "edit-job": lambda site: "/jobs/orders-sync/edit",
    "runs": lambda site: "/runs",
    "run-failed": lambda site: f"/runs/{site.first_run('job_id=legacy-export&failed=true')}",
    "run-fanout": lambda site: f"/runs/{site.first_run('job_id=resize-images')}",
    "run-execution": lambda site: f"/runs/{site.first_run('job_id=nightly-etl')}",
    "run-log": lambda site: f"/runs/{big_log(site)}",
    "timeline": lambda site: "/timeline",
    "workflows": lambda site: "/workflows",
    "workflow": lambda site: "/workflows/nightly-etl",
    "workflow-step": lambda site: "/workflows/release?step=sign-off",
    "chains": lambda site: "/chains",
    "chain": lambda site: f"/chains/{site.get('/api/chains?limit=1')['items'][0]['id']}",
    "chain-class": lambda site: "/chain-classes/card-payments",
    "ledger": lambda site: "/ledger",
    "schedule": lambda site: "/schedules/orders-sync:default",
    "workers": lambda site: "/workers",
    "import": lambda site: "/import",
    "tick": lambda site: f"/ledger?outcome=missed&open={missed_tick(site)}",
    "audit": lambda site: "/audit",
    "doctor": lambda site: "/doctor",
    "settings": lambda site: "/settings",
}


def missed_tick(site: Site) -> str:
    """Return the name of a tick that did not fire, as addresses have it."""
    tick = site.get("/api/ticks?outcome=missed&limit=1")["items"][0]
    return f"{tick['schedule_id']}@{tick['scheduled_for']}"


def big_log(site: Site) -> str:
    """Return the run with a log of 40,000 lines."""
    runs = site.get("/api/runs?job_id=search-index&limit=200")["items"]
    return next(str(run["id"]) for run in runs if run["input_payload"] == {"full": True})


def visit(page: Page, address: str) -> None:
    """Open an address and wait until the page is there, with all that it loads at first."""
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
