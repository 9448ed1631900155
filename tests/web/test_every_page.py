"""Every page, in both themes: it is there, keeps its policy, stays on the host, and axe finds nothing serious."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from tests.architecture.promises import ROOT
from tests.web.conftest import PHONE, OpenContext
from tests.web.pages import PAGES, visit
from tests.web.world import Site

AXE: Final = ROOT / "ui/node_modules/axe-core/axe.min.js"
ON_PHONES: Final = ("home", "job", "run-failed", "run-log")
IN_THEME: Final = """(theme) => document.documentElement.dataset.mantineColorScheme === theme &&
  document.getAnimations().every((one) => one.playState !== "running")"""
SERIOUS: Final = {"serious", "critical"}


def keep_picture(page: Page, name: str) -> None:
    """Write a picture into the directory FOLIOT_SCREENSHOTS, if there is one."""
    directory = os.environ.get("FOLIOT_SCREENSHOTS")
    if directory:
        page.screenshot(path=Path(directory) / f"{name}.png")


@pytest.mark.proves("Z13")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_fault_in_either_theme(name: str, site: Site, open_context: OpenContext) -> None:
    page = open_context(site).new_page()
    visit(page, PAGES[name](site))

    findings = {}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.wait_for_function(IN_THEME, arg=theme)
        keep_picture(page, f"{name}-{theme}")
        # The themes differ in their colours only.
        findings[theme] = serious_findings(page, *(["color-contrast"] if theme == "dark" else []))

    assert findings == {"light": [], "dark": []}


@pytest.mark.parametrize("name", ON_PHONES)
def test_a_page_fits_a_phone(name: str, site: Site, open_context: OpenContext) -> None:
    page = open_context(site, size=PHONE, has_touch=True).new_page()

    visit(page, PAGES[name](site))

    keep_picture(page, f"{name}-phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def serious_findings(page: Page, *rules: str) -> Sequence[str]:
    """Return what axe finds with these rules, by default all of them, one line for each element."""
    if not AXE.is_file():
        pytest.skip("the packages of the web UI are not installed: run scripts/ui check")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    run = "(options) => axe.run(document, options).then((found) => found.violations)"
    found: list[dict[str, Any]] = page.evaluate(run, options)
    return [
        f"{rule['id']}: {json.dumps(node['target'])} {node['html'][:160]} {node['failureSummary'][:220]}"
        for rule in found
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
    ]
