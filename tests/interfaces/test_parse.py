"""Times as option values."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from foliot.errors import InvalidInput
from foliot.interfaces.cli.parse import parse_moment, parse_past, parse_span, seconds_within

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90", timedelta(seconds=90)),
        ("250ms", timedelta(milliseconds=250)),
        ("90s", timedelta(seconds=90)),
        ("1.5h", timedelta(minutes=90)),
        (" 7 d ", timedelta(days=7)),
        ("2w", timedelta(days=14)),
        ("1h30m", timedelta(minutes=90)),
        ("999999999w", timedelta.max),
    ],
)
def test_a_length_of_time_has_units(text: str, length: timedelta) -> None:
    assert parse_span(text) == length


@pytest.mark.parametrize("text", ["", "soon", "-5m", "5 parsecs", "1e9s", "\u0663m", "nan", "7d7d"])
def test_an_invalid_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a duration"):
        parse_span(text)


def test_a_time_in_the_past_is_a_length_or_iso_8601() -> None:
    assert parse_past("24h", NOON) == NOON - timedelta(days=1)
    assert parse_past("2026-06-30T12:00Z", NOON) == NOON - timedelta(days=1)
    assert parse_past("999999999w", NOON) == datetime.min.replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-07-01T12:00:00Z", "2026-07-01T14:00+02:00", "2026-07-01 12:00", "20260701T12Z"])
def test_a_moment_is_in_utc_unless_it_has_an_offset(text: str) -> None:
    assert parse_moment(text) == NOON


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "25:00"])
def test_an_invalid_moment_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a time"):
        parse_moment(text)


@pytest.mark.parametrize("read", [parse_moment, partial(parse_past, now=NOON)])
def test_the_examples_in_the_hints_are_valid(read: Callable[[str], datetime]) -> None:
    with pytest.raises(InvalidInput) as refused:
        read("tomorrow")

    offered = re.findall(r'"([^"]+)"', refused.value.hint)
    assert offered
    assert [read(text).tzinfo for text in offered] == [UTC] * len(offered)


def test_a_moment_without_an_offset_is_in_utc_in_every_local_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert parse_moment("2026-01-31T08:00") == datetime(2026, 1, 31, 8, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_option_of_a_server_takes_a_duration_or_a_number_of_seconds() -> None:
    option = seconds_within(1, 3_600)

    assert [option(given) for given in ("2", "1.5", "2m", "1m30s", "250s")] == [2, 1.5, 120, 90, 250]
