"""Schedules, ticks and cron expressions by HTTP."""

import pytest

from tests.interfaces.api.serving import Client

BACKUP = {"command": "true"}
NIGHTLY = {"schedule_id": "nightly", "job_id": "backup", "cron": "0 3 * * *", "timezone": "Europe/Berlin"}


@pytest.mark.proves("R4-25", "R4-28", "R4-30")
async def test_a_schedule_is_created_and_read_with_its_next_times(api: Client) -> None:
    await api.put("/api/jobs/backup", BACKUP)

    upserted = await api.post("/api/schedules/upsert", NIGHTLY)
    schedule = (await api.get("/api/schedules/nightly")).json

    assert upserted.json == {"schedule_id": "nightly", "next_run_at": schedule["next_run_at"]}
    assert len(schedule["preview"]) == 5
    assert schedule["timezone"] == "Europe/Berlin"


@pytest.mark.proves("R4-31")
async def test_every_option_of_the_library_call_is_accepted(api: Client) -> None:
    await api.put("/api/jobs/backup", BACKUP)
    options = {"start_at": "2099-01-01T00:00:00Z", "jitter_ms": 500, "overlap_policy": "queue", "catchup": "once"}

    await api.post("/api/schedules/upsert", {**NIGHTLY, **options, "paused": True})

    schedule = (await api.get("/api/schedules/nightly")).json
    assert (schedule["jitter_ms"], schedule["overlap_policy"], schedule["catchup_policy"]) == (500, "queue", "once")
    assert (schedule["paused"], schedule["start_at"]) == (True, "2099-01-01T00:00:00Z")


@pytest.mark.proves("R4-58")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"timezone": "../etc/passwd"}, "timezone"),
        ({"cron": "61 * * * *"}, "cron"),
        ({"nope": 1}, "nope"),
        ({"expected_revision": 1}, "expected_revision"),
        ({"paused": "yes"}, "paused"),
    ],
)
async def test_a_wrong_option_of_a_schedule_is_named(api: Client, change: dict[str, object], field: str) -> None:
    await api.put("/api/jobs/backup", BACKUP)

    refused = await api.post("/api/schedules/upsert", {**NIGHTLY, **change})

    assert (refused.status, refused.error["field"]) == (422, field)
    assert (await api.get("/api/schedules")).json["items"] == []


@pytest.mark.proves("R4-26", "R4-30")
async def test_a_schedule_is_paused_by_its_id_in_the_body_and_in_the_path(api: Client) -> None:
    await api.put("/api/jobs/backup", BACKUP)
    await api.post("/api/schedules/upsert", NIGHTLY)

    states = [
        (await api.post("/api/schedules/pause", {"schedule_id": "nightly", "paused": True})).json["paused"],
        (await api.post("/api/schedules/nightly/resume")).json["paused"],
        (await api.post("/api/schedules/nightly/pause")).json["paused"],
        (await api.post("/api/schedules/nightly/pause", {"paused": False})).json["paused"],
    ]

    assert states == [True, False, True, False]
    assert (await api.post("/api/schedules/pause", {"schedule_id": "nope"})).status == 404


@pytest.mark.proves("R4-27", "R4-30")
async def test_a_schedule_is_deleted(api: Client) -> None:
    await api.put("/api/jobs/backup", BACKUP)
    await api.post("/api/schedules/upsert", NIGHTLY)

    assert (await api.delete("/api/schedules/nightly")).json["deleted"] is True
    assert (await api.get("/api/schedules/nightly")).status == 404
    assert (await api.delete("/api/schedules/nightly")).json["deleted"] is False


@pytest.mark.proves("A4")
async def test_an_edit_of_an_old_revision_of_a_schedule_is_refused(api: Client) -> None:
    await api.put("/api/jobs/backup", BACKUP)
    await api.post("/api/schedules/upsert", NIGHTLY)
    tag = (await api.get("/api/schedules/nightly")).headers["ETag"]

    first = await api.post("/api/schedules/upsert", {**NIGHTLY, "cron": "0 4 * * *"}, if_match=tag)
    second = await api.post("/api/schedules/upsert", {**NIGHTLY, "cron": "0 5 * * *"}, if_match=tag)

    assert (first.status, second.status) == (200, 412)
    assert (await api.get("/api/schedules/nightly")).json["schedule_expr"] == "0 4 * * *"


async def test_all_schedules_are_paused_and_resumed(api: Client) -> None:
    paused = await api.post("/api/schedules/pause-all", {"note": "maintenance"})

    assert (paused.json["note"], paused.json["by"]) == ("maintenance", "development")
    assert (await api.get("/api/status")).json["paused"]["note"] == "maintenance"
    assert (await api.post("/api/schedules/resume-all")).json["ended"]["note"] == "maintenance"
    assert (await api.post("/api/schedules/resume-all")).json == {"ended": None}


@pytest.mark.proves("R4-05", "R4-56")
async def test_the_ticks_and_runs_of_a_schedule_are_listed_in_pages(working: Client) -> None:
    await working.put("/api/jobs/backup", BACKUP)
    await working.post("/api/schedules/upsert", {"schedule_id": "often", "job_id": "backup", "every": 1})
    while len(ticks := (await working.get("/api/schedules/often/ticks?outcome=ran")).json["items"]) < 3:
        pass
    await working.post("/api/schedules/often/pause")
    for tick in ticks:
        await working.ended(tick["run_id"])

    ticks = (await working.get("/api/schedules/often/ticks")).json["items"]
    first = (await working.get("/api/schedules/often/ticks?limit=2")).json
    rest = (await working.get(f"/api/schedules/often/ticks?cursor={first['next']}")).json

    assert [tick["scheduled_for"] for tick in (*first["items"], *rest["items"])] == [
        tick["scheduled_for"] for tick in ticks
    ]
    runs = (await working.get("/api/schedules/often/runs")).json["items"]
    assert {run["id"] for run in runs} == {tick["run_id"] for tick in ticks if tick["run_id"]}
    assert [tick["run_id"] for tick in (await working.get("/api/ticks?name=backup")).json["items"]] == [
        tick["run_id"] for tick in ticks
    ]
    assert (await working.get("/api/verify")).json["is_sound"] is True


async def test_a_cron_expression_is_explained(api: Client) -> None:
    answer = await api.get("/api/cron/explain?expr=30+2+*+*+*&tz=Europe/Berlin&start=2026-03-27T12:00:00Z&count=3")

    explained = answer.json
    assert (explained["ok"], explained["timezone"]) == (True, "Europe/Berlin")
    assert explained["description"] == "at 02:30 every day, Europe/Berlin"
    assert [fire["zone"] for fire in explained["fires"]] == ["CET", "CEST", "CEST"]
    assert [fire["note"] for fire in explained["fires"]] == ["", "the clock was changed from +01:00 to +02:00", ""]


async def test_a_wrong_cron_expression_has_the_position_of_the_error(api: Client) -> None:
    refused = await api.get("/api/cron/explain?expr=0+25+*+*+*")
    zone = await api.get("/api/cron/explain?expr=@daily&tz=Mars/Base")

    assert (refused.status, refused.json["ok"]) == (400, False)
    assert (refused.error["code"], refused.error["field"]) == ("invalid_cron", "expr")
    assert refused.error["position"] == 2
    assert (zone.status, zone.error["code"], zone.error["field"]) == (400, "invalid_timezone", "tz")


async def test_schedules_that_fire_at_the_same_time_are_named(api: Client) -> None:
    await api.put("/api/jobs/backup", BACKUP)
    await api.post("/api/schedules/upsert", {**NIGHTLY, "timezone": "UTC"})

    explained = (await api.get("/api/cron/explain?expr=0+3,15+*+*+*&collisions=true&count=14")).json

    at_three = [fire["at"] for fire in explained["fires"] if "T03" in fire["at"]]
    assert len(at_three) == 7
    assert explained["collisions"] == [{"at": at, "schedules": ["nightly"]} for at in at_three]


@pytest.mark.proves("R4-29", "R4-30")
async def test_a_launcher_starts_a_run_once_for_each_key(api: Client) -> None:
    await api.put("/api/jobs/backup", BACKUP)
    call = {"workflow_id": "backup", "scheduled_for": "2026-01-01T03:00:00Z", "idempotency_key": "k1", "user_id": "u"}

    answers = [(await api.post("/api/run-launcher/start", call)).json["started"] for _ in range(2)]

    [run] = (await api.get("/api/runs")).json["items"]
    shown = (await api.get(f"/api/runs/{run['id']}")).json
    assert answers == [True, True]
    assert (shown["user_id"], shown["idempotency_key"]) == ("u", "k1")
    assert shown["scheduled_for"] == "2026-01-01T03:00:00Z"
    assert (await api.post("/api/run-launcher/start", {**call, "workflow_id": "nope"})).json == {"started": False}
    reported = await api.post("/api/run-launcher/report", {"idempotency_key": "nope", "status": "success"})
    assert reported.status == 404


async def test_a_dsn_is_written_but_never_read(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    put = await api.put("/api/dsns/shop", {"dsn": "postgresql://me:hush@db/shop"})

    listed = await api.get("/api/dsns")

    assert put.status == 201
    assert [one["name"] for one in listed.json["items"]] == ["shop"]
    assert b"hush" not in listed.content
    assert (await api.delete("/api/dsns/shop")).json["deleted"] is True
