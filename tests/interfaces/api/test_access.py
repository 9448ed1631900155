"""Who may call what: every route with every role, spellings of paths, hosts and origins."""

import asyncio
from collections.abc import Iterator

import pytest

from foliot.domain.access.principal import Principal, PrincipalKind
from foliot.domain.access.role import PEOPLE, Permission, Role
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.resources.all import ROUTES
from foliot.interfaces.api.route import PUBLIC, Route, Routes
from foliot.service.services import Services
from tests.cases import for_each
from tests.interfaces.api.serving import TRIGGER, Client, RoleAccess, serving

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
PUBLIC_ROUTES = {"/healthz", "/readyz", "/api/login", "/api/workers/join"}
LEAST_ROLES = {
    Permission.REPORT: "run",
    Permission.READ: Role.VIEWER,
    Permission.OPERATE: Role.OPERATOR,
    Permission.EDIT: Role.EDITOR,
    Permission.ADMINISTER: Role.ADMIN,
    Permission.WORK: Role.WORKER,
}
RUNS_CODE = {
    *("create_job", "put_job", "delete_job", "deploy_workflow", "put_workflow", "delete_workflow"),
    *("upsert_schedule", "delete_schedule", "apply_definitions", "import_crontab_text"),
}
"""Every route that can change what workers execute."""


def filled(route: Route) -> str:
    """Return the path of a route with values for its parameters. The job is that of the trigger token."""
    values = dict.fromkeys(route.parameters, "nothing") | dict.fromkeys({route.job_parameter} - {""}, "report")
    return route.path.format(**values)


def paths() -> Iterator[str]:
    yield from dict.fromkeys(map(filled, ROUTES))


@pytest.mark.proves("Z1", "Z3")
async def test_every_method_of_every_path_needs_credentials(guarded: Client) -> None:
    for path in paths():
        for method in METHODS:
            answer = await guarded.send(method, path)
            is_known = any(filled(route) == path and route.method == method for route in ROUTES)
            if path in PUBLIC_ROUTES or (method in ("GET", "HEAD") and path in PUBLIC_ROUTES):
                continue
            assert answer.status in ((401,) if is_known else (401, 405)), (method, path)
            if answer.status == 401 and method != "HEAD":
                assert answer.error["code"] == "unauthenticated"
                assert "Bearer" in answer.headers["WWW-Authenticate"]


@pytest.mark.proves("Z1")
def test_only_the_probes_and_the_login_are_public() -> None:
    assert {route.path for route in ROUTES if route.permission == PUBLIC} == PUBLIC_ROUTES


@pytest.mark.proves("Z4")
@pytest.mark.parametrize("role", [*PEOPLE, Role.WORKER])
async def test_each_role_may_call_the_routes_of_its_permissions(guarded: Client, role: Role) -> None:
    for route in ROUTES:
        if route.permission == PUBLIC or route.streams:
            continue
        answer = await guarded.send(route.method, filled(route), authorization=f"Bearer {role}")
        is_allowed = role.may(route.permission)
        assert (answer.status == 403) is not is_allowed, (role, route.name, answer.json)
        assert answer.status != 401
        assert answer.status < 500 or route.name == "get_doctor", (route.name, answer.json)


@pytest.mark.proves("Z3", "Z4")
@pytest.mark.parametrize("route", [route for route in ROUTES if route.streams], ids=lambda route: route.name)
async def test_streams_have_the_same_roles(guarded: Client, route: Route) -> None:
    refused = await guarded.get(filled(route), authorization="Bearer worker")
    async with guarded.stream("/api/events", authorization="Bearer viewer") as frames:
        allowed = frames.answer.status

    assert (refused.status, allowed) == (403, 200)


@pytest.mark.proves("Z4")
def test_what_runs_code_needs_the_permission_to_edit() -> None:
    editing = {route.name for route in ROUTES if route.permission is Permission.EDIT}
    changing = {route.name for route in ROUTES if route.method in ("PUT", "DELETE") or route.body in (dict, bytes)}

    assert editing == RUNS_CODE
    assert changing <= RUNS_CODE | {
        "put_dsn",
        "delete_dsn",
        "revoke_token",
        "set_password",
        "remove_user",
        "remove_enrolment",
    }


def test_each_permission_has_its_least_role() -> None:
    for route in ROUTES:
        if route.permission != PUBLIC:
            assert route.role == LEAST_ROLES[route.permission]


async def test_a_trigger_token_starts_its_job_and_nothing_else(guarded: Client) -> None:
    for job in ("report", "other"):
        await guarded.put(f"/api/jobs/{job}", {"command": "true"}, authorization="Bearer editor")

    allowed = [
        route.name
        for route in ROUTES
        if route.permission != PUBLIC
        and not route.streams
        and (await guarded.send(route.method, filled(route), authorization=f"Bearer {TRIGGER}")).status != 403
    ]
    other = await guarded.post("/api/jobs/other/run", authorization=f"Bearer {TRIGGER}")

    assert allowed == ["run_job", "start_workflow"]
    assert other.status == 403


def test_a_route_without_a_permission_cannot_be_declared() -> None:
    routes = Routes()

    async def handler(call: Call) -> None: ...

    with pytest.raises(TypeError, match="permission"):
        routes.get("/x", summary="x")(handler)
    with pytest.raises(TypeError, match="permission"):
        routes.get("/x", permission=None, summary="x")(handler)
    assert not list(routes)


def test_a_handler_takes_the_parameters_of_its_path() -> None:
    async def handler(call: Call, other: str) -> None: ...

    with pytest.raises(TypeError, match="must take call, job_id"):
        Routes().get("/jobs/{job_id}", permission=Permission.READ, summary="x")(handler)


def test_a_route_is_declared_once() -> None:
    routes = Routes()

    async def handler(call: Call) -> None: ...

    routes.get("/x", permission=Permission.READ, summary="x")(handler)
    with pytest.raises(TypeError, match="twice"):
        routes.get("/x", permission=Permission.READ, summary="x")(handler)


TRICKS = (
    *("/API/jobs", "/api/JOBS", "//api/jobs", "/api//jobs", "/./api/jobs", "/api/./jobs", "/x/../api/jobs"),
    *("/api/jobs/", "/api/jobs;x", "/api/jobs;/../healthz", "/api/%2e%2e/api/jobs", "/api%2fjobs", "/api/jobs%00"),
    *("/api/jobs/x%2frun", "/api/jobs/%2e%2e/runs", "/healthz/../api/jobs", "/healthz/api/jobs", "/api/jobs/health"),
    *("/api/jobs/ready", "/api/jobs/configs", "/api/jobs/x.js", "/api/jobs/x.css", "/api/jobs/login"),
    *("/api/jobs/static", "/api/jobs?token=admin", "/api/jobs?access_token=admin", "/healthz%2f..%2fapi/jobs"),
    *("/api\\jobs", "/api/jobs/../../healthz", "/%61pi/jobs", "/api/jobs#/healthz"),
)


@pytest.mark.proves("Z2", "Z8")
async def test_no_spelling_of_a_path_avoids_the_credentials(guarded: Client) -> None:
    await guarded.put("/api/jobs/health", {"command": "true"}, authorization="Bearer editor")
    for target in TRICKS:
        for prefix in ("", guarded.base):
            status, body = await raw(guarded, f"GET {prefix}{target} HTTP/1.1")
            assert status in (400, 401, 404) or (status == 200 and body == b'{"status":"ok"}'), (target, status, body)


@pytest.mark.proves("Z2")
@for_each(
    "header",
    [
        *("X-Original-URL: /healthz", "X-Rewrite-URL: /healthz", "X-Forwarded-Prefix: /healthz"),
        *("X-HTTP-Method-Override: GET", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: localhost"),
        *("Authorization: Basic YWRtaW46YWRtaW4=", "Authorization: bearer", "Cookie: token=admin"),
    ],
)
def test_no_header_avoids_the_credentials(header: str) -> None:
    name, _, value = header.partition(": ")
    principal = asyncio.run(RoleAccess().authenticate({name.lower(): value}, "127.0.0.1"))

    assert principal is None


@pytest.mark.proves("Z2")
async def test_objects_named_like_probes_are_objects(guarded: Client) -> None:
    for name in ("health", "healthz", "ready", "configs", "login", "static", "run", "pause"):
        put = await guarded.put(f"/api/jobs/{name}", {"command": "true"}, authorization="Bearer editor")
        assert put.json["id"] == name
        assert (await guarded.get(f"/api/jobs/{name}")).status == 401


async def raw(client: Client, line: str, *headers: str, body: bytes = b"") -> tuple[int, bytes]:
    """Send a request as it is written, and return the status and the body of the answer."""
    host, _, port = client.base.removeprefix("http://").partition("/")[0].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = [line, *(headers or (f"Host: {host}:{port}",)), "Connection: close", f"Content-Length: {len(body)}"]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    answer = await reader.read()
    writer.close()
    head, _, content = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), content


# -- development mode


@pytest.mark.proves("Z49")
@pytest.mark.parametrize("host", ["evil.example", "evil.example:7070", "localhost.evil.example", "127.0.0.1.evil", "x"])
async def test_a_request_for_another_host_is_refused(api: Client, host: str) -> None:
    body = b'{"id": "owned", "command": "true"}'
    sent = (f"Host: {host}", "Content-Type: application/json")

    status, answer = await raw(api, "POST /api/jobs HTTP/1.1", *sent, body=body)
    read, _ = await raw(api, "GET /api/jobs HTTP/1.1", f"Host: {host}")

    assert (status, read) == (421, 421)
    assert b"wrong_host" in answer
    assert (await api.get("/api/jobs")).json["items"] == []


@pytest.mark.parametrize("host", ["localhost", "localhost:1234", "127.0.0.1:7070", "[::1]:7070", "LOCALHOST"])
async def test_loopback_names_are_allowed(api: Client, host: str) -> None:
    assert (await raw(api, "GET /api/jobs HTTP/1.1", f"Host: {host}"))[0] == 200


async def test_a_request_with_two_hosts_is_refused(api: Client) -> None:
    assert (await raw(api, "GET /api/jobs HTTP/1.1", "Host: localhost", "Host: evil.example"))[0] == 400


async def test_a_request_without_a_host_is_refused(api: Client) -> None:
    assert (await raw(api, "GET /api/jobs HTTP/1.0", "X-Nothing: 1"))[0] == 400


@pytest.mark.proves("Z11", "Z12")
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
async def test_a_page_of_another_site_changes_nothing(api: Client, headers: dict[str, str]) -> None:
    refused = await api.post("/api/jobs", {"id": "owned", "command": "true"}, **headers)
    deleted = await api.delete("/api/jobs/owned", **headers)

    assert (refused.status, refused.error["code"], deleted.status) == (403, "csrf", 403)
    assert not [name for name in refused.headers if name.lower().startswith("access-control")]
    assert (await api.get("/api/jobs")).json["items"] == []


@pytest.mark.proves("Z11")
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""])
async def test_a_form_changes_nothing(api: Client, kind: str) -> None:
    refused = await api.send("POST", "/api/jobs", b'{"id": "owned", "command": "true"}', content_type=kind)

    assert refused.status == 415
    assert (await api.get("/api/jobs")).json["items"] == []


async def test_a_page_of_this_server_may_change_something(api: Client) -> None:
    sent = {"origin": api.base, "sec_fetch_site": "same-origin"}

    assert (await api.post("/api/jobs", {"id": "mine", "command": "true"}, **sent)).status == 201


async def test_every_answer_says_that_the_server_is_in_development_mode(api: Client, guarded: Client) -> None:
    for path in ("/api/jobs", "/healthz", "/nothing", "/api/docs"):
        assert (await api.get(path)).headers["X-Foliot-Mode"] == "development"
        assert "X-Foliot-Mode" not in (await guarded.get(path)).headers


@pytest.mark.proves("Z49")
async def test_a_configured_address_is_the_only_host(services: Services) -> None:
    async with serving(services, RoleAccess(), public_url="https://jobs.example") as client:
        sent = "Authorization: Bearer viewer"
        allowed, _ = await raw(client, "GET /api/jobs HTTP/1.1", "Host: jobs.example", sent)
        refused, _ = await raw(client, "GET /api/jobs HTTP/1.1", "Host: evil.example", sent)

    assert (allowed, refused) == (200, 421)


@pytest.mark.proves("Z13")
@pytest.mark.parametrize("path", ["/api/jobs", "/api/docs", "/nothing", "/healthz", "/api/openapi.json"])
async def test_every_answer_has_the_headers_that_browsers_need(api: Client, path: str) -> None:
    headers = (await api.get(path)).headers

    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Server" not in headers


async def test_the_api_is_served_below_a_path(services: Services) -> None:
    async with serving(services, base_path="/foliot") as client:
        inside = await client.get("/api/jobs")
        outside, _ = await raw(client, "GET /api/jobs HTTP/1.1")

    assert (inside.status, outside) == (200, 404)


def test_a_principal_with_scopes_has_no_other_permission() -> None:
    route = next(route for route in ROUTES if route.name == "run_job")
    anyone = Principal(kind=PrincipalKind.TOKEN, name="x")

    assert not route.allows(anyone, {"job_id": "report"})
