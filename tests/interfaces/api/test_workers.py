"""The protocol of remote workers: what is answered, and everything that is refused without a change."""

import asyncio
import hashlib
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.access.role import Permission
from foliot.interfaces.api.access import StoredAccess
from foliot.interfaces.api.resources.all import ROUTES
from foliot.interfaces.api.route import PUBLIC
from foliot.service.services import Services
from tests.interfaces.api.remote import Remote, Signer, enrolled
from tests.interfaces.api.serving import Client, serving

FINISHED = {"status": "success"}


@pytest.fixture
async def server(services: Services) -> AsyncIterator[Client]:
    """A server that needs credentials, with the job `report`."""
    await services.tokens.create(role="admin", name="admin")
    await services.job_documents.put({"command": "true", "retries": 0, "max_concurrent": 100}, job_id="report")
    async with serving(services, StoredAccess(services, may_be_development=False)) as client:
        yield client


NO_ORDER = {"paused": False, "drain": False}


@pytest.fixture
async def remote(services: Services, server: Client) -> Remote:
    return await (await enrolled(services, server)).register()


async def a_run(services: Services) -> str:
    return await services.runs.enqueue("report")


async def status_of(services: Services, run_id: str) -> str:
    return str((await services.queries.runs.get(run_id)).status)


async def output_of(services: Services, run_id: str) -> str:
    return "".join([piece.text for piece in (await services.logs.tail(run_id)).pieces])


# -- runs


async def test_a_remote_worker_executes_a_run(services: Services, remote: Remote) -> None:
    run_id = await a_run(services)

    held = await remote.lease()
    saved = await remote.post("log", {**held, "pieces": [{"seq": 0, "text": "hello\n"}]})
    progress = await remote.post("progress", {**held, "fraction": 0.5})
    beat = await remote.post("heartbeat", {"held": [held]})
    finished = await remote.post("finish", {**held, "status": "success", "output": "eyJhIjogMX0="})

    assert (saved.json, progress.status, beat.json) == ({"next_seq": 1}, 204, {"cancelled": [], "gone": [], **NO_ORDER})
    assert finished.status == 204
    run = await services.queries.runs.get(run_id)
    assert (run.status, run.output_payload) == ("success", {"a": 1})
    assert await output_of(services, run_id) == "hello\n"


async def test_a_lease_waits_for_a_run_and_ends_with_204_without_one(services: Services, remote: Remote) -> None:
    assert (await remote.post("lease", {"wait": 0.1})).status == 204

    waiting = asyncio.create_task(remote.post("lease", {"wait": 30}))
    run_id = await a_run(services)

    assert [run["run_id"] for run in (await waiting).json["runs"]] == [run_id]


async def test_a_waiting_request_ends_when_the_server_stops(services: Services, server: Client) -> None:
    remote = await (await enrolled(services, server)).register()
    waiting = [asyncio.create_task(remote.post(name, {"wait": 60})) for name in ("lease", "wait")]
    while not server.context.closing.is_set():
        await asyncio.sleep(0.2)
        server.context.closing.set()

    assert [answer.status for answer in await asyncio.gather(*waiting)] == [204, 204]


async def test_a_definition_is_sent_once(services: Services, remote: Remote) -> None:
    await a_run(services)
    first = (await remote.post("lease")).json
    [known] = first["definitions"]
    await a_run(services)

    second = (await remote.post("lease", {"known": [known]})).json

    assert (second["runs"][0]["definition_id"], second["definitions"]) == (known, {})


async def test_an_exchange_does_many_things_in_one_request(services: Services, remote: Remote) -> None:
    first, second = await a_run(services), await a_run(services)
    held = await remote.lease()

    answer = await remote.post(
        "exchange",
        {
            "logs": [{**held, "pieces": [{"seq": 0, "text": "a\n"}, {"seq": 1, "text": "b\n"}]}],
            "progress": [{**held, "fraction": 1}],
            "renew": {"held": []},
            "finishes": [{**held, "status": "success"}],
            "claim": {"limit": 10},
        },
    )

    assert (answer.json["stale"], answer.json["refused_logs"], answer.json["is_expired"]) == ([], [], False)
    assert {held["run_id"], *(run["run_id"] for run in answer.json["runs"])} == {first, second}
    assert await status_of(services, held["run_id"]) == "success"


async def test_a_cancelled_run_is_answered_with_410(services: Services, remote: Remote) -> None:
    run_id = await a_run(services)
    held = await remote.lease()
    waiting = asyncio.create_task(remote.post("wait", {"wait": 30}))
    await services.runs.cancel(run_id)

    woken = await waiting
    beat, listed = await remote.post("heartbeat", held), await remote.post("heartbeat", {"held": [held]})
    await remote.post("finish", {**held, "status": "cancelled"})

    assert woken.json["cancels"]
    assert (beat.status, beat.error["code"]) == (410, "cancelled")
    assert listed.json["cancelled"] == [held["token"]]
    assert await status_of(services, run_id) == "cancelled"


@pytest.mark.proves("L11")
async def test_of_many_leases_for_one_run_one_is_granted(services: Services, remote: Remote) -> None:
    await a_run(services)

    answers = await asyncio.gather(*(remote.post("lease") for _ in range(100)))

    assert sorted(answer.status for answer in answers) == [200] + [204] * 99


# -- leases


@pytest.mark.proves("L2", "Z33")
async def test_a_lease_is_refused_with_any_other_token(services: Services, server: Client, remote: Remote) -> None:
    first, second = await a_run(services), await a_run(services)
    held, other = await remote.lease(), await remote.lease()
    thief = await (await enrolled(services, server, "thief")).register()
    number, _, tag = held["token"].partition(".")
    guesses = [
        {**held, "token": other["token"]},
        {**held, "run_id": other["run_id"]},
        {**held, "token": number},
        {**held, "token": f"{int(number) + 1}.{tag}"},
        {**held, "token": f"{number}.{'0' * 32}"},
        {**held, "token": "x" * 10_000},
        {**held, "token": "\0.ä"},
    ]

    for guess in guesses:
        await every_write_is_refused(remote, guess)
    await every_write_is_refused(thief, held)

    assert len(bytes.fromhex(tag)) * 8 >= 128
    assert [await status_of(services, one) for one in (first, second)] == ["running", "running"]
    assert await output_of(services, held["run_id"]) == ""


async def every_write_is_refused(remote: Remote, held: dict[str, Any]) -> None:
    messages: dict[str, dict[str, Any]] = {
        "heartbeat": {},
        "log": {"pieces": [{"seq": 0, "text": "x"}]},
        "progress": {"fraction": 0.5},
        "finish": FINISHED,
        "results": {},
        "spawn": {"request": {"type": "status"}},
    }
    for name, fields in messages.items():
        answer = await remote.post(name, {**held, **fields})
        assert (answer.status, answer.error["code"]) == (409, "stale_lease"), name
    exchanged = await remote.post(
        "exchange",
        {"finishes": [{**held, **FINISHED}], "logs": [{**held, "pieces": []}], "progress": [{**held, "fraction": 1}]},
    )
    assert exchanged.json["stale"] == [held["token"]] * 3


async def test_the_worker_of_another_principal_cannot_be_used(services: Services, server: Client) -> None:
    remote = await (await enrolled(services, server)).register()
    thief = await enrolled(services, server, "thief")
    await a_run(services)
    thief.worker = remote.worker

    for name in ("lease", "heartbeat", "wait", "exchange", "retire"):
        answer = await thief.post(name)
        assert (answer.status, answer.error["code"]) == (409, "worker_expired"), name
    assert (await remote.post("heartbeat")).status == 200


@pytest.mark.proves("Z33")
async def test_a_run_finishes_once(services: Services, remote: Remote) -> None:
    run_id = await a_run(services)
    held = await remote.lease()
    await remote.post("finish", {**held, "status": "success"})

    again = await remote.post("finish", {**held, "status": "success"})
    other = await remote.post("finish", {**held, "status": "failed", "error": "no"})
    beat = await remote.post("heartbeat", held)

    assert (again.status, other.status, beat.status) == (204, 409, 409)
    assert (other.error["code"], beat.error["code"]) == ("stale_lease", "stale_lease")
    assert await status_of(services, run_id) == "success"


async def test_a_heartbeat_gives_back_runs_that_it_does_not_list(services: Services, remote: Remote) -> None:
    run_id = await a_run(services)
    await remote.lease()

    await remote.post("heartbeat", {"held": []})

    assert await status_of(services, run_id) == "queued"


async def test_a_retired_worker_has_to_register_again(services: Services, remote: Remote) -> None:
    await remote.post("retire")
    await a_run(services)

    beat, lease = await remote.post("heartbeat"), await remote.post("lease")

    assert (beat.status, beat.error["code"], lease.status) == (409, "worker_expired", 204)


# -- output


async def test_output_is_saved_in_order_and_once(services: Services, remote: Remote) -> None:
    await a_run(services)
    held = await remote.lease()

    async def log(*numbers: int) -> tuple[int, str]:
        pieces = [{"seq": number, "text": f"{number}\n"} for number in numbers]
        answer = await remote.post("log", {**held, "pieces": pieces})
        return answer.status, answer.json.get("error", {}).get("code", "")

    assert await log(1) == (409, "log_out_of_order")
    assert await log(0, 1) == (200, "")
    assert await log(0, 1) == (409, "log_repeated")
    assert await log(3) == (409, "log_out_of_order")
    assert await log(2, 2) == (409, "log_out_of_order")
    assert await log(3, 2) == (409, "log_out_of_order")
    assert await log(1, 2) == (200, "")
    assert await output_of(services, held["run_id"]) == "0\n1\n2\n"


async def test_too_much_output_is_refused(services: Services, remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    await a_run(services)
    held = await remote.lease()
    monkeypatch.setattr(services.work._logs, "_most", 1_000)

    large = await remote.post("log", {**held, "pieces": [{"seq": 0, "text": "x" * 1_000_000}] * 9})
    most = await remote.post("log", {**held, "pieces": [{"seq": 0, "text": "x" * 1_000}]})
    more = await remote.post("log", {**held, "pieces": [{"seq": 1, "text": "x"}]})

    assert (large.status, large.error["code"]) == (413, "too_large")
    assert most.status == 200
    assert (more.status, more.error["code"]) == (413, "log_too_large")
    assert (await remote.post("finish", {**held, **FINISHED})).status == 204


# -- credentials


@pytest.mark.proves("Z32")
async def test_a_signature_belongs_to_one_request(services: Services, server: Client) -> None:
    view, secret = await services.enrolments.register("gpu-1")
    signer, body = Signer(view.id, secret), b'{"name": "x"}'
    path = "/api/workers/register"
    wrong = {
        "body": signer.headers(path, b'{"name": "y"}'),
        "path": signer.headers("/api/workers/lease", body),
        "method": signer.headers(path, body, method="GET"),
        "query": signer.headers(path, body, query="a=b"),
        "secret": Signer(view.id, "0" * 64).headers(path, body),
        "digest of the secret": Signer(view.id, hashlib.sha256(secret.encode()).hexdigest()).headers(path, body),
        "worker": Signer("01JQZ8W3F07M4T5V6W8X9YABCD", secret).headers(path, body),
        "no timestamp": {**signer.headers(path, body), "X-Foliot-Timestamp": ""},
        "no nonce": {**signer.headers(path, body), "X-Foliot-Nonce": ""},
        "short nonce": signer.headers(path, body, nonce="a"),
        "empty": {**signer.headers(path, body), "X-Foliot-Signature": ""},
        "not ASCII": {**signer.headers(path, body), "X-Foliot-Signature": "ä"},
    }

    for what, headers in wrong.items():
        answer = await server.send("POST", path, body, **headers)
        assert (answer.status, answer.error["code"]) == (401, "bad_signature"), what
    assert await services.storage.admission.workers() == []


@pytest.mark.proves("Z32")
async def test_a_request_is_refused_if_its_clock_is_wrong(services: Services, server: Client) -> None:
    view, secret = await services.enrolments.register("gpu-1")
    signer = Signer(view.id, secret)

    async def sent(ahead: int) -> tuple[int, str]:
        answer = await server.send(
            "POST", "/api/workers/register", b"{}", **signer.headers("/api/workers/register", b"{}", ahead=ahead)
        )
        return answer.status, answer.json.get("error", {}).get("message", "")

    status, message = await sent(412)
    assert (status, message.startswith("your clock is 41"), message.endswith("s ahead of the server's")) == (
        401,
        True,
        True,
    )
    status, message = await sent(-412)
    assert (status, "behind the server's" in message) == (401, True)
    assert (await sent(200))[0] == (await sent(-200))[0] == 201


@pytest.mark.proves("Z32")
async def test_a_request_is_accepted_once(services: Services, server: Client) -> None:
    view, secret = await services.enrolments.register("gpu-1")
    headers = Signer(view.id, secret).headers("/api/workers/register", b"{}")

    answers = await asyncio.gather(*(server.send("POST", "/api/workers/register", b"{}", **headers) for _ in range(5)))

    assert sorted(answer.status for answer in answers) == [201, 401, 401, 401, 401]
    assert {answer.error["code"] for answer in answers if answer.status == 401} == {"replay"}


@pytest.mark.proves("L12")
async def test_a_disabled_worker_gets_403(services: Services, remote: Remote) -> None:
    await services.enrolments.disable("gpu-1")
    refused = await remote.post("lease")
    await services.enrolments.enable("gpu-1")
    accepted = await remote.post("lease")
    await services.enrolments.remove("gpu-1")
    removed = await remote.post("lease")

    assert (refused.status, refused.error["code"]) == (403, "worker_disabled")
    assert (accepted.status, removed.status, removed.error["code"]) == (204, 401, "bad_signature")


async def test_a_token_with_the_role_worker_is_enough(services: Services, server: Client) -> None:
    created = await services.tokens.create(role="worker", name="shell")
    remote = await Remote(server, authorization=f"Bearer {created.secret}").register()
    run_id = await a_run(services)

    await remote.post("finish", {**await remote.lease(), **FINISHED})

    assert await status_of(services, run_id) == "success"


@pytest.mark.proves("L12")
async def test_a_disabled_worker_with_a_token_gets_403(services: Services, server: Client) -> None:
    await services.enrolments.register("gpu-1")
    created = await services.tokens.create(role="worker", name="gpu-1")
    remote = await Remote(server, authorization=f"Bearer {created.secret}").register()
    run_id = await a_run(services)
    await services.enrolments.disable("gpu-1")

    refused = [await remote.post(name) for name in ("lease", "heartbeat", "register")]
    await services.enrolments.enable("gpu-1")

    assert [(answer.status, answer.error["code"]) for answer in refused] == [(403, "worker_disabled")] * 3
    assert (await remote.lease())["run_id"] == run_id


@pytest.mark.proves("Z4")
async def test_a_worker_can_reach_nothing_but_its_own_routes(services: Services, server: Client) -> None:
    created = await services.tokens.create(role="worker")
    bearer = {"authorization": f"Bearer {created.secret}"}
    view, secret = await services.enrolments.register("gpu-1")
    for route in ROUTES:
        if route.permission in (PUBLIC, Permission.WORK):
            continue
        path = route.path.format(**dict.fromkeys(route.parameters, "report"))
        signed = Signer(view.id, secret).headers(path, b"{}", method=route.method)
        by_token = await server.send(route.method, path, b"{}", **bearer)
        by_signature = await server.send(route.method, path, b"{}", **signed)
        assert (by_token.status, by_signature.status) == (403, 401), route.name


async def test_people_cannot_work(services: Services, server: Client) -> None:
    for role in ("viewer", "operator", "editor", "admin"):
        created = await services.tokens.create(role=role)
        answer = await server.post("/api/workers/register", authorization=f"Bearer {created.secret}")
        assert answer.status == 403


async def test_another_version_of_the_protocol_is_answered_with_426(remote: Remote) -> None:
    answer = await remote.post("lease", X_Foliot_Protocol="0")

    assert (answer.status, answer.error["code"]) == (426, "protocol_version")
    assert answer.error["message"] == "the worker uses protocol 0, the server uses protocol 1"


# -- enrolment


@pytest.mark.proves("Z34")
async def test_a_worker_may_use_the_labels_of_its_enrolment_only(services: Services, server: Client) -> None:
    remote = await enrolled(services, server, labels=["gpu", "linux"], kinds=["shell"])

    rogue = await remote.post("register", {"labels": ["gpu", "prod"]})
    kind = await remote.post("register", {"kinds": ["python"]})
    fewer = await remote.post("register", {"labels": ["gpu"]})

    assert (rogue.status, rogue.error["code"]) == (403, "label_refused")
    assert (kind.status, kind.error["code"]) == (403, "label_refused")
    assert fewer.status == 201


@pytest.mark.proves("Z34")
async def test_a_join_token_is_accepted_once(services: Services, server: Client) -> None:
    invitation = await services.enrolments.invite("gpu-1", labels=["gpu"])

    joined = await server.post("/api/workers/join", {"token": invitation.secret})
    again = await server.post("/api/workers/join", {"token": invitation.secret})
    wrong = await server.post("/api/workers/join", {"token": "join_fol_x"})

    assert (joined.status, joined.json["labels"]) == (200, ["gpu"])
    await Remote(server, Signer(joined.json["worker_id"], joined.json["secret"])).register(labels=["gpu"])
    assert [(one.status, one.error["code"]) for one in (again, wrong)] == [(401, "join_refused")] * 2


async def test_an_output_that_no_program_can_read_is_refused(services: Services, remote: Remote) -> None:
    run_id = await a_run(services)
    held = await remote.lease()
    log = {**held, "pieces": [{"seq": 0, "text": "x"}]}

    for output in (b"", b"not json", b"\xff", b"[" * 300 + b"]" * 300, b'"' + b"x" * (1 << 20) + b'"'):
        finish = {**held, "status": "success", "output": b64encode(output).decode()}
        answers = (
            await remote.post("finish", finish),
            await remote.post("exchange", {"logs": [log], "finishes": [finish]}),
        )
        found = [(answer.status, answer.error["code"], answer.error["field"]) for answer in answers]
        assert found == [(422, "invalid_run", "output")] * 2, output[:10]

    assert (await status_of(services, run_id), await output_of(services, run_id)) == ("running", "")


async def test_a_server_without_a_key_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_SECRET_KEY", "short")
    app = Foliot(f"sqlite:///{tmp_path}/other.db")
    async with app, serving(await app.open()) as client:
        answer = await client.post("/api/workers/register")

    assert (answer.status, answer.error["code"]) == (503, "secret_key_unusable")
    assert answer.error["message"] == "the server has no usable key for secrets"
    assert "FOLIOT_SECRET_KEY" in answer.error["hint"]


# -- wrong messages


@pytest.mark.parametrize("name", ["register", "lease", "heartbeat", "log", "finish", "exchange", "results", "spawn"])
async def test_a_wrong_message_is_refused_with_a_code(services: Services, remote: Remote, name: str) -> None:
    run_id = await a_run(services)
    held = await remote.lease()
    wrong: list[Any] = [{"x": 1}, {"worker": 5}, {"lease": -1}, {"limit": 0}, {"wait": 1e9}, {"queues": ["@trees"]}]
    wrong += [{"pieces": [{"seq": -1}]}, {"status": "great"}, {"slots": 10**9}, {"claim": {"limit": -1}}]

    for fields in wrong:
        answer = await remote.post(name, {**held, **fields})
        assert answer.status in (400, 409, 422), (fields, answer.json)
        assert answer.error["code"]
    assert await status_of(services, run_id) == "running"
