"""Wrong input: each has its status, its code and its field, and is never an internal error."""

import asyncio
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.access.role import Permission
from foliot.errors import StorageUnavailable
from foliot.interfaces.api.access import StoredAccess
from foliot.interfaces.api.reading import plain_path
from foliot.interfaces.api.resources.all import ROUTES
from foliot.service.services import Services
from tests.interfaces.api.serving import Client, serving


@pytest.mark.proves("Z42")
async def test_a_body_above_the_limit_is_refused(api: Client) -> None:
    declared = await api.post("/api/jobs", b"x", content_length=str((1 << 20) + 1))

    assert (declared.status, declared.error["code"]) == (413, "too_large")


@pytest.mark.proves("Z42")
async def test_a_body_of_unknown_length_above_the_limit_is_refused(api: Client) -> None:
    async def chunks() -> object:
        for _ in range(40):
            yield b"x" * (1 << 16)

    sent = {"content-type": "application/json"}
    async with api.session.post(f"{api.base}/api/jobs", data=chunks(), headers=sent) as answer:
        assert answer.status == 413


@pytest.mark.proves("Z42")
@pytest.mark.parametrize("depth", [203, 1_000, 100_000])
async def test_deeply_nested_json_is_refused(api: Client, depth: int) -> None:
    await api.put("/api/jobs/x", {"command": "true"})

    body = b'{"payload": ' + b"[" * depth + b"]" * depth + b"}"
    refused = await api.post("/api/jobs/x/run", body)

    assert (refused.status, refused.error["code"]) == (400, "too_deep")


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff", b'{"a": NaN}', b"null", b""])
async def test_what_is_no_json_object_is_refused(api: Client, body: bytes) -> None:
    refused = await api.post("/api/jobs", body)

    assert refused.status in (400, 422)
    assert refused.error["code"] in ("invalid_json", "invalid_field")


@pytest.mark.proves("Z6")
@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"owner": "me"}, "unknown_field", "owner"),
        ({"payload": 1, "trigger": "schedule"}, "unknown_field", "trigger"),
        ({"run_at": "soon"}, "invalid_field", "run_at"),
        ({"dedupe_key": 7}, "invalid_field", "dedupe_key"),
        ({"options": {"nope": 1}}, "invalid_job", "nope"),
        ({"options": {"env": {}}}, "invalid_job", "env"),
        ({"run_at": "2026-01-01T00:00:00"}, "invalid_input", "run_at"),
    ],
)
async def test_a_wrong_field_is_named(api: Client, body: dict[str, object], code: str, field: str) -> None:
    await api.put("/api/jobs/x", {"command": "true"})

    refused = await api.post("/api/jobs/x/run", body)

    assert (refused.status, refused.error["code"], refused.error["field"]) == (422, code, field)


@pytest.mark.proves("Z18")
@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=-1", "limit=1e9", "limit=1001", "limit=x", "limit=1&limit=2", "sort=name", "cursor=%00"),
        *("status='+OR+1=1", "since=yesterday", "kind=nope", "children=maybe", "%FF=1", "a=%FF"),
    ],
)
async def test_a_wrong_parameter_is_refused(api: Client, query: str) -> None:
    refused = await api.get(f"/api/runs?{query}")

    assert refused.status in (400, 422), refused.json
    assert refused.error["code"] in ("invalid_field", "unknown_field", "invalid_cursor", "invalid_query")


async def test_another_method_is_not_allowed(api: Client) -> None:
    refused = await api.send("PATCH", "/api/jobs/x", {})

    assert (refused.status, refused.headers["Allow"]) == (405, "GET, PUT, DELETE, HEAD")


async def test_head_returns_the_headers_only(api: Client) -> None:
    answer = await api.send("HEAD", "/api/jobs")

    assert (answer.status, answer.content) == (200, b"")


async def test_a_compressed_body_is_refused(api: Client) -> None:
    refused = await api.post("/api/jobs", b"\x1f\x8b", content_encoding="gzip")

    assert refused.status == 415


@pytest.mark.proves("Z42")
async def test_endless_headers_close_the_connection(api: Client) -> None:
    host, _, port = api.base.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /api/jobs HTTP/1.1\r\nX-Endless: ")
    with suppress(ConnectionError):
        for _ in range(200):
            writer.write(b"x" * 10_000)
            await writer.drain()
        assert (await reader.read()).startswith(b"HTTP/1.1 431 ")
    writer.close()
    assert (await api.get("/api/jobs")).status == 200


async def sent(api: Client, request: bytes) -> bytes:
    """Send some bytes, and return what the server sends until it closes the connection."""
    host, _, port = api.base.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.proves("Z16")
@pytest.mark.parametrize(
    "request_", [b"hello\r\n\r\n", b"\x16\x03\x01", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"]
)
async def test_what_is_not_http_is_refused_as_json_and_not_logged(
    api: Client, request_: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    head, _, content = (await sent(api, request_)).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(content)["error"]["code"] == "invalid_request"
    assert caplog.records == []


@pytest.mark.proves("Z42")
@pytest.mark.parametrize("begun", [b"", b"GET /api/jobs HTTP/1.1\r\nHost: "])
async def test_a_connection_that_sends_no_request_is_closed(
    services: Services, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foliot.interfaces.api.listener._LONGEST_HEAD", 0.01)

    async with serving(services) as api:
        assert await sent(api, begun) == b""


@pytest.mark.proves("Z42")
async def test_a_body_that_does_not_end_is_refused(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foliot.interfaces.api.reading._LONGEST_BODY", 0.01)
    head = b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

    answer = await sent(api, head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n")

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"request_timeout" in answer


async def test_a_step_that_was_approved_cannot_be_approved_again(working: Client) -> None:
    await working.put("/api/workflows/w", {"steps": [{"name": "ask", "approve": True}]})
    execution = (await working.post("/api/workflows/w/start", {})).json["id"]
    path = f"/api/executions/{execution}/steps/ask/approve"
    while (first := await working.post(path)).status == 409:
        await asyncio.sleep(0.01)

    second = await working.post(path)

    assert first.status == 200
    assert (second.status, second.error["code"]) == (409, "wrong_state")


@pytest.mark.proves("O3")
async def test_the_probes_answer_without_a_database(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StorageUnavailable("no connection")

    async with serving(services, StoredAccess(services, may_be_development=True)) as client:
        monkeypatch.setattr(type(services.tokens), "page", fail)
        monkeypatch.setattr(type(services.queries.events), "newest", fail)
        live, ready = await client.get("/healthz"), await client.get("/readyz")

    assert (live.status, live.json) == (200, {"status": "ok"})
    assert (ready.status, ready.json) == (503, {"status": "storage unavailable"})


@pytest.mark.proves("Z54")
async def test_an_error_of_the_storage_shows_no_internals(
    api: Client, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StorageUnavailable("connection to 10.0.0.7 as admin failed", hint="see /var/lib/db")

    monkeypatch.setattr(type(services.queries.runs), "get", fail)
    answer = await api.get("/api/runs/x")

    assert (answer.status, answer.error["code"]) == (503, "storage_unavailable")
    assert b"10.0.0.7" not in answer.content
    assert b"/var/lib" not in answer.content


@pytest.mark.proves("O1")
async def test_an_unexpected_error_has_an_id_that_is_in_the_log(
    api: Client, services: Services, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(type(services.queries.runs), "get", fail)
    answer = await api.get("/api/runs/x")

    assert (answer.status, answer.error["code"]) == (500, "internal")
    assert b"secret detail" not in answer.content
    assert answer.error["request_id"] == answer.headers["X-Request-Id"]
    assert answer.error["request_id"] in {getattr(record, "request", "") for record in caplog.records}


@pytest.mark.proves("Z17")
@given(st.binary(max_size=20))
def test_only_names_are_accepted_in_paths(raw: bytes) -> None:
    path = b"/api/jobs/" + raw
    text = path.decode("latin-1")

    if plain_path(path, text):
        assert all(char.isascii() and (char.isalnum() or char in "_.:@/-%") for char in text)
        assert ".." not in text.split("/")
        assert "//" not in text


@pytest.mark.proves("Z16")
async def test_a_log_line_of_a_request_has_no_query(api: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="foliot.api")

    await api.get("/api/jobs?limit=5&cursor=secret")

    [record] = [record for record in caplog.records if record.message == "request"]
    assert "secret" not in str(record.__dict__)


async def test_each_example_of_the_documentation_is_accepted(api: Client) -> None:
    await api.put("/api/jobs/backup", {"command": "true"})
    await api.put("/api/workflows/etl", {"steps": [{"name": "only", "command": "true"}]})
    await api.post("/api/schedules/upsert", {"schedule_id": "nightly", "job_id": "backup", "cron": "@daily"})
    run_id = (await api.post("/api/jobs/backup/run", {"delay": 3600})).json["id"]
    await api.post(f"/api/runs/{run_id}/cancel")
    await api.post("/api/workers/register", {"name": "shop", "version": "1.2.3"})
    values = {"job_id": "backup", "workflow_id": "etl", "schedule_id": "nightly", "run_id": run_id, "name": "shop"}
    for route in ROUTES:
        for body in route.examples:
            if route.name in ("report_launch", "rerun_execution", "reset_chain_class", "ask_channel", "join_worker"):
                continue  # they need a launched run, an ended execution, a class of chains, a token, an invitation
            if route.permission is Permission.WORK and route.name != "register_worker":
                continue  # they need a worker: docs/reference/worker-protocol.md has examples of real requests
            answer = await api.send(route.method, route.path.format(**values, execution_id="x", step="x"), body)
            assert answer.status < 300, (route.name, answer.json)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/ticks?since=", "since"),
        ("/api/runs?until=", "until"),
        ("/api/verify?since=", "since"),
        ("/api/explain?schedule=x&at=", "at"),
        ("/api/cron/explain?expr=@daily&start=", "start"),
        ("/api/schedules/x/ledger?until=", "until"),
    ],
)
async def test_a_time_without_an_offset_is_refused(api: Client, path: str, field: str) -> None:
    answer = await api.get(f"{path}2026-01-01T00:00:00")

    assert (answer.status, answer.error["field"]) == (422, field)
    assert "has no timezone" in answer.error["message"]
    assert "offset" in answer.error["hint"]


async def test_an_execution_that_waits_for_a_coordinator_is_no_unknown_one(api: Client) -> None:
    await api.put("/api/workflows/w", {"steps": [{"name": "only", "command": "true"}]})
    execution = (await api.post("/api/workflows/w/start", {})).json["id"]

    waiting = await api.get(f"/api/executions/{execution}")
    unknown = await api.get("/api/executions/nope")

    assert (waiting.status, waiting.error["code"]) == (409, "wrong_state")
    assert "has not begun: its run is queued" in waiting.error["message"]
    assert unknown.status == 404
