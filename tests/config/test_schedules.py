"""Schedules of jobs: inline, and in [[jobs.schedules]]."""

from typing import Any

import pytest

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import HOUR, MINUTE
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from tests.cases import for_each
from tests.config.conftest import Good, Loader

FLOW = '[[workflows]]\nid = "f"\n[[workflows.steps]]\nname = "s"\ncommand = "x"\n'
JOB = '[[jobs]]\nid = "a"\ncommand = "x"\n'


def test_the_inline_schedule_is_named_default(good: Good) -> None:
    declared = good(JOB + 'schedule = "0 3 * * *"').declared

    assert declared.schedules == {
        ScheduleId("a:default"): ScheduleSpec(type=ScheduleType.CRON, expr="0 3 * * *", job_id="a", source="file")  # type: ignore[arg-type]
    }


@for_each(
    ("rule", "kind", "expr"),
    [
        ('schedule = "@daily"', "cron", "@daily"),
        ('cron = "*/5 * * * *"', "cron", "*/5 * * * *"),
        ('schedule = "@every 90s"', "interval", "90"),
        ('schedule = "@triggered"', "manual", "@triggered"),
        ('schedule = "@manual"', "manual", "@manual"),
        ("every = 90", "interval", "90"),
        ('every = "15m"', "interval", "900"),
        ('interval = "1h30m"', "interval", "5400"),
        ("manual = true", "manual", ""),
        ('at = "2027-01-01T00:00:00+01:00"', "once", "1798758000000"),
    ],
)
def test_a_rule_can_be_written_in_several_ways(good: Good, rule: str, kind: str, expr: str) -> None:
    [inline] = good(JOB + rule).declared.schedules.values()
    [named] = good(f"{JOB}[[jobs.schedules]]\n{rule}").declared.schedules.values()

    assert (inline.type, inline.expr) == (kind, expr)
    assert named == inline


def test_a_job_may_have_several_schedules(good: Good) -> None:
    declared = good(
        JOB
        + """
        schedule = "@daily"
        timezone = "Europe/Berlin"
        overlap = "queue"
        payload = "of the job"
        [[jobs.schedules]]
        name = "often"
        every = "5m"
        overlap_policy = "allow"
        catchup_policy = "fire_immediately"
        catchup_max_age_sec = "1h"
        jitter_ms = 1000
        jitter_mode = "after"
        start_at = 2026-02-01T00:00:00Z
        end_at = 2026-03-01T00:00:00Z
        dst = "literal"
        dom_dow = "and"
        payload = { of = "the schedule" }
    """
    ).declared
    default, often = declared.schedules.values()

    assert list(declared.schedules) == ["a:default", "a:often"]
    assert (default.overlap, default.timezone, default.payload) == ("queue", "Europe/Berlin", None)
    assert (often.overlap, often.timezone, often.catchup) == ("allow", "Europe/Berlin", "all")
    assert (often.catchup_max_age, often.jitter, often.jitter_mode) == (HOUR, 1_000, "after")
    assert (often.dst, often.dom_dow, often.payload) == ("literal", "and", {"of": "the schedule"})
    assert often.start_at is not None
    assert often.end_at is not None


@for_each(
    ("text", "line", "message"),
    [
        ('schedule = "61 * * * *"', 4, "schedule \"a:default\": minute '61' is outside 0-59"),
        ('schedule = "0 0 30 2 *"', 4, 'schedule "a:default": '),
        ('schedule = "@daily"\nevery = 5', 4, 'schedule "a:default": a schedule has one rule, not 2'),
        ("[[jobs.schedules]]\nname = 'x'", 4, 'schedule "a:x": a schedule has one rule, not 0'),
        ("[[jobs.schedules]]\nname = 'x:y'\nevery = 9", 5, 'schedule "a:x:y": the name of a schedule cannot'),
        ("[[jobs.schedules]]\nname = 'x/y'\nevery = 9", 4, "schedule \"a:x/y\": schedule_id 'a:x/y' is not a valid"),
        ("schedules = 5", 4, "schedules must be a list of tables"),
        ("schedules = [5]", 4, "it must be a table"),
        ("every = 0.5", 4, "must be a whole number of seconds, at least 1, not 0.5"),
        ("every = '15 minutes'", 4, "'15 minutes' is not a duration"),
        ("at = 2027-01-01T00:00:00", 4, "2027-01-01T00:00:00 has no timezone"),
        ("at = 2027-01-01", 4, "must be a moment, not a date"),
        ("schedule = '@daily'\ntimezone = 'Europe/Berln'", 5, "timezone 'Europe/Berln' does not exist"),
        ("schedule = '@daily'\njitter_ms = -1", 5, "must be 0 to 86400 seconds, not -0.001"),
        ("every = 10\njitter_ms = 9000", 5, 'schedule "a:default": jitter_ms of 9 s is more than half of the 10 s'),
        ("schedule = '@daily'\noverlap = 'skp'", 5, "'skp' is not an allowed value"),
        ("schedule = 5", 4, "must be text, not a whole number"),
        (
            "schedule = '@daily'\nstart_at = 2027-01-01T00:00:00Z\nend_at = 2026-06-01T00:00:00Z",
            5,
            'schedule "a:default": start_at 2027-01-01T00:00:00Z is after end_at',
        ),
        (
            "schedule = '0 0 1 1 *'\nstart_at = 2027-02-01T00:00:00Z\nend_at = 2027-06-01T00:00:00Z",
            4,
            'schedule "a:default": the schedule never fires',
        ),
    ],
)
def test_an_invalid_schedule_is_refused_with_its_line(loaded: Loader, text: str, line: int, message: str) -> None:
    [error] = loaded(JOB + text).errors

    assert (error.line, error.message[: len(message)]) == (line, message)


def test_all_problems_of_a_schedule_are_reported_together(loaded: Loader) -> None:
    errors = loaded(JOB + 'schedule = "x"\ntimezone = "y"\njitter_ms = -1\noverlap = "z"\ndst = 3').errors

    assert [error.line for error in errors] == [4, 5, 6, 7, 8]


def test_two_schedules_of_a_job_need_two_names(loaded: Loader) -> None:
    [error] = loaded(JOB + "every = 60\n[[jobs.schedules]]\nevery = 90").errors

    assert (error.line, error.message) == (5, 'there are two schedules named "default"')
    assert "foliot.toml:4" in error.hint


@pytest.mark.parametrize("words", ["enabled = false", "paused = true"])
def test_a_job_or_a_schedule_is_disabled_by_either_word(good: Good, words: str) -> None:
    job = good(f"{JOB}every = 60\n{words}").declared
    schedule = good(f"{JOB}[[jobs.schedules]]\nevery = 60\n{words}").declared
    flow = good(f"{FLOW}[[workflows.schedules]]\nevery = 60\n{words}").declared

    assert [one.enabled for one in job.jobs.values()] == [False]
    assert [one.enabled for one in schedule.jobs.values()] == [True]
    assert [[one.enabled for one in found.schedules.values()] for found in (job, schedule, flow)] == [
        [True],
        [False],
        [False],
    ]


@pytest.mark.parametrize("words", ["enabled = true", "paused = false"])
def test_a_schedule_is_enabled_by_either_word(good: Good, words: str) -> None:
    declared = good(f"{JOB}[[jobs.schedules]]\nevery = 60\n{words}").declared

    assert [one.enabled for one in declared.schedules.values()] == [True]


def test_enabled_and_paused_are_one_option(loaded: Loader) -> None:
    [error] = loaded(JOB + "every = 60\nenabled = true\npaused = true").errors

    assert error.message == "enabled and paused are the same option"


# -- warnings


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ('schedule = "0 0 1 * MON"', 4, "both restricted"),
        ('catchup = "all"\nschedule = "@daily"', 4, "skipped while one of them runs"),
    ],
)
def test_a_questionable_schedule_is_a_warning(loaded: Loader, text: str, line: int, part: str) -> None:
    result = loaded(JOB + text)

    assert result.configuration is not None
    [warning] = result.warnings
    assert warning.line == line
    assert part in warning.message


@pytest.mark.parametrize(
    "text", ["at = 2025-01-01T00:00:00Z", "every = 60\nend_at = 2025-01-01T00:00:00Z", 'schedule = "0 0 0 1 1 * 2024"']
)
def test_a_schedule_in_the_past_is_not_an_error(loaded: Loader, text: str) -> None:
    result = loaded(JOB + text)

    assert result.configuration is not None
    assert result.configuration.declared.past == {"a:default"}
    assert "a:default" in result.configuration.declared.schedules
    assert "will not fire any more" in result.warnings[0].message


def test_durations_are_seconds_or_text(good: Good) -> None:
    def age(text: str) -> Any:
        [spec] = good(f"{JOB}every = 60\ncatchup_max_age_sec = {text}").declared.schedules.values()
        return spec.catchup_max_age

    assert [age(text) for text in ("90", "1.5", '"90s"', '"15m"', '"1d"', '"1h 30m"', '"500ms"', '"0.5h"')] == [
        90_000,
        1_500,
        90_000,
        15 * MINUTE,
        24 * HOUR,
        90 * MINUTE,
        500,
        30 * MINUTE,
    ]


@pytest.mark.parametrize(
    ("length", "table", "name", "line"),
    [(193, "", "default", 4), (200, "", "default", 4), (196, '[[jobs.schedules]]\nname = "four"\n', "four", 5)],
)
def test_an_id_too_long_for_schedule_names_is_reported(
    loaded: Loader, length: int, table: str, name: str, line: int
) -> None:
    job = JOB.replace('"a"', f'"{"j" * length}"')

    [error] = loaded(f'{job}{table}schedule = "@daily"').errors

    together = length + len(name)
    assert f"the id of the job and the name of its schedule have {together} characters together" in error.message
    assert (error.line, "shorter id" in error.hint) == (line, True)


def test_the_longest_possible_id_is_accepted(good: Good) -> None:
    [schedule_id] = good(JOB.replace('"a"', f'"{"j" * 192}"') + 'schedule = "@daily"').declared.schedules

    assert len(schedule_id) == 200


def test_a_schedule_of_a_job_has_options_for_its_runs(good: Good) -> None:
    [schedule] = good(JOB + '[[jobs.schedules]]\nname = "x"\nevery = 60\ntimeout = "5s"').declared.schedules.values()

    assert schedule.options == {"timeout": 5_000}
