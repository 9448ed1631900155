"""The public interface of cron: aware datetimes in and out, and objects that are cheap."""

import pickle
import re
from copy import copy, deepcopy
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from foliot import cron
from foliot.domain.cron import compiler as compiling
from foliot.domain.cron.wallclock import WallClock
from foliot.errors import InvalidInput

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
HALF_SECOND = timedelta(milliseconds=500)


def test_fires_are_in_the_zone_of_the_expression() -> None:
    fire = cron.compile("0 3 * * *", "America/New_York").next(NOON)

    assert fire == datetime(2026, 7, 2, 7, tzinfo=UTC)
    assert fire.tzinfo is ZoneInfo("America/New_York")


@pytest.mark.parametrize("tz", [timezone(-9 * HOUR), ZoneInfo("Asia/Kolkata")])
def test_the_zone_of_the_argument_does_not_matter(tz: ZoneInfo | timezone) -> None:
    assert cron.compile("0 * * * *").next(NOON.astimezone(tz)) == NOON + HOUR


def test_next_is_later_and_previous_is_earlier() -> None:
    hourly = cron.compile("0 * * * *")

    assert (hourly.previous(NOON), hourly.next(NOON)) == (NOON - HOUR, NOON + HOUR)


def test_fractions_of_a_second_are_respected() -> None:
    hourly = cron.compile("0 * * * *")

    assert hourly.next(NOON - HALF_SECOND) == NOON
    assert hourly.next(NOON + HALF_SECOND) == NOON + HOUR
    assert hourly.previous(NOON + HALF_SECOND) == NOON
    assert hourly.previous(NOON - HALF_SECOND) == NOON - HOUR


def test_the_second_pass_of_a_fold_is_distinguished_from_the_first() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    second_pass = datetime(2024, 10, 27, 2, 15, tzinfo=berlin, fold=1)

    fire = cron.compile("*/30 * * * *", "Europe/Berlin").next(second_pass)

    assert fire is not None
    assert (fire.fold, fire.astimezone(UTC)) == (1, datetime(2024, 10, 27, 1, 30, tzinfo=UTC))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Australia/Lord_Howe"])
def test_each_result_can_be_passed_back(zone: str) -> None:
    hourly = cron.compile("0 * * * *", zone)
    fire = hourly.next(datetime(2024, 10, 26, 12, tzinfo=UTC))
    walked: list[datetime] = []
    while fire is not None and len(walked) < 48:
        walked.append(fire)
        fire = hourly.next(fire)

    assert walked == hourly.between(walked[0], walked[-1], 99)
    assert len({fire.timestamp() for fire in walked}) == 48


def test_a_datetime_equal_to_the_last_result_but_in_the_other_pass_is_not_confused_with_it() -> None:
    hourly = cron.compile("0 * * * *", "Europe/Berlin")
    first_pass = hourly.next(datetime(2024, 10, 26, 23, 30, tzinfo=UTC))
    assert first_pass is not None

    second_pass = first_pass.replace(fold=1)

    assert second_pass == first_pass  # Python compares local time and ignores fold
    assert hourly.next(second_pass) == datetime(2024, 10, 27, 2, tzinfo=UTC)


def test_between_includes_both_ends() -> None:
    hourly = cron.compile("0 * * * *")

    assert hourly.between(NOON, NOON + 2 * HOUR, 9) == [NOON, NOON + HOUR, NOON + 2 * HOUR]
    assert hourly.between(NOON + HALF_SECOND, NOON + 2 * HOUR - HALF_SECOND, 9) == [NOON + HOUR]
    assert hourly.epochs_between(0, 7_200, 9) == [0, 3_600, 7_200]


@pytest.mark.parametrize(("limit", "found"), [(2, 2), (1, 1), (0, 0)])
def test_between_stops_at_the_limit(limit: int, found: int) -> None:
    assert len(cron.compile("* * * * * *").between(NOON, NOON + HOUR, limit)) == found


def test_between_is_empty_when_the_end_comes_first() -> None:
    assert cron.compile("* * * * *").between(NOON, NOON - HOUR, 9) == []


@pytest.mark.parametrize("ask", ["next", "previous"])
def test_naive_datetimes_are_refused(ask: str) -> None:
    with pytest.raises(ValueError, match="has no timezone: give it one, such as tzinfo=UTC"):
        getattr(cron.compile("* * * * *"), ask)(NOON.replace(tzinfo=None))


@pytest.mark.parametrize("expression", ["@every 1h", "0 3 * * *", "@manual"])
def test_a_naive_anchor_is_refused_whether_it_counts_or_not(expression: str) -> None:
    with pytest.raises(ValueError, match="has no timezone"):
        cron.compile(expression, anchor=NOON.replace(tzinfo=None))


NO_DATETIMES = [1_767_225_600, 1.5, None, "2026-01-01T00:00Z", timedelta(1), NOON.date(), NOON.timetz(), [], object()]


@pytest.mark.parametrize("value", NO_DATETIMES, ids=lambda value: type(value).__name__)
class TestWhatIsNoDatetime:
    """All methods raise the same TypeError."""

    @pytest.mark.parametrize("ask", ["next", "previous"])
    def test_a_value_that_is_not_a_datetime_is_refused(self, ask: str, value: Any) -> None:
        with pytest.raises(TypeError, match=f"^{re.escape(repr(value))} is not a datetime$"):
            getattr(cron.compile("* * * * *"), ask)(value)

    def test_a_value_that_is_not_a_datetime_is_refused_as_start_or_end(self, value: Any) -> None:
        for start, end in ((value, NOON), (NOON, value)):
            with pytest.raises(TypeError, match=f"^{re.escape(repr(value))} is not a datetime$"):
                cron.compile("* * * * *").between(start, end, 9)

    @pytest.mark.parametrize("expression", ["@every 1h", "0 3 * * *", "@manual"])
    def test_a_value_that_is_not_a_datetime_is_refused_as_anchor(self, expression: str, value: Any) -> None:
        if value is not None:
            with pytest.raises(TypeError, match=f"^{re.escape(repr(value))} is not a datetime$"):
                cron.compile(expression, anchor=value)


def test_every_argument_can_be_given_by_its_name() -> None:
    compiled = cron.compile(expr="H 3 * * *", tz="Asia/Tokyo", dst="skip", dom_dow="and", key="backup", anchor=NOON)

    assert (compiled.expression, compiled.timezone) == ("H 3 * * *", "Asia/Tokyo")


@pytest.mark.parametrize("expression", [None, 5, b"* * * * *", ["*"]], ids=str)
def test_an_expression_that_is_not_text_is_refused(expression: Any) -> None:
    with pytest.raises(cron.InvalidCron, match="an expression must be text, not ") as refused:
        cron.compile(expression)

    assert refused.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [("tz", ZoneInfo("Asia/Tokyo")), ("tz", 1), ("tz", ["UTC"]), ("key", 7), ("dst", []), ("dom_dow", {})],
)
def test_zone_key_and_policies_must_be_text(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must be text, not "):
        cron.compile("H 3 * * *", **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [("dst", None, "Choose one of vixie, skip, literal."), ("dom_dow", None, "Choose one of or, and.")],
)
def test_a_policy_of_none_is_refused(name: str, value: Any, hint: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must be text, not None\n") as refused:
        cron.compile("0 3 * * *", **{name: value})

    assert (refused.value.field, refused.value.hint) == (name, hint)


def test_utc_is_the_zone_when_none_is_named() -> None:
    assert cron.compile("0 3 * * *").timezone == "UTC"


def test_the_expression_is_kept_as_it_was_written() -> None:
    compiled = cron.compile(" 0  3 * * mon ")

    assert compiled.expression == " 0  3 * * mon "
    assert repr(compiled) == "<Cron ' 0  3 * * mon ' in UTC>"


def test_equal_calls_return_the_same_object() -> None:
    first = cron.compile("0 3 * * *", "Asia/Tokyo", key="a", anchor=NOON)

    assert cron.compile("0 3 * * *", "Asia/Tokyo", key="b", anchor=NOON + HOUR) is first


@pytest.mark.parametrize("expression", ["0 3 * * *", "H H * * *", "@every 90s", "@manual", "@reboot"])
def test_a_copy_is_equal_and_has_the_same_hash(expression: str) -> None:
    first = cron.compile(expression, "Asia/Tokyo", dst="skip", key="a", anchor=NOON)
    written = pickle.dumps(first)
    compiling._compile.cache_clear()

    again = pickle.loads(written)

    assert again is not first
    assert (again, hash(again)) == (first, hash(first))
    assert (again.next(NOON), copy(first), deepcopy([first])) == (first.next(NOON), first, [first])


@pytest.mark.parametrize(
    "other",
    [
        cron.compile("0 4 * * H", "UTC", key="a"),
        cron.compile("0 3 * * H", "Asia/Tokyo", key="a"),
        cron.compile("0 3 * * H", "UTC", key="b"),
        cron.compile("0 3 * * H", "UTC", key="a", dst="skip"),
        cron.compile("0 3 * * H", "UTC", key="a", dom_dow="and"),
        cron.compile("@every 90s", anchor=NOON),
        "0 3 * * H",
    ],
)
def test_expressions_compiled_from_different_arguments_are_not_equal(other: object) -> None:
    assert cron.compile("0 3 * * H", key="a") != other
    assert cron.compile("@every 90s") != other


def test_a_zone_in_the_expression_equals_a_zone_argument() -> None:
    assert cron.compile("0 3 * * *") == cron.compile("0 3 * * *", "UTC")
    assert len({cron.compile("0 3 * * *"), cron.compile("0 3 * * *", "UTC")}) == 1


@pytest.mark.parametrize("limit", [-1, 2.5, True, "3", None])
def test_a_limit_is_a_whole_number_that_is_not_negative(limit: Any) -> None:
    with pytest.raises(InvalidInput, match="limit must be a whole number from 0 on"):
        cron.compile("0 * * * *").between(NOON, NOON + HOUR, limit)


def test_different_expressions_share_equal_tables() -> None:
    one, two = cron.compile("0 3 * * MON"), cron.compile("00 3 * * 1", "Asia/Tokyo")

    assert isinstance(one, WallClock)
    assert isinstance(two, WallClock)
    assert one.pattern.days is two.pattern.days
    assert one.pattern.times is two.pattern.times


def test_a_compiled_expression_accepts_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        cron.compile("* * * * *").note = "mine"  # type: ignore[attr-defined]
