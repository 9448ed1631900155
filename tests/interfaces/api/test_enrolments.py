"""Enrolments of remote workers by HTTP."""

import pytest

from tests.interfaces.api.serving import Client


async def test_a_worker_is_enrolled_with_an_environment_to_save(api: Client) -> None:
    created = await api.post("/api/enrolments", {"name": "gpu-1", "labels": ["gpu"], "kinds": ["shell"]})

    assert created.status == 201
    assert created.json["environment"] == (
        f"FOLIOT_SERVER={api.base}\nFOLIOT_WORKER_ID={created.json['id']}\n"
        f"FOLIOT_WORKER_SECRET={created.json['secret']}\n"
    )
    [listed] = (await api.get("/api/enrolments")).json["items"]
    assert (listed["name"], listed["labels"], listed["state"]) == ("gpu-1", ["gpu"], "enrolled")
    assert listed.keys().isdisjoint({"secret", "environment"})


async def test_a_secret_is_never_in_a_stored_answer(api: Client) -> None:
    first = await api.post("/api/enrolments", {"name": "gpu-1"}, idempotency_key="k")
    again = await api.post("/api/enrolments", {"name": "gpu-1"}, idempotency_key="k")

    assert (first.status, again.status) == (201, 422)
    assert "Idempotency-Replayed" not in again.headers


async def test_an_invited_worker_joins_once(api: Client) -> None:
    invited = (await api.post("/api/enrolments/invite", {"name": "gpu-2", "valid": 60})).json

    joined = await api.post("/api/workers/join", {"token": invited["token"]})
    again = await api.post("/api/workers/join", {"token": invited["token"]})

    assert (joined.status, joined.json["worker_id"], again.status) == (200, invited["id"], 401)
    assert [one["state"] for one in (await api.get("/api/enrolments")).json["items"]] == ["enrolled"]


async def test_an_enrolment_is_disabled_enabled_and_removed(on_each: Client) -> None:
    # PostgreSQL has no file for a key beside it.
    invited = await on_each.post("/api/enrolments/invite", {"name": "gpu-1"})
    states = [(await on_each.post(f"/api/enrolments/gpu-1/{one}")).json["state"] for one in ("disable", "enable")]
    removed = [(await on_each.delete("/api/enrolments/gpu-1")).json["deleted"] for _ in range(2)]

    assert invited.status == 201
    assert (states, removed) == (["disabled", "invited"], [True, False])
    assert (await on_each.post("/api/enrolments/gpu-1/disable")).status == 404


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "a b\n"},
        {"name": "x", "labels": ["a b"]},
        {"name": "x", "labels": ["a"] * 101},
        {"name": "x", "server": "javascript:alert(1)"},
        {"name": "x", "server": "http://x\nFOLIOT_TOKEN=y"},
        {"name": "x", "server": "http://[x"},
        {"name": "x", "more": 1},
    ],
)
async def test_a_wrong_enrolment_is_refused_and_nothing_is_stored(api: Client, body: dict[str, object]) -> None:
    assert (await api.post("/api/enrolments", body)).status == 422
    assert (await api.get("/api/enrolments")).json["items"] == []


async def test_only_administrators_see_enrolments(guarded: Client) -> None:
    statuses = [
        (await guarded.get("/api/enrolments", authorization=f"Bearer {role}")).status for role in ("editor", "admin")
    ]

    assert statuses == [403, 200]
