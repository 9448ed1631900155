"""Invalid input is refused with a clear error, and nothing is stored."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.errors import FoliotError, InvalidCron, InvalidInput, InvalidJob, InvalidTimezone, NotFound

FUTURE = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Foliot]:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")

    @app.job()
    async def report(day: str = "") -> None:
        pass

    async with app:
        yield app


async def stored(app: Foliot) -> tuple[int, int]:
    services = await app.open()
    schedules = await services.storage.definitions.page_schedules(limit=100)
    return len(schedules), len(await app.runs.page())


SCHEDULES: list[tuple[str, dict[str, Any], str]] = [
    ("invalid_cron", {"cron_expr": "61 * * * *"}, "61"),
    ("invalid_cron", {"cron_expr": "* * * *"}, "field"),
    ("invalid_cron", {"cron_expr": "0 0 30 2 *"}, "never"),
    ("invalid_cron", {"cron_expr": "x" * 10_000}, ""),
    ("invalid_timezone", {"cron_expr": "@daily", "timezone": "Europe/Berlim"}, "Europe/Berlin"),
    ("invalid_timezone", {"cron_expr": "@daily", "timezone": "../../etc/passwd"}, ""),
    ("invalid_timezone", {"cron_expr": "@daily", "timezone": "UTC\x00"}, ""),
    ("invalid_schedule", {"cron_expr": "@daily", "start_at": FUTURE, "end_at": FUTURE - timedelta(days=1)}, "start_at"),
    ("invalid_schedule", {"cron_expr": "@daily", "end_at": datetime(2001, 1, 1, tzinfo=UTC)}, "passed"),
    ("invalid_schedule", {"cron_expr": "0 0 0 1 1 * 2001"}, "never"),
    ("invalid_schedule", {"at": datetime(2001, 1, 1, tzinfo=UTC)}, "never"),
    ("invalid_schedule", {"interval": 0}, "second"),
    ("invalid_schedule", {"interval": -5}, "second"),
    ("invalid_schedule", {"interval": 0.5}, "second"),
    ("invalid_schedule", {"interval": 1e11}, "interval"),
    ("invalid_schedule", {"cron_expr": "@daily", "interval": 5}, "one rule"),
    ("invalid_schedule", {}, "one rule"),
    ("invalid_schedule", {"cron_expr": "@daily", "jitter_ms": -1}, "jitter"),
    ("invalid_schedule", {"cron_expr": "@every_minute", "jitter_ms": 40_000}, "half"),
    ("invalid_schedule", {"cron_expr": "@daily", "overlap_policy": "skipp"}, "skip"),
    ("invalid_schedule", {"cron_expr": "@daily", "catchup_policy": "often"}, "none"),
    ("invalid_schedule", {"cron_expr": "@daily", "catchup_max_age_sec": -1}, "catchup_max_age_sec"),
    ("invalid_schedule", {"cron_expr": "@daily", "timzone": "UTC"}, "timezone"),
    ("invalid_schedule", {"cron_expr": "@daily", "timezone": 1}, "text"),
    ("invalid_schedule", {"cron_expr": "@daily", "jitter_ms": 1.5}, "whole number"),
    ("invalid_schedule", {"cron_expr": "@daily", "version": -1}, "version must be 0 to 2147483647"),
    ("invalid_schedule", {"cron_expr": "@daily", "version": 1 << 70}, "version"),
    ("invalid_schedule", {"cron_expr": "@daily", "user_id": "ada\0"}, "user_id"),
    ("invalid_schedule", {"cron_expr": "@daily", "user_id": ""}, "user_id"),
    ("invalid_schedule", {"cron_expr": "@daily", "user_id": "a" * 201}, "200"),
    ("invalid_run", {"cron_expr": "@daily", "payload": {"days": {1, 2}}}, "JSON has no type for set"),
    ("invalid_schedule", {"cron_expr": "@daily", "start_at": "yesterday"}, "ISO"),
    ("invalid_schedule", {"cron_expr": "@daily", "start_at": "2026-01-01T00:00:00"}, "offset"),
]


@pytest.mark.proves("R4-33", "R4-58")
@pytest.mark.parametrize(("code", "fields", "word"), SCHEDULES)
async def test_an_invalid_schedule_is_refused(app: Foliot, code: str, fields: dict[str, Any], word: str) -> None:
    with pytest.raises(FoliotError) as refused:
        await app.schedules.upsert("s", job_id="report", **fields)

    assert refused.value.code == code
    assert word in str(refused.value)
    assert await stored(app) == (0, 0)


async def test_a_schedule_with_an_invalid_id_is_refused(app: Foliot) -> None:
    with pytest.raises(FoliotError) as refused:
        await app.schedules.upsert("a b", job_id="report", cron="@daily")

    assert refused.value.code == "invalid_schedule"
    assert await stored(app) == (0, 0)


async def test_a_field_that_is_none_counts_as_omitted(app: Foliot) -> None:
    nothing = ("start_at", "end_at", "jitter_ms", "overlap_policy", "catchup_policy", "timezone", "payload", "dst")

    await app.schedules.upsert("s", job_id="report", cron="@daily", **dict.fromkeys(nothing))

    schedule = await app.schedules.get("s")
    assert (schedule.jitter_ms, schedule.overlap_policy, schedule.catchup_policy) == (0, "skip", "none")


async def test_a_schedule_of_a_missing_job_suggests_a_similar_one(app: Foliot) -> None:
    with pytest.raises(NotFound, match='Did you mean "report"'):
        await app.schedules.upsert("s", job_id="reprot", cron="@daily")

    assert await stored(app) == (0, 0)


@pytest.mark.proves("R1-36")
async def test_a_run_of_a_missing_job_suggests_a_similar_one(app: Foliot) -> None:
    with pytest.raises(NotFound, match='Did you mean "report"'):
        await app.enqueue("reprot")

    assert await stored(app) == (0, 0)


RUNS: list[tuple[dict[str, Any], str]] = [
    ({"dedupe": "ever"}, "forever"),
    ({"dedupe_key": "k", "dedupe": None}, "forever"),
    ({"dedupe_key": "k", "dedupe": 60}, "forever"),
    ({"payload": object()}, "not JSON"),
    ({"payload": {1, 2}}, "JSON has no type for set"),
    ({"payload": {"at": FUTURE}}, "JSON has no type for datetime"),
    ({"payload": [b"x"]}, "bytes are not text"),
    ({"payload": {1: "one"}}, "the key 1 is not text"),
    ({"payload": float("nan")}, "nan is not a JSON number"),
    ({"payload": {"x": "y" * 2_000_000}}, "bytes"),
    ({"dedupe_key": "k" * 256}, "255"),
    ({"dedupe_key": ""}, "255"),
    ({"dedupe_key": "k", "dedupe": timedelta(0)}, "second"),
    ({"run_at": "soon"}, "ISO"),
    ({"run_at": datetime(2026, 1, 1)}, "timezone"),
    ({"run_at": FUTURE, "delay": 5}, "one of them"),
    ({"priority": 10_000}, "priority"),
    ({"retries": -1}, "retries"),
    ({"retries": 1.5}, "whole number"),
    ({"timeout": -3}, "timeout"),
    ({"timeout": timedelta(days=367)}, "at most 31622400 seconds"),
    ({"timeout": "long"}, "number"),
    ({"max_concurrent": -1}, "max_concurrent"),
    ({"retry_delay": -1}, "must be 0 to"),
    ({"queue": "../x"}, "queue"),
    ({"retrys": 3}, "retries"),
]


@pytest.mark.parametrize(("request_", "word"), RUNS)
async def test_an_invalid_run_is_refused(app: Foliot, request_: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await app.enqueue("report", **request_)

    assert word in str(refused.value)
    assert await stored(app) == (0, 0)


async def test_one_invalid_payload_refuses_the_whole_batch(app: Foliot) -> None:
    with pytest.raises(InvalidInput):
        await app.enqueue_many("report", [{"day": "mon"}, {"day": object()}])

    assert await stored(app) == (0, 0)


def test_declaring_a_job_twice_is_refused() -> None:
    app = Foliot()
    app.shell("backup", "true")

    with pytest.raises(InvalidJob, match="twice"):
        app.shell("backup", "false")


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "a" * 201, "naïve", "a\n"])
async def test_a_job_with_an_invalid_name_is_refused(tmp_path: Path, name: str) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell(name, "true")

    with pytest.raises(InvalidJob, match="name"):
        await app.open()


async def test_a_storage_of_an_unknown_kind_is_refused_without_showing_its_password() -> None:
    app = Foliot("postgrsql://ada:secret@host/db")

    with pytest.raises(InvalidInput, match="postgresql") as refused:
        await app.open()
    assert "secret" not in str(refused.value)


def test_an_invalid_cron_expression_is_refused_at_its_declaration() -> None:
    app = Foliot()

    with pytest.raises(InvalidCron):
        app.schedule("s", "report", cron="* * *")


async def test_an_invalid_time_zone_is_refused_and_nothing_is_stored(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell("report", "true")

    with pytest.raises(InvalidTimezone):
        app.schedule("s", "report", cron="@daily", timezone="Mars/Olympus")
    async with app:
        with pytest.raises(InvalidTimezone):
            await app.schedules.upsert("s", job_id="report", cron="@daily", timezone="Mars/Olympus")
        assert await stored(app) == (0, 0)


@pytest.mark.parametrize(
    ("field", "value"),
    [("dst", "bogus"), ("jitter_ms", 1.9), ("user_id", 5), ("catchup_policy", []), ("version", 1.5), ("paused", 1)],
)
async def test_a_field_of_the_wrong_type_is_refused(app: Foliot, field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=field):
        await app.schedules.upsert("s", job_id="report", every=60, **{field: value})

    assert await stored(app) == (0, 0)


@pytest.mark.parametrize(
    "request_",
    [
        {"delay": timedelta.max},
        {"delay": -1},
        {"dedupe_key": "\ud800"},
        {"dedupe_key": "a\0b"},
        {"retry_delays": "soon"},
    ],
)
async def test_an_unstorable_value_is_refused(app: Foliot, request_: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await app.enqueue("report", **request_)

    assert await stored(app) == (0, 0)


@pytest.mark.parametrize("limit", [0, -1, 10_001, 1.5, "5", None, True])
async def test_an_invalid_page_size_is_refused(app: Foliot, limit: Any) -> None:
    await app.schedules.upsert("s", job_id="report", cron="@daily")

    for asked in (app.runs.page(limit=limit), app.jobs.page(limit=limit), app.schedules.ticks("s", limit)):
        with pytest.raises(InvalidInput, match="limit must be 1 to 10000"):
            await asked
