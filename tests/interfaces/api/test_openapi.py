"""The description of the API equals the router."""

import re

import msgspec

from foliot.interfaces.api.openapi import openapi_document
from foliot.interfaces.api.resources import all as resources
from foliot.interfaces.api.resources.all import ROUTES
from tests.interfaces.api.reference import PAGE, written
from tests.interfaces.api.serving import Client
from tests.interfaces.api.typescript import FILE, types
from tests.interfaces.conftest import Call


async def test_the_document_has_exactly_the_routes_of_the_router(api: Client) -> None:
    document = (await api.get("/api/openapi.json")).json

    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in ROUTES}
    assert document["openapi"] == "3.1.0"
    for route in ROUTES:
        found = ROUTES.find(route.path)
        assert found is not None
        assert found.methods[route.method] is route


def test_every_reference_of_the_document_exists() -> None:
    document = openapi_document(ROUTES)
    text = msgspec.json.encode(document).decode()

    named = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert named <= document["components"]["schemas"].keys()


def test_every_operation_has_a_unique_name_a_role_and_a_summary() -> None:
    names = [route.name for route in ROUTES]

    assert len(set(names)) == len(names)
    assert all(route.summary.endswith(".") for route in ROUTES)


def test_every_module_of_resources_is_loaded() -> None:
    assert {route.handler.__module__ for route in ROUTES} == {module.__name__ for module in resources.MODULES}


async def test_the_page_loads_nothing_from_elsewhere(api: Client) -> None:
    page = await api.get("/api/docs")

    text = page.content.decode()
    assert page.headers["Content-Type"].startswith("text/html")
    assert not re.search(r"<script|<link|<img|src=|url\(|https?://", text)
    assert "style-src 'sha256-" in page.headers["Content-Security-Policy"]
    assert all(route.path in text for route in ROUTES)
    assert "Development mode" in text


def test_the_reference_page_is_generated_from_the_routes() -> None:
    text = PAGE.read_text()

    assert written(text) == text, "make the tables anew with: python -m tests.interfaces.api.reference"


def test_the_types_of_the_web_ui_are_generated_from_the_routes() -> None:
    assert FILE.read_text() == types(), "generate them anew with: python -m tests.interfaces.api.typescript"


def test_the_command_lists_every_route_with_its_role(call: Call) -> None:
    called = call("routes", "--json")

    assert {(one["method"], one["path"], one["role"]) for one in called.objects} == {
        (route.method, route.path, route.role) for route in ROUTES
    }
    assert "/api/jobs/{job_id}/run" in call("routes").out
