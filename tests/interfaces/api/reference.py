"""Generates the tables of docs/reference/http-api.md from the table of routes.

python -m tests.interfaces.api.reference    writes them into the page
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from foliot.interfaces.api.openapi import openapi_document
from foliot.interfaces.api.resources.all import ROUTES
from foliot.interfaces.api.route import Route

PAGE = Path(__file__).parents[3] / "docs/reference/http-api.md"
BEGIN = "<!-- routes: python -m tests.interfaces.api.reference -->\n"
END = "<!-- end of routes -->\n"


def tables() -> str:
    paths = openapi_document(ROUTES)["paths"]
    return "\n".join(
        "".join([f"## {tag.capitalize()}\n\n", "| route | role | meaning |\n|---|---|---|\n", *rows(group, paths)])
        for tag, group in groupby(ROUTES, key=lambda route: route.tag)
    )


def rows(routes: Iterator[Route], paths: dict[str, Any]) -> Iterator[str]:
    for route in routes:
        operation = paths[route.path][route.method.lower()]
        query = [one["name"] for one in operation["parameters"] if one["in"] == "query"]
        body = list(properties(route))
        more = f" Query: {names(query)}." if query else ""
        more += f" Body: {names(body)}." if body else ""
        yield f"| `{route.method} {route.path}` | {route.role} | {route.summary}{more} |\n"


def properties(route: Route) -> Iterator[str]:
    fields = getattr(route.body, "__struct_fields__", None)
    if fields is not None:
        yield from fields


def names(given: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in given)


def written(page: str) -> str:
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{tables()}\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
