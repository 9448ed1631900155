"""Wrong input: each has its status, its code and its field, and is never an internal error."""

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        assert await reader.read() == b""
    writer.close()
    assert (await api.get("/api/jobs")).status == 200


@pytest.mark.proves("O3")
async def test_the_probes_answer_without_a_database(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StorageUnavailable("no connection")

    async with serving(services, StoredAccess(services, may_be_open=True)) as client:
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
    values = {"job_id": "backup", "workflow_id": "etl", "schedule_id": "nightly", "run_id": run_id, "name": "shop"}
    for route in ROUTES:
        for body in route.examples:
            if route.name in ("report_launch", "rerun_execution", "reset_chain_class"):
                continue  # they need a launched run, an ended execution, or a class of chains
            answer = await api.send(route.method, route.path.format(**values, execution_id="x", step="x"), body)
            assert answer.status < 300, (route.name, answer.json)
