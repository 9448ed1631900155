"""One table of options: the same names, aliases, values and errors in files, documents and keyword arguments."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot, Workflow
from foliot.domain.input.job import job_options
from foliot.domain.input.keywords import read_keywords
from foliot.domain.instant import HOUR, MINUTE, SECOND
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.vocabulary.field import Field, Schema
from foliot.domain.vocabulary.places import (
    CALL_PLACES,
    FILE_PLACES,
    RUN_CALL,
    SCHEDULE_CALL,
    SECTIONS,
    TRIGGER,
    WORKFLOW_SCHEDULE,
)
from foliot.errors import InvalidInput, InvalidJob, InvalidSchedule
from tests.cases import for_each

PLACES = (*FILE_PLACES, *SECTIONS.values(), WORKFLOW_SCHEDULE, TRIGGER, *CALL_PLACES, RUN_CALL)


def job(**options: Any) -> JobSpec:
    app = Foliot()
    app.shell("z", "true", **options)
    return app._jobs["z"]  # type: ignore[index]


def schedule(**options: Any) -> ScheduleSpec:
    app = Foliot()
    app.schedule("s", "z", **options)
    return app._schedules["s"]  # type: ignore[index]


# -- the table


@for_each("schema", PLACES)
def test_no_name_of_a_place_has_two_meanings(schema: Schema) -> None:
    names = [name for field in schema for name in (*field.names, *field.former)]

    assert len(names) == len(set(names))


@for_each("schema", PLACES)
def test_no_option_has_a_unit_in_its_name(schema: Schema) -> None:
    assert [field.name for field in schema if field.name.endswith(("_sec", "_ms"))] == []


def test_an_option_is_read_the_same_way_wherever_it_stands() -> None:
    read: dict[str, set[Any]] = {}
    for schema in (*CALL_PLACES, RUN_CALL, *FILE_PLACES):
        for field in schema:
            read.setdefault(field.name, set()).add((field.read, field.aliases, field.attribute))

    # A payload fills another attribute of a job; the others are different things with the same name.
    shared_names = {"payload", "overlap", "concurrency", "name", "max_concurrent", "window", "verify", "retry_delays"}
    assert {name for name, ways in read.items() if len(ways) > 1} == shared_names


# -- aliases


@for_each(
    ("alias", "option"),
    [
        ({"timeout_sec": 90}, {"timeout": "1m30s"}),
        ({"timeout_sec": "90s"}, {"timeout": timedelta(seconds=90)}),
        ({"retry_count": 3, "retry_delay_sec": 5}, {"retries": 3, "retry_delay": "5s"}),
        ({"depends_on": "a", "window_sec": 60}, {"depends_on": "a", "window": "1m"}),
        ({"depends_on": "a", "cooldown_sec": 60}, {"depends_on": "a", "cooldown": "1m"}),
    ],
)
def test_the_alias_of_an_option_of_a_job_means_the_option(alias: dict[str, Any], option: dict[str, Any]) -> None:
    assert job(**alias) == job(**option)


@for_each(
    ("alias", "option"),
    [
        ({"cron_expr": "@daily"}, {"cron": "@daily"}),
        ({"schedule": "@daily"}, {"cron": "@daily"}),
        ({"interval": 300}, {"every": "5m"}),
        ({"every": 300, "jitter_ms": 1500}, {"every": 300, "jitter": 1.5}),
        ({"every": 300, "jitter_ms": "1500ms"}, {"every": 300, "jitter": "1500ms"}),
        ({"every": 300, "overlap_policy": "queue"}, {"every": 300, "overlap": "queue"}),
        ({"every": 300, "catchup_policy": "fire_immediately"}, {"every": 300, "catchup": "all"}),
        ({"every": 300, "catchup_max_age_sec": 60}, {"every": 300, "catchup_max_age": "1m"}),
    ],
)
def test_the_alias_of_an_option_of_a_schedule_means_the_option(alias: dict[str, Any], option: dict[str, Any]) -> None:
    assert schedule(**alias) == schedule(**option)


@for_each(
    ("given", "both"),
    [
        ({"timeout": 1, "timeout_sec": 1}, "timeout and timeout_sec are the same option"),
        ({"retry_count": 1, "retries": 1}, "retry_count and retries are the same option"),
    ],
)
def test_an_option_and_its_alias_together_are_refused_by_both_names(given: dict[str, Any], both: str) -> None:
    with pytest.raises(InvalidJob, match=both):
        job(**given)


def test_an_alias_that_is_none_was_not_given() -> None:
    assert schedule(cron="@daily", cron_expr=None) == schedule(cron="@daily")


# -- durations


@for_each("length", [5_400, 5_400.0, "5400s", "90m", "1.5h", "1h30m", timedelta(minutes=90)])
def test_a_duration_is_a_number_of_seconds_or_text_or_a_timedelta(length: Any) -> None:
    read = job(timeout=length, retry_delay=length, retry_delays=[length], depends_on="a", wait=length)

    assert (read.options.timeout, read.options.retry.base, read.options.retry.delays) == (
        90 * MINUTE,
        90 * MINUTE,
        (90 * MINUTE,),
    )
    assert read.gate is not None
    assert read.gate.wait == 90 * MINUTE
    assert schedule(every=length, jitter="30m").jitter == 30 * MINUTE


def test_zero_means_no_limit_as_it_does_in_a_file() -> None:
    assert job_options(timeout=0, max_concurrent=0) == {"timeout": None, "max_concurrent": None}


def test_limits_of_a_process_are_written_as_in_a_file() -> None:
    read = job(limits={"memory": "1GB", "cpu_time": "1m"}, kill_after="500ms", umask="022", output_cap="1KB")

    assert read.spec["limits"] == {"memory": 1 << 30, "cpu_sec": 60}
    assert (read.spec["grace"], read.spec["umask"], read.spec["output_cap"]) == (0.5, 0o22, 1024)


def test_a_step_has_the_options_of_a_job() -> None:
    workflow = Workflow("w", timeout="1h")
    workflow.step("a", shell="true", timeout_sec=5, approve=False, kill_after=1)  # type: ignore[call-arg]
    workflow.step("b", approve={"timeout_sec": 60})

    a, b = workflow.spec.steps
    assert a.definition is not None
    assert (workflow.spec.options.timeout, a.definition.options.timeout) == (HOUR, 5 * SECOND)
    assert b.approval is not None
    assert b.approval.timeout == MINUTE


# -- errors


@for_each(
    ("given", "message", "hint"),
    [
        ({"timeout_sec": -1}, "timeout_sec must be 0 to 10000000000 seconds, not -1", "90s"),
        ({"timeout_sec": 1e9}, "timeout_sec must be above 0 and at most 31622400 seconds, not 1e+09", "Leave it out"),
        ({"retry_count": 5_000}, "retry_count must be 0 to 1000, not 5000", "Use 0"),
        ({"retries": "3"}, "retries '3' is not a whole number", "digits"),
        ({"retrys": 3}, "option 'retrys' does not exist", 'Did you mean "retries"?'),
        ({"retry_cont": 3}, "option 'retry_cont' does not exist", 'Did you mean "retries"?'),
        ({"grace": 3}, "option 'grace' does not exist", 'It is now called "kill_after".'),
        ({"overlap": "skip"}, "option 'overlap' does not exist", "It is an option of a schedule."),
        ({"headers": {}}, "option 'headers' does not exist", "It is an option of a job of kind http."),
        ({"limits": {"memry": 1}}, "option 'limits.memry' does not exist", 'Did you mean "memory"?'),
        ({"limits": {"memory": "x"}}, "limits.memory 'x' is not a size", "512MB"),
        ({"limits": 5}, "limits must be a dict of options, not a whole number", "memory"),
        ({"env": {"A": []}}, "env 'A' must be text, not a list", "quotes"),
    ],
)
def test_an_error_of_a_job_names_the_option_as_it_was_written(given: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(InvalidJob) as refused:
        job(**given)

    assert refused.value.message == message
    assert hint in refused.value.hint


@for_each(
    ("given", "message"),
    [
        ({"every": 10, "jitter_ms": 6_000}, "jitter_ms of 6 s is more than half of the 10 s between two fires"),
        ({"every": 10, "jitter": 6}, "jitter of 6 s is more than half of the 10 s between two fires"),
        ({"cron_expr": "@daily", "interval": 5}, "a schedule has one rule, not 2: cron_expr, interval"),
        ({"interval": 0.5}, "interval must be a whole number of seconds, at least 1, not 0.5"),
        ({"at": datetime(2030, 1, 1)}, "at 2030-01-01T00:00:00 has no timezone"),
        ({"at": datetime(1950, 1, 1, tzinfo=UTC)}, "at 1950-01-01T00:00:00+00:00 is not between 1970 and 9999"),
        ({"every": "5m", "timout": "30s"}, "option 'timout' does not exist"),
    ],
)
def test_an_error_of_a_schedule_names_the_option_as_it_was_written(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        schedule(**given)

    assert refused.value.message == message


def test_a_schedule_has_options_for_its_runs() -> None:
    spec = schedule(every="5m", overlap="queue", timeout="30s", retries=2)

    assert spec.options == {"timeout": 30_000, "retry": {"retries": 2}}


def test_the_description_of_a_job_in_a_schedule_is_refused_with_its_owner() -> None:
    with pytest.raises(InvalidSchedule) as refused:
        schedule(every="5m", description="nightly")

    assert refused.value.hint == "It is an option of a job."


async def test_options_of_a_schedule_of_a_workflow_are_refused(tmp_path: Path) -> None:
    async with Foliot(f"sqlite:///{tmp_path}/foliot.db") as app:
        with pytest.raises(InvalidInput, match="a schedule of a workflow cannot have the option timeout"):
            await app.schedules.upsert("s", workflow_id="etl", every=10, timeout=5)


async def test_an_error_of_a_stored_schedule_names_the_option_as_it_was_written(tmp_path: Path) -> None:
    async with Foliot(f"sqlite:///{tmp_path}/foliot.db") as app:
        with pytest.raises(InvalidInput, match="jitter_ms of 6 s is more than half"):
            await app.schedules.upsert("s", job_id="z", every=10, jitter_ms=6_000)  # type: ignore[call-arg]


def test_every_option_of_a_schedule_can_be_left_out_with_none() -> None:
    nothing = {field.name: None for field in SCHEDULE_CALL if field.name != "cron" and not field.takes_none}

    assert schedule(cron="@daily", **nothing) == schedule(cron="@daily")


def test_a_nullable_option_keeps_none() -> None:
    fields: list[Field] = [field for field in RUN_CALL if field.takes_none]

    assert read_keywords(RUN_CALL, {field.name: None for field in fields}) == dict.fromkeys(
        ["max_concurrent", "concurrency_key"]
    )
