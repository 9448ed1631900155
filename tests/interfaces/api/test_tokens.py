"""Tokens, idempotency keys and the audit trail by HTTP."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from foliot import Foliot
from foliot.domain.access.request import StoredAnswer
from foliot.interfaces.api import streams
from foliot.interfaces.api.access import StoredAccess
from foliot.service.services import Services
from tests.interfaces.api.serving import Client, serving


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


@pytest.mark.proves("Z7")
async def test_a_token_opens_the_routes_of_its_role(services: Services) -> None:
    viewer = (await services.tokens.create(role="viewer")).secret
    async with serving(services, StoredAccess(services, may_be_development=True)) as client:
        read = await client.get("/api/jobs", **bearer(viewer))
        edit = await client.put("/api/jobs/x", {"command": "true"}, **bearer(viewer))
        none = await client.get("/api/jobs")
        wrong = await client.get("/api/jobs", **bearer(viewer[:-1] + "0"))

    assert (read.status, edit.status, none.status, wrong.status) == (200, 403, 401, 401)


@pytest.mark.proves("Z8")
async def test_a_token_in_the_url_is_not_read(services: Services) -> None:
    admin = (await services.tokens.create(role="admin")).secret
    async with serving(services, StoredAccess(services, may_be_development=True)) as client:
        for name in ("token", "access_token"):
            assert (await client.get(f"/api/jobs?{name}={admin}")).status == 401


async def test_development_mode_ends_at_once_with_the_first_token(services: Services) -> None:
    async with serving(services, StoredAccess(services, may_be_development=True)) as client:
        before = await client.get("/api/jobs")
        created = await client.post("/api/tokens", {"role": "admin", "name": "ops"})
        after = await client.get("/api/jobs")
        await client.delete("/api/tokens/ops", **bearer(created.json["secret"]))
        revoked = await client.get("/api/jobs")

    assert (before.status, after.status, revoked.status) == (200, 401, 401)
    assert before.headers["X-Foliot-Mode"] == "development"
    assert "X-Foliot-Mode" not in after.headers


async def test_tokens_are_created_listed_and_revoked(api: Client) -> None:
    created = await api.post("/api/tokens", {"role": "viewer", "name": "dashboard"})
    listed = await api.get("/api/tokens")
    await api.delete("/api/tokens/dashboard")

    assert created.status == 201
    assert created.json["secret"].startswith(created.json["prefix"])
    assert [token["name"] for token in listed.json["items"]] == ["dashboard"]
    assert created.json["secret"].encode() not in listed.content
    assert (await api.get("/api/tokens")).json["items"] == []
    assert [token["state"] for token in (await api.get("/api/tokens?revoked=true")).json["items"]] == ["revoked"]
    assert (await api.delete("/api/tokens/nope")).status == 404


@pytest.mark.proves("Z9")
async def test_many_wrong_tokens_are_refused_for_a_while(services: Services) -> None:
    secret = (await services.tokens.create(role="viewer")).secret
    stored = StoredAccess(services, may_be_development=False)
    async with serving(services, stored) as client:
        statuses = [(await client.get("/api/jobs", **bearer("wrong"))).status for _ in range(31)]
        limited = await client.get("/api/jobs", **bearer("wrong"))
    elsewhere = await stored.authenticate(bearer(secret), "192.0.2.1")

    assert statuses == [*[401] * 30, 429]
    assert int(limited.headers["Retry-After"]) > 0
    assert elsewhere is not None


@pytest.mark.proves("Z3")
async def test_a_stream_ends_when_its_token_is_revoked(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.01)
    created = await services.tokens.create(role="viewer", name="watcher")
    async with (
        serving(services, StoredAccess(services, may_be_development=False)) as client,
        client.stream("/api/events", **bearer(created.secret)) as frames,
    ):
        await frames.answer.content.readline()
        await services.tokens.revoke("watcher")

        assert [frame async for frame in frames] == []


async def test_an_expired_token_is_refused(services: Services) -> None:
    soon = datetime.now(UTC) + timedelta(milliseconds=50)
    secret = (await services.tokens.create(role="viewer", expires=soon)).secret
    async with serving(services, StoredAccess(services, may_be_development=False)) as client:
        while (await client.get("/api/jobs", **bearer(secret))).status == 200:
            await asyncio.sleep(0.01)
        assert (await client.get("/api/jobs", **bearer(secret))).status == 401


# -- idempotency keys


@pytest.mark.proves("A1")
async def test_a_repeated_request_gets_the_first_answer(api: Client) -> None:
    await api.put("/api/jobs/x", {"command": "true"})
    body = {"payload": 1, "delay": 3600}

    first = await api.post("/api/jobs/x/run", body, idempotency_key="k1")
    again = await api.post("/api/jobs/x/run", body, idempotency_key="k1")
    other = await api.post("/api/jobs/x/run", body, idempotency_key="k2")

    assert (again.status, again.content) == (first.status, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert other.json["id"] != first.json["id"]
    assert len((await api.get("/api/runs")).json["items"]) == 2


@pytest.mark.proves("A1")
@pytest.mark.parametrize(
    ("path", "body", "listed"),
    [
        ("/api/jobs", {"command": "true"}, "/api/jobs"),
        ("/api/schedules/upsert", {"job_id": "x", "every": 3600}, "/api/schedules"),
        ("/api/jobs/x/run", {"delay": 3600}, "/api/runs"),
        ("/api/workflows/w/start", {}, "/api/runs"),
    ],
)
async def test_a_request_that_lost_its_answer_creates_nothing_twice(
    api: Client, services: Services, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, object], listed: str
) -> None:
    await api.put("/api/jobs/x", {"command": "true"})
    await api.put("/api/workflows/w", {"steps": [{"name": "only", "command": "true"}]})
    before = len((await api.get(listed)).json["items"])
    requests = type(services.requests)

    async def crash(self: object, key: str, answer: StoredAnswer) -> None:
        raise OSError("the process was killed")

    async def nothing(self: object, key: str) -> None: ...

    with monkeypatch.context() as killed:
        killed.setattr(requests, "complete", crash)
        killed.setattr(requests, "abandon", nothing)
        lost = await api.post(path, body, idempotency_key="k")
    early = await api.post(path, body, idempotency_key="k")

    assert (lost.status, early.status, early.error["code"]) == (500, 409, "idempotency_in_progress")
    assert "Retry-After" in early.headers
    assert len((await api.get(listed)).json["items"]) == before + 1


@pytest.mark.proves("A2")
async def test_a_key_of_another_request_is_refused(api: Client) -> None:
    await api.put("/api/jobs/x", {"command": "true"})
    await api.post("/api/jobs/x/run", {"delay": 3600}, idempotency_key="k")

    body = await api.post("/api/jobs/x/run", {"delay": 1800}, idempotency_key="k")
    path = await api.post("/api/jobs/x/pause", {"delay": 3600}, idempotency_key="k")

    assert (body.status, body.error["code"]) == (422, "idempotency_key_reused")
    assert (path.status, path.error["code"]) == (422, "idempotency_key_reused")


@pytest.mark.proves("A3")
@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_a_wrong_key_is_refused(api: Client, key: str) -> None:
    refused = await api.post("/api/jobs/x/pause", idempotency_key=key)

    assert (refused.status, refused.error["code"]) == (400, "invalid_idempotency_key")


async def test_a_refused_request_may_be_sent_again_with_its_key(api: Client) -> None:
    refused = await api.post("/api/jobs/x/pause", idempotency_key="k")
    await api.put("/api/jobs/x", {"command": "true"})
    accepted = await api.post("/api/jobs/x/pause", idempotency_key="k")

    assert (refused.status, accepted.status) == (404, 200)


# -- the audit trail


@pytest.mark.proves("Z47")
async def test_each_change_is_recorded_with_its_principal(services: Services) -> None:
    editor = (await services.tokens.create(role="editor", name="deploy")).secret
    admin = (await services.tokens.create(role="admin", name="boss")).secret
    async with serving(services, StoredAccess(services, may_be_development=False)) as client:
        await client.put("/api/jobs/x", {"command": "true"}, **bearer(editor))
        run = (await client.post("/api/jobs/x/run", {"delay": 3600}, **bearer(editor))).json["id"]
        await client.post(f"/api/runs/{run}/cancel", **bearer(editor))
        first = (await client.get("/api/audit?actor=token:deploy&limit=2", **bearer(admin))).json
        rest = (await client.get(f"/api/audit?actor=token:deploy&cursor={first['next']}", **bearer(admin))).json
        refused = await client.get("/api/audit", **bearer(editor))

    entries = [*first["items"], *rest["items"]]
    assert [(entry["kind"], entry["id"]) for entry in entries] == [("run", run), ("run", run), ("job", "x")]
    assert {entry["actor"] for entry in entries} == {"token:deploy"}
    assert refused.status == 403


async def test_the_actor_of_development_mode_is_recorded(app: Foliot, api: Client) -> None:
    await api.put("/api/jobs/x", {"command": "true"})

    [entry] = (await api.get("/api/audit?id=x")).json["items"]

    assert entry["actor"] == "development"
