"""Watches what a page must never do: open a dialog, break its own policy, throw, or leave the machine."""

from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request

# Runs before the page does. `alarm` is what the texts of test_hostile_text.py would call.
SCRIPT: Final = """
window.faults = [];
window.alarm = (what) => window.faults.push("a text ran as a script: " + what);
document.addEventListener("securitypolicyviolation", (event) =>
  window.faults.push("refused by the policy: " + event.violatedDirective + " " + event.blockedURI +
    " at " + event.sourceFile + ":" + event.lineNumber + ":" + event.columnNumber + " " + event.sample));
"""
HARMLESS: Final = ("Failed to load resource", "net::ERR_")
"""Chromium's own words about an answer that is an error, or about a server that is stopped."""


class Watch:
    """Collects the faults of all pages of a context."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self._context = context
        self._host = urlsplit(url).netloc
        self._seen: list[str] = []
        context.add_init_script(SCRIPT)
        context.on("request", self._on_request)
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self._seen.append(f"the page threw {error.error}"))
        context.on("dialog", self._on_dialog)

    def faults(self) -> list[str]:
        return self._seen + [fault for page in self._context.pages for fault in own_faults(page)]

    def _on_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in {"data", "blob"} and address.netloc != self._host:
            self._seen.append(f"a request left the host: {request.url}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(text in message.text for text in HARMLESS):
            self._seen.append(f"the console shows an error: {message.text}")

    def _on_dialog(self, dialog: Dialog) -> None:
        self._seen.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()


def own_faults(page: Page) -> list[str]:
    found: list[str] = page.evaluate("window.faults ?? []")
    return found
