"""Junk in every field of every route is refused, and is never an internal error."""

import random
from http import HTTPStatus
from typing import Any

import msgspec
import pytest

from foliot.interfaces.api.resources.all import ROUTES
from foliot.interfaces.api.route import Route
from tests.interfaces.api.remote import Remote
from tests.interfaces.api.serving import Answer, Client
from tests.scenarios.crash.chance import a_chance

JUNK: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 2**70, 1e308, 0.1, "", " ", "\0", "\ud7ff\U0001f600", "x" * 5_000, "../../etc/passwd"),
    *(
        "' OR 1=1 --",
        "${PATH}",
        "{{ steps.x }}",
        "%s%n",
        "2026-13-01",
        "9999-12-31T23:59:59Z",
        "-1s",
        "1e9d",
        "@every 0s",
    ),
    *([], [[]], [None], ["a"] * 50, {}, {"": None}, {"a": {"b": []}}, {"$ref": "#"}, "<script>", "a\nb: c\r\n"),
)
NAMES = ("x", "0", "-", "a.b", "a:b", "@last", "x@last", "~", "A" * 300)


def fields_of(route: Route) -> list[str]:
    known = getattr(route.body, "__struct_fields__", None)
    examples = {name for body in route.examples for name in body}
    return [
        *(known or ()),
        *examples,
        "id",
        "kind",
        "command",
        "cron",
        "steps",
        "schedules",
        "items",
        "env",
        "depends_on",
    ]


def body_of(route: Route, pick: random.Random) -> Any:
    base = dict(pick.choice(route.examples)) if route.examples and pick.random() < 0.7 else {}
    names = fields_of(route)
    return base | {pick.choice(names): pick.choice(JUNK) for _ in range(pick.randint(0, 3))}


def query_of(route: Route, pick: random.Random) -> str:
    names = list(getattr(route.query, "__struct_fields__", ())) or ["x"]
    junk = [str(one) for one in JUNK if not isinstance(one, list | dict)]
    encoded = [
        f"{pick.choice(names)}={''.join(f'%{byte:02x}' for byte in pick.choice(junk)[:100].encode())}"
        for _ in range(pick.randint(0, 2))
    ]
    return "&".join(encoded)


def is_explained(route: Route, answer: Answer) -> bool:
    """Whether this server cannot do it: it has no host to examine and, on PostgreSQL, no key for secrets."""
    if route.name == "get_doctor":
        return answer.status == HTTPStatus.NOT_IMPLEMENTED
    return answer.status == HTTPStatus.SERVICE_UNAVAILABLE and answer.json["error"]["code"] == "secret_key_unusable"


@pytest.mark.seeded
@pytest.mark.proves("Z18", "Z42", "Z54")
async def test_junk_is_never_an_internal_error(on_each: Client) -> None:
    pick = a_chance()
    await on_each.put("/api/jobs/x", {"command": "true", "schedule": "@daily"})
    await on_each.put("/api/workflows/w", {"steps": [{"name": "only", "command": "true"}]})
    names = (*NAMES, "w", (await on_each.post("/api/jobs/x/run", {"delay": 3600})).json["id"])
    for route in ROUTES:
        if route.streams or route.name == "log_in":
            continue  # streams do not end, and passwords take long to check
        for _ in range(12):
            path = route.path.format(**{name: pick.choice(names) for name in route.parameters})
            body = None if route.body is None else msgspec.json.encode(body_of(route, pick))
            answer = await on_each.send(route.method, f"{path}?{query_of(route, pick)}", body)
            is_known = answer.status < 500 or is_explained(route, answer)
            assert is_known, (route.name, path, body, answer.status, answer.json)
            if answer.status >= 400 and route.name != "explain_cron":
                assert answer.error.keys() >= {"code", "message", "hint", "field", "request_id"}


FAR = 2**70
NUL = "a\0b"
NOT_JSON = "bm90IGpzb24="
FROM_A_WORKER: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("finish", {"status": "success", "exit_code": code}) for code in (-1, 2**31, 2**63, FAR, -FAR)),
    *(("finish", {"status": "failed", "error": text}) for text in (NUL, "\ud7ff", "\x1b[31m", "x" * 100_000)),
    *(("finish", {"status": status, "output": NOT_JSON}) for status in ("success", "failed")),
    *(("finish", {"status": "success", "output": text}) for text in ("", "//4=", "W1tb" * 5_000, "!")),
    *(("finish", {"status": "launched", "executor_run_id": text}) for text in ("", NUL, "x" * 5_000)),
    *(("finish", {"status": "failed", "reason": reason}) for reason in ("marked", "lease_lost", "chain_failed")),
    *(("log", {"pieces": [{"seq": 0, "text": "x", "at": at}]}) for at in (-1, FAR, -FAR)),
    *(("log", {"pieces": [{"seq": seq, "text": NUL}]}) for seq in (0, 2**53, FAR)),
    *(("progress", {"fraction": fraction, "text": NUL}) for fraction in (0.5, 1e308)),
    *(("results", {"after": after, "only": [after]}) for after in (FAR, -FAR)),
    *(("lease", {name: [NUL]}) for name in ("known", "only", "queues")),
    *(("heartbeat", {"lease": lease}) for lease in (1e308, 1e-308)),
    *(("spawn", {"request": {"type": "spawn", "name": "far", "delay": delay}}) for delay in (FAR, -FAR, 2**62)),
    *(
        ("spawn", {"request": {"type": "spawn", "name": "far", name: NUL}})
        for name in ("dedupe_key", "slot", "deadline")
    ),
    *(("spawn", {"request": {"type": "spend", "tokens": tokens}}) for tokens in (FAR, -FAR)),
)


@pytest.mark.proves("Z42")
async def test_junk_of_a_worker_with_a_lease_is_never_an_internal_error(
    on_each: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOT_SECRET_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
    await on_each.put("/api/jobs/far", {"command": "true", "executor": "worker", "retries": 0, "max_concurrent": 1_000})
    for name, fields in FROM_A_WORKER:
        remote = await Remote(on_each).register()
        run_id = (await on_each.post("/api/jobs/far/run")).json["id"]
        held = await remote.lease(only=[run_id])

        answer = await remote.post(name, fields if name in ("lease", "heartbeat") else {**held, **fields})
        page = await on_each.get(f"/api/runs/{run_id}/page")
        log = await on_each.get(f"/api/runs/{run_id}/log")

        assert answer.status < 500, (name, fields, answer.json)
        assert (page.status, log.status) == (200, 200), (name, fields)
