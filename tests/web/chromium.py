"""The browser of the tests: Debian's Chromium, without anything that it does on its own."""

import shutil
from typing import Final

PROGRAM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING: Final = "there is no Chromium: install Debian's package chromium, as scripts/test does"

ARGUMENTS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name is resolved: a request that leaves this machine fails.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
