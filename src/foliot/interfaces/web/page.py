"""The page of the web UI. Each answer has its own nonce, for the style elements that the page makes."""

from collections.abc import Mapping
from html import escape
from typing import Final

_BASE: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
_OWN: Final = "connect-src 'self'; font-src 'self'; img-src 'self'; script-src 'self'; worker-src 'self'"
_NOT_BUILT: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Foliot</title>
<h1>Foliot</h1>
<p>This installation has no web UI: it was installed with <code>FOLIOT_UI=skip</code>, or runs from a source tree.</p>
<p>Build it with <code>python hatch_build.py</code> in the source tree, or install the package again without
<code>FOLIOT_UI=skip</code>, and start the server again.</p>
<p>The HTTP API works: <a href="{base}/api/docs">its routes</a>.</p></html>
"""


def web_page(index: str | None, base_path: str, nonce: str) -> str:
    """Return the page for a base path. `index`: the built page; None: the UI was not built."""
    base = escape(base_path)
    if index is None:
        return _NOT_BUILT.format(base=base)
    # The build writes the addresses of its files as ./assets/..., and leaves these two values empty.
    return (
        index.replace('="./', f'="{base}/')
        .replace('name="base-path" content=""', f'name="base-path" content="{base}"')
        .replace('name="csp-nonce" content=""', f'name="csp-nonce" content="{escape(nonce)}"')
    )


def page_headers(nonce: str) -> Mapping[str, str]:
    return {"Content-Security-Policy": f"{_BASE}; {_OWN}; style-src 'self' 'nonce-{nonce}'"}


ASSET_HEADERS: Final[Mapping[str, str]] = {
    # The name of a file contains the digest of its content.
    "Cache-Control": "public, max-age=31536000, immutable",
    # The policy of a worker is that of its own file, and it connects to the stream of events.
    "Content-Security-Policy": f"{_BASE}; connect-src 'self'",
    "Vary": "Accept-Encoding",
}
PLAIN_HEADERS: Final[Mapping[str, str]] = {"Cache-Control": "no-cache"}
"""The headers of files without a digest in their name: the icon."""
