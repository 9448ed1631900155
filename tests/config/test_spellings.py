"""Names of options in a file: aliases mean the same as the option, former names are refused with the new one."""

import pytest

from foliot.domain.vocabulary.field import Field
from foliot.domain.vocabulary.places import JOB, SECTIONS
from tests.cases import for_each
from tests.config.conftest import Good, Loader

JOBS = '[[jobs]]\nid = "a"\ncommand = "x"\n[[jobs]]\nid = "b"\ncommand = "x"\ndepends_on = "a"\nevery = 600\n'
HOUR = '"1h"'


@for_each(
    ("alias", "option"),
    [
        ("timeout_sec = 90", 'timeout = "90s"'),
        ("retry_count = 2\nretry_delay_sec = 5", 'retries = 2\nretry_delay = "5s"'),
        ("jitter_ms = 1500", "jitter = 1.5"),
        ('jitter_ms = "2s"', "jitter = 2"),
        ('overlap_policy = "queue"\ncatchup_policy = "skip"', 'overlap = "queue"\ncatchup = "none"'),
        ("catchup_max_age_sec = 60", 'catchup_max_age = "1m"'),
        ("window_sec = 60\ncooldown_sec = 60", 'window = "1m"\ncooldown = "1m"'),
    ],
)
def test_an_alias_means_the_option(good: Good, alias: str, option: str) -> None:
    assert good(JOBS + alias).declared == good(JOBS + option).declared


@for_each(
    ("alias", "option"),
    [
        ("tick_ms = 250", "tick = 0.25"),
        ("lookahead_ms = 5000", 'lookahead = "5s"'),
        ('label = "x"', 'name = "x"'),
    ],
)
def test_an_alias_of_the_server_means_the_option(good: Good, alias: str, option: str) -> None:
    assert good(f"[server]\n{alias}").server == good(f"[server]\n{option}").server


def test_the_defaults_of_the_server_may_have_the_names_of_the_specification(good: Good) -> None:
    said = '[server]\ndefault_overlap_policy = "queue"\ndefault_jitter_ms = 1500\n'

    [schedule] = good(said + JOBS).declared.schedules.values()

    assert (schedule.overlap, schedule.jitter) == ("queue", 1_500)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("timeout = 5\ntimeout_sec = 5", 10, "timeout and timeout_sec are the same option"),
        ("retry_count = 5\nretries = 5", 10, "retry_count and retries are the same option"),
        ("interval = 5", 9, "every and interval are the same option"),
    ],
)
def test_an_option_and_its_alias_together_are_refused_by_both_names(
    loaded: Loader, text: str, line: int, message: str
) -> None:
    [error] = loaded(JOBS + text).errors

    assert (error.line, error.message) == (line, message)


def test_two_variables_for_one_option_are_refused_by_both_names(loaded: Loader) -> None:
    [error] = loaded("", FOLIOT_TICK_MS="250", FOLIOT_SERVER_TICK="1").errors

    assert error.message == "FOLIOT_TICK_MS and FOLIOT_SERVER_TICK are the same option"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("timeout_sec = 1e9", "timeout_sec must be above 0 and at most 31622400 seconds, not 1e+09"),
        ("timeout = 1e9", "timeout must be above 0 and at most 31622400 seconds, not 1e+09"),
        ("retry_count = 5000", "retry_count must be 0 to 1000, not 5000"),
        (
            "jitter_ms = 400000",
            'schedule "b:default": jitter_ms of 400 s is more than half of the 600 s between two fires',
        ),
        ("window_sec = 0", "window_sec must be more than 0"),
    ],
)
def test_an_error_names_the_option_as_it_was_written(loaded: Loader, text: str, message: str) -> None:
    [error] = loaded(JOBS + text).errors

    assert error.message == message


FORMER = [(field, name) for schema in (JOB, *SECTIONS.values()) for field in schema for name in field.former]


@for_each(("field", "name"), FORMER)
def test_a_former_name_is_refused_with_the_new_one(loaded: Loader, field: Field, name: str) -> None:
    table = "[server]\n" if field in (*SECTIONS["server"],) else JOBS

    [error] = loaded(f"{table}{name} = {HOUR}").errors

    assert (error.message, error.hint) == (f"key '{name}' does not exist", f'It is now called "{field.name}".')


def test_an_option_of_a_job_in_a_schedule_gets_a_hint(loaded: Loader) -> None:
    [error] = loaded(JOBS + '[[jobs.schedules]]\nname = "x"\nevery = 60\ntimeout = 5').errors

    assert (error.message, error.hint) == ("key 'timeout' does not exist", "It is an option of [[jobs]].")
