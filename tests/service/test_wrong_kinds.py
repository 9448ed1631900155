"""Values of the wrong type are refused with a clear error, and nothing is stored."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta, tzinfo
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.errors import InvalidInput, InvalidJob, InvalidSchedule, NotFound
from foliot.testing.inline import InlineEngine

HUGE = 10**400
LONG = "x" * 1_000_000
HALF = "\ud800"


class Nowhere(tzinfo):
    """A time zone without an offset."""

    def utcoffset(self, moment: datetime | None) -> None:
        return None

    dst = utcoffset

    def tzname(self, moment: datetime | None) -> str:
        return "nowhere"


class Silent:
    """A value whose repr raises."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


A_HUGE = pytest.param(HUGE, id="huge")
AN_UNPRINTABLE = pytest.param(1 << 20_000, id="unprintable")
"""A number too large to be converted to text."""
A_LONG = pytest.param(LONG, id="long")


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Foliot]:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")

    @app.job(queue="slow", priority=7, retries=2)
    async def report(day: str = "") -> None:
        pass

    async with app:
        await app.schedules.upsert("s", job_id="report", cron="@daily")
        yield app


async def refused(asked: Any) -> InvalidInput:
    """Return the error of a call, and check that it has a hint and can be printed."""
    with pytest.raises(InvalidInput) as caught:
        await asked
    assert caught.value.hint
    assert len(str(caught.value).encode()) < 2_000
    return caught.value


# -- who owns a schedule


@pytest.mark.parametrize("source", [5, "app", "file", None])
async def test_the_owner_of_a_schedule_cannot_be_given(app: Foliot, source: Any) -> None:
    error = await refused(app.schedules.upsert("t", job_id="report", cron="@daily", source=source))  # type: ignore[call-arg]

    assert error.message == "option 'source' does not exist"
    assert "source" not in error.hint
    with pytest.raises(NotFound):
        await app.schedules.get("t")


def test_the_owner_of_a_declared_schedule_cannot_be_given() -> None:
    with pytest.raises(InvalidSchedule, match="'source' does not exist"):
        Foliot().schedule("t", "report", every=60, source="api")  # type: ignore[call-arg]


# -- numbers

RUN_NUMBERS = ["retries", "retry_delay", "retry_factor", "retry_cap", "retry_jitter", "timeout", "priority"]
RUN_NUMBERS += ["max_concurrent", "concurrency_limit", "max_lost"]


@pytest.mark.parametrize("number", [A_HUGE, AN_UNPRINTABLE])
@pytest.mark.parametrize("option", [*RUN_NUMBERS, "delay"])
async def test_a_run_with_a_number_out_of_range_is_refused(app: Foliot, option: str, number: Any) -> None:
    error = await refused(app.enqueue("report", **{option: number}))

    assert option in error.message
    assert await app.runs.page() == []


@pytest.mark.parametrize("option", [*RUN_NUMBERS, "window_sec"])
def test_a_job_with_a_number_out_of_range_is_refused(option: str) -> None:
    gate: dict[str, Any] = {"depends_on": "other"} if option == "window_sec" else {}

    with pytest.raises(InvalidInput, match=option):
        Foliot().job(id="z", **{**gate, option: HUGE})(lambda: None)


@pytest.mark.parametrize("field", ["version", "interval", "jitter_ms", "catchup_max_age_sec"])
async def test_a_schedule_with_a_number_out_of_range_is_refused(app: Foliot, field: str) -> None:
    rule: dict[str, Any] = {} if field == "interval" else {"cron_expr": "@daily"}

    error = await refused(app.schedules.upsert("t", job_id="report", **{**rule, field: HUGE}))

    assert field in error.message
    with pytest.raises(InvalidInput, match="every"):
        app.schedule("t", "report", every=HUGE)


async def test_a_wait_timeout_out_of_range_is_refused(app: Foliot) -> None:
    assert "timeout" in (await refused(app.jobs.wait("report", timeout=HUGE))).message


@pytest.mark.parametrize("number", [A_HUGE, AN_UNPRINTABLE])
async def test_a_workflow_with_a_number_out_of_range_is_refused(app: Foliot, number: int) -> None:
    document = {"id": "etl", "timeout_sec": number, "steps": [{"name": "a", "command": "true"}]}

    await refused(app.workflows.deploy(document))


# -- true or false


@pytest.mark.parametrize("paused", [None, "no", 0, 1, "", A_LONG, Silent()])
async def test_paused_must_be_a_boolean(app: Foliot, paused: Any) -> None:
    await app.workflows.deploy({"id": "etl", "steps": [{"name": "a", "command": "true"}]})
    await app.schedules.pause("s")

    for asked in (
        app.schedules.pause("s", paused),
        app.jobs.pause("report", paused),
        app.workflows.pause_step("etl", "a", paused),
    ):
        assert (await refused(asked)).field == "paused"

    assert (await app.schedules.get("s")).paused
    services = await app.open()
    assert await services.storage.definitions.paused_steps("etl") == set()


@pytest.mark.parametrize("manual", ["no", 1, []])
async def test_manual_must_be_a_boolean(app: Foliot, manual: Any) -> None:
    error = await refused(app.schedules.upsert("t", job_id="report", manual=manual))

    assert error.field == "manual"


# -- nothing

NOT_GIVEN: dict[str, Any] = dict.fromkeys(["queue", "priority", "concurrency_limit", "max_lost", "delivery", "timeout"])
NOT_GIVEN |= dict.fromkeys(["retries", "retry_delay", "retry_factor", "retry_cap", "retry_jitter", "retry_delays"])


async def test_an_option_that_is_none_counts_as_omitted(app: Foliot) -> None:
    run_id = await app.enqueue("report", **NOT_GIVEN)

    run = await (await app.open()).runs.record(run_id)
    assert (run.priority, await (await app.open()).storage.queries.overrides(run.id)) == (7, None)


async def test_a_job_with_options_of_none_equals_one_without(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.job(id="a", description=None, **NOT_GIVEN)(lambda: None)
    app.job(id="b")(lambda: None)

    async with app:
        jobs = (await app.open()).jobs
        a, b = await jobs.record("a"), await jobs.record("b")
    assert (a.spec.options, a.spec.description) == (b.spec.options, "")


@pytest.mark.parametrize("description", [5, b"x", [], datetime(2026, 1, 1)])
def test_a_description_must_be_text(description: Any) -> None:
    with pytest.raises(InvalidJob, match="description must be text"):
        Foliot().job(id="z", description=description)(lambda: None)


# -- many payloads


@pytest.mark.parametrize("payloads", [None, "abc", b"abc", {"a": 1}, 5])
async def test_a_single_payload_is_refused_by_enqueue_many(app: Foliot, payloads: Any) -> None:
    error = await refused(app.enqueue_many("report", payloads))

    assert "enqueue" in error.hint
    assert await app.runs.page() == []


async def test_payloads_may_be_an_iterator(app: Foliot) -> None:
    await app.enqueue_many("report", ({"day": day} for day in ("mon", "tue")))

    assert [run.input_payload for run in await app.runs.page()] == [{"day": "tue"}, {"day": "mon"}]


async def test_enqueue_many_accepts_a_later_time(app: Foliot) -> None:
    await app.enqueue_many("report", [1, 2], run_at=datetime(2100, 1, 1, tzinfo=UTC))
    await app.enqueue_many("report", [3], delay=timedelta(days=1))

    assert {run.status for run in await app.runs.page()} == {"scheduled"}


@pytest.mark.parametrize("option", [{"dedupe_key": "k"}, {"dedupe": "active"}])
async def test_enqueue_many_refuses_a_dedupe_key(app: Foliot, option: dict[str, Any]) -> None:
    error = await refused(app.enqueue_many("report", [1, 2], **option))

    assert "enqueue" in error.hint
    assert await app.runs.page() == []


# -- ids

BY_RUN = [f"runs.{verb}" for verb in ("get", "attempts", "cancel", "retry", "mark", "logs", "output", "wait")]
BY_JOB = [f"jobs.{verb}" for verb in ("pause", "resume", "delete", "is_running", "wait")]
BY_EXECUTION = ["workflows.status", "workflows.rerun"]
BY_WORKFLOW = ["workflows.delete", "workflows.document", "workflows.active"]
BY_SCHEDULE = [f"schedules.{verb}" for verb in ("get", "delete", "pause", "resume", "ticks")]


@pytest.mark.parametrize("wrong", [5, b"x", [], {}, {1}, object(), Silent(), timedelta(0), 1 << 70])
async def test_an_id_must_be_text(app: Foliot, wrong: Any) -> None:
    for verb in (*BY_RUN, *BY_JOB, *BY_EXECUTION, *BY_WORKFLOW, *BY_SCHEDULE):
        assert "must be text" in (await refused(attrgetter(verb)(app)(wrong))).message


async def test_an_id_of_none_is_refused(app: Foliot) -> None:
    for verb in (*BY_RUN, *BY_JOB, *BY_EXECUTION, *BY_SCHEDULE):
        await refused(attrgetter(verb)(app)(None))


@pytest.mark.parametrize("verb", ["mark_step", "approve", "reject", "pause_step"])
async def test_the_ids_of_a_workflow_and_execution_must_be_text(app: Foliot, verb: str) -> None:
    await refused(getattr(app.workflows, verb)([], "a"))
    await refused(getattr(app.workflows, verb)("etl", []))


async def test_the_run_id_of_a_log_must_be_text(app: Foliot) -> None:
    with pytest.raises(InvalidInput, match="run_id must be text"):
        await anext(app.runs.follow(5))  # type: ignore[arg-type]


@pytest.mark.parametrize("after", [timedelta(0), 1 << 70, [], b"x"])
async def test_the_after_of_a_page_of_jobs_must_be_text(app: Foliot, after: Any) -> None:
    assert "after must be text" in (await refused(app.jobs.page(after=after))).message


@pytest.mark.parametrize("job", [5, None, [], [LONG], Silent()])
async def test_a_job_is_given_by_its_id_or_its_function(app: Foliot, job: Any) -> None:
    await refused(app.enqueue(job))


async def test_a_missing_execution_raises_with_a_hint(app: Foliot) -> None:
    with pytest.raises(NotFound, match="foliot workflows active"):
        await app.workflows.rerun("nope")


# -- declarations

DECLARATIONS: list[tuple[Callable[[Foliot, Any], object], str]] = [
    (lambda app, wrong: app.shell("z", wrong), "command"),
    (lambda app, wrong: app.http("z", wrong), "command"),
    (lambda app, wrong: app.shell(wrong, "true"), "id"),
    (lambda app, wrong: app.schedule(wrong, "report", every=60), "id"),
]


@pytest.mark.parametrize("wrong", [5, None, {}, {"a"}, b"x", object()])
@pytest.mark.parametrize(("declare", "field"), DECLARATIONS)
def test_a_declared_field_that_is_not_text_is_refused(
    declare: Callable[[Foliot, Any], object], field: str, wrong: Any
) -> None:
    with pytest.raises(InvalidInput, match=f"{field} must be text"):
        declare(Foliot(), wrong)


@pytest.mark.parametrize("wrong", [5, b"x", object()])
def test_the_id_of_a_function_must_be_text(wrong: Any) -> None:
    with pytest.raises(InvalidJob, match="id must be text"):
        Foliot().job(id=wrong)(lambda: None)


@pytest.mark.parametrize("field", ["env", "umask", "limits", "kill_after", "output_cap", "output"])
def test_a_lone_surrogate_in_a_process_field_is_refused(field: str) -> None:
    with pytest.raises(InvalidJob, match=field) as caught:
        Foliot().shell("z", "true", **{field: HALF})  # type: ignore[arg-type]

    assert str(caught.value).encode()


@pytest.mark.parametrize("storage", [5, None, b"sqlite:///x.db", []])
async def test_the_storage_url_must_be_text(storage: Any) -> None:
    assert "storage must be text" in (await refused(Foliot(storage).open())).message


# -- keys that runs share


@pytest.mark.parametrize("key", [HALF, "a\0b"])
async def test_a_concurrency_key_that_cannot_be_stored_is_refused(app: Foliot, key: str) -> None:
    error = await refused(app.enqueue("report", concurrency_key=key))

    assert error.field == "concurrency_key"
    with pytest.raises(InvalidJob, match="concurrency_key"):
        Foliot().job(id="z", concurrency_key=key)(lambda: None)


# -- moments


async def test_a_time_zone_without_an_offset_is_refused(app: Foliot) -> None:
    lost = datetime(2100, 1, 1, tzinfo=Nowhere())

    for asked in (app.enqueue("report", run_at=lost), app.schedules.upsert("t", job_id="report", at=lost)):
        assert "has no timezone" in (await refused(asked)).message


# -- what is shown

Ask = Callable[[Foliot, Any], Any]
ECHOES: list[Ask] = [
    lambda app, wrong: app.runs.page(limit=wrong),
    lambda app, wrong: app.schedules.upsert("t", job_id="report", cron="@daily", paused=wrong),
    lambda app, wrong: app.schedules.upsert("t", job_id="report", cron="@daily", overlap=wrong),
    lambda app, wrong: app.schedules.upsert("t", job_id="report", cron="@daily", catchup=wrong),
    lambda app, wrong: app.schedules.upsert("t", job_id="report", cron="@daily", dst=wrong),
    lambda app, wrong: app.enqueue("report", dedupe=wrong),
    lambda app, wrong: app.enqueue("report", delivery=wrong),
    lambda app, wrong: app.runs.page(status=wrong),
    lambda app, wrong: app.schedules.delete("s", force=wrong),
    lambda app, wrong: app.jobs.delete("report", force=wrong),
    lambda app, wrong: app.workflows.delete("w", force=wrong),
]


@pytest.mark.parametrize("wrong", [A_LONG, Silent(), [LONG]])
@pytest.mark.parametrize("ask", ECHOES)
async def test_an_invalid_value_is_shortened_in_the_error(app: Foliot, ask: Ask, wrong: Any) -> None:
    await refused(ask(app, wrong))


def test_a_long_invalid_process_field_is_shortened_in_the_error() -> None:
    with pytest.raises(InvalidJob, match=r"output 'x+' is not an allowed value") as caught:
        Foliot().shell("z", "true", output=LONG)  # type: ignore[arg-type]

    assert len(str(caught.value)) < 2_000


async def test_a_long_payload_key_is_shortened_in_the_error(app: Foliot) -> None:
    await refused(app.enqueue("report", {(LONG,): 1}))


# -- time in tests


@pytest.mark.parametrize("span", [5, None, "1h", timedelta(-1), timedelta.max])
async def test_an_inline_engine_advances_by_a_timedelta(span: Any) -> None:
    async with InlineEngine(Foliot()) as engine:
        before = engine.clock.now()

        await refused(engine.advance(span))

        assert engine.clock.now() == before
