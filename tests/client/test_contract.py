"""The client and the router of the HTTP API agree: each method calls a route, and expects the type of its answer."""

import inspect
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from starlette.responses import Response

from foliot.client import AsyncClient, Client
from foliot.client.frames import Frame
from foliot.client.request import Request
from foliot.interfaces.api.reading import read_query
from foliot.interfaces.api.resources.all import ROUTES
from tests.config.blocking_client import BLOCKING, NAMES, generated

RESOURCES = (
    *("jobs", "schedules", "ticks", "runs", "workflows", "executions", "chains"),
    *("definitions", "enrolments", "dsns", "users", "tokens", "audit", "server"),
)
METHODS = [
    (resource, name)
    for resource in RESOURCES
    for name, _ in inspect.getmembers(getattr(AsyncClient(), resource), inspect.isroutine)
    if not name.startswith("_")
]
REQUIRED: dict[str, Any] = {"document": {"id": "a"}, "expr": "@daily"}


class Recorded(Exception):
    """The request of a method, instead of an answer."""

    def __init__(self, request: Request[Any]) -> None:
        super().__init__(request.path)
        self.request = request


class Recorder:
    async def send(self, request: Request[Any]) -> Any:
        raise Recorded(request)

    async def follow(self, path: str, last_id: str = "") -> AsyncIterator[Frame]:
        raise Recorded(Request(method="GET", path=path, kind=bytes))
        yield


async def request_of(resource: str, name: str) -> Request[Any]:
    client = AsyncClient()
    found = getattr(client, resource)
    found._transport = Recorder()
    method = getattr(found, name)
    needed = [
        REQUIRED.get(one.name, "some-id")
        for one in inspect.signature(method).parameters.values()
        if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    result = method(*needed)
    with pytest.raises(Recorded) as recorded:
        await (anext(result) if inspect.isasyncgen(result) else result)
    return recorded.value.request


@pytest.mark.parametrize(("resource", "name"), METHODS)
async def test_each_method_calls_a_route_and_expects_its_answer(resource: str, name: str) -> None:
    request = await request_of(resource, name)

    path, _, query = request.path.partition("?")
    found = ROUTES.find(path)
    assert found is not None
    route = found.methods[request.method]
    read_query(route, query.encode())
    assert request.kind is bytes if route.answer is Response else request.kind == route.answer
    assert request.is_keyed == (request.method == "POST" and route.is_repeatable)
    if route.body is not None:
        assert request.body is not None
        msgspec.json.decode(request.body, type=route.body)


@pytest.mark.parametrize("name", NAMES)
def test_the_blocking_methods_are_generated(name: str) -> None:
    assert (BLOCKING / f"{name}.py").read_text() == generated(name), "run: python -m tests.config.blocking_client"


@pytest.mark.parametrize(("resource", "name"), METHODS)
def test_both_clients_have_the_same_methods(resource: str, name: str) -> None:
    blocking = getattr(getattr(Client(), resource), name)
    asynchronous = getattr(getattr(AsyncClient(), resource), name)

    assert inspect.signature(blocking).parameters == inspect.signature(asynchronous).parameters
    assert blocking.__doc__.split() == asynchronous.__doc__.split()
