"""The description of all routes as one page of HTML. It loads nothing from elsewhere and contains no script."""

from base64 import b64encode
from hashlib import sha256
from html import escape
from itertools import groupby
from typing import Final

import msgspec

import foliot
from foliot.interfaces.api.openapi import openapi_document
from foliot.interfaces.api.route import Route, Routes

_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1d2430;
       background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5d9e0; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { background: #f4f5f8; padding: .75rem; overflow-x: auto; border-radius: .25rem; }
summary { cursor: pointer; padding: .25rem 0; } details { border-bottom: 1px solid #eef0f3; }
.method { display: inline-block; width: 4.5rem; font-weight: 600; } .role { color: #5b6472; float: right; }
td, th { text-align: left; padding: .1rem 1rem .1rem 0; vertical-align: top; }
.note { background: #fff4d6; padding: .75rem; border-radius: .25rem; }
@media (prefers-color-scheme: dark) {
  body { background: #14171d; color: #dfe3ea; } pre { background: #1f242d; } .note { background: #4a3b10; }
  h2, details { border-color: #2c333f; } .role { color: #9aa4b5; } a { color: #8ab4f8; }
}
"""
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    f"style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
)


def docs_page(routes: Routes, *, is_development: bool) -> str:
    """Return the page. `is_development`: the server is in development mode."""
    document = openapi_document(routes)
    note = (
        "<p class=note>Development mode: requests from this machine need no credentials.</p>" if is_development else ""
    )
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Foliot API</title><style>{_STYLE}</style>",
        f"<h1>Foliot API {escape(foliot.__version__)}</h1>{note}",
        "<p>Bodies and answers are JSON. Errors have the form "
        "<code>{&quot;error&quot;: {code, message, hint, field, request_id}}</code>. Lists have pages: pass "
        "<code>next</code> of an answer as <code>cursor</code>. The same as "
        "<a href=openapi.json>OpenAPI 3.1</a>.</p>",
    ]
    for tag, group in groupby(routes, key=lambda route: route.tag):
        parts.append(f"<h2>{escape(tag.capitalize())}</h2>")
        parts += [_route(route, document["paths"][route.path][route.method.lower()]) for route in group]
    schemas = msgspec.json.format(msgspec.json.encode(document["components"]["schemas"]), indent=2).decode()
    parts.append(f"<h2>Types</h2><details><summary>All types as JSON Schema</summary><pre>{escape(schemas)}</pre>")
    return "\n".join([*parts, "</details></html>"])


def _route(route: Route, operation: dict[str, object]) -> str:
    shown = {name: operation[name] for name in ("parameters", "requestBody", "responses") if operation.get(name)}
    details = msgspec.json.format(msgspec.json.encode(shown), indent=2).decode()
    return (
        f"<details><summary><span class=role>{escape(route.role)}</span>"
        f"<span class=method>{route.method}</span> <code>{escape(route.path)}</code><br>{escape(route.summary)}"
        f"</summary><pre>{escape(details)}</pre></details>"
    )
