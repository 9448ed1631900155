"""Every fault is an InvalidCron with a position, a message and a hint with the correction."""

import pytest

from foliot import cron
from foliot.errors import InvalidInput
from tests.cases import for_each

FAULTS = [
    ("", 0, "empty"),
    (" \t ", 0, "empty"),
    ("TZ=UTC", 6, "the expression after the zone 'UTC' is missing"),
    (" CRON_TZ=Europe/Berlin  ", 22, "the expression after the zone 'Europe/Berlin' is missing"),
    ("* * * *", 6, "4 fields"),
    ("*", 0, "1 field"),
    ("* * * * * * * *", 14, "8 fields"),
    ("60 * * * *", 0, "minute '60' is outside 0-59"),
    ("* 24 * * *", 2, "hour '24' is outside 0-23"),
    ("60 * * * * *", 0, "second '60' is outside 0-59"),
    ("* * 0 * *", 4, "day-of-month '0' is outside 1-31"),
    ("* * 32 * *", 4, "day-of-month '32' is outside 1-31"),
    ("* * * 0 *", 6, "month '0' is outside 1-12"),
    ("* * * 13 *", 6, "month '13' is outside 1-12"),
    ("* * * * 8", 8, "day-of-week '8' is outside 0-7"),
    ("* * * * * * 1969", 12, "year '1969' is outside 1970-9999"),
    ("* * * * * * 10000", 12, "year '10000' is outside 1970-9999"),
    ("* * * * * * 2030-2020", 12, "runs backwards"),
    ("1,2,60 * * * *", 4, "minute '60'"),
    ("10-60 * * * *", 3, "minute '60'"),
    ("*/0 * * * *", 2, "a step cannot be 0"),
    ("*/61 * * * *", 2, "step '61' is larger than the minute field"),
    ("* */25 * * *", 4, "step '25' is larger than the hour field"),
    ("* * * * */8", 10, "step '8' is larger than the day-of-week field"),
    ("*/ * * * *", 2, "step '' in the minute field is not a number"),
    ("*/x * * * *", 2, "step 'x'"),
    ("*/1/2 * * * *", 2, "step '1/2'"),
    ("*/-5 * * * *", 2, "step '-5'"),
    ("5--5 * * * *", 2, "'-5' is not a minute"),
    ("-5 * * * *", 0, "'-5' in the minute field begins with a sign"),
    ("* * -1 * *", 4, "'-1' in the day-of-month field begins with a sign"),
    ("* * 5,-5-7/2 * *", 6, "'-5-7' in the day-of-month field begins with a sign"),
    ("- * * * *", 0, "a value is missing in the minute field"),
    ("* * * * -MON", 8, "a value is missing in the day-of-week field"),
    ("5- * * * *", 2, "a value is missing in the minute field"),
    ("1-2-3 * * * *", 2, "'2-3' is not a minute"),
    ("+5 * * * *", 0, "'+5' is not a minute"),
    ("1_0 * * * *", 0, "'1_0' is not a minute"),
    ("1.5 * * * *", 0, "'1.5' is not a minute"),
    ("1e1 * * * *", 0, "'1e1' is not a minute"),
    ("0x1 * * * *", 0, "'0x1' is not a minute"),
    ("** * * * *", 0, "'**' is not a minute"),
    ("*5 * * * *", 0, "'*5' is not a minute"),
    ("*-5 * * * *", 0, "'*' is not a minute"),
    ("/5 * * * *", 0, "a value is missing in the minute field"),
    ("٣ * * * *", 0, "character '\\u0663'"),
    ("* 1٣ * * *", 3, "character '\\u0663'"),
    ("１ * * * *", 0, "character '\\uff11'"),
    ("² * * * *", 0, "character '\\xb2'"),
    ("* *\u00a0* * *", 3, "character '\\xa0'"),
    ("* * * * *\n", 9, "character '\\n'"),
    ("* * * * *\x00", 9, "character '\\x00'"),
    ("* * \x1b[31m* * *", 4, "character '\\x1b'"),
    (", * * * *", 0, "empty item"),
    ("1, * * * *", 2, "empty item"),
    ("1,,2 * * * *", 2, "empty item"),
    (",1 * * * *", 0, "empty item"),
    ("* * 1, * *", 6, "empty item"),
    ("* * * * ,MON", 8, "empty item"),
    ("* * * * MONDAY", 8, "'MONDAY' is not a day-of-week"),
    ("* * * JANUARY *", 6, "'JANUARY' is not a month"),
    ("* * * * MO", 8, "'MO' is not a day-of-week"),
    ("* * * * JAN", 8, "'JAN' is not a day-of-week"),
    ("* * * MON *", 6, "'MON' is not a month"),
    ("* MON * * *", 2, "'MON' is not an hour"),
    ("L * * * *", 0, "'L' is not a minute"),
    ("* * * L *", 6, "'L' is not a month"),
    ("* * L-31 * *", 6, "'L-31' is before the first day of every month"),
    ("* * LL * *", 4, "'LL' is not a day-of-month"),
    ("* * L-W * *", 4, "'L-W' is not a day-of-month"),
    ("* * 10-L * *", 7, "'L' cannot be used in a range or with a step"),
    ("* * L/2 * *", 4, "'L' cannot be used"),
    ("* * LW/2 * *", 4, "'LW' cannot be used"),
    ("* * 1,15W-20 * *", 6, "'15W' cannot be used"),
    ("* * L-3/2 * *", 4, "'L' cannot be used"),
    ("* * W * *", 4, "'W' is not a day-of-month"),
    ("* * 0W * *", 4, "day-of-month '0'"),
    ("* * 32W * *", 4, "day-of-month '32'"),
    ("* * 1-15W * *", 4, "'1-15W' is not a day-of-month"),
    ("* * *W * *", 4, "'*W' is not a day-of-month"),
    ("* * 5L * *", 4, "'5L' is not a day-of-month"),
    ("* * * * L", 8, "L alone"),
    ("* * * * LL", 8, "'L' cannot be counted inside a month"),
    ("* * * * L/2", 8, "'L/2' cannot be counted inside a month"),
    ("* * * * SUN,5L-6", 12, "'5L-6' cannot be counted inside a month"),
    ("* * * * 5L#1", 8, "'5L' cannot be counted inside a month"),
    ("* * * * 8L", 8, "day-of-week '8'"),
    ("* * * * *L", 8, "'*' cannot be counted inside a month"),
    ("* * * * 5#0", 10, "'0' does not say which weekday"),
    ("* * * * 5#6", 10, "'6' does not say which weekday"),
    ("* * * * 5#", 10, "'' does not say which weekday"),
    ("* * * * 5#-1", 10, "'-1' does not say which weekday"),
    ("* * * * 5#1#2", 10, "'1#2' does not say which weekday"),
    ("* * * * 5#2L", 10, "'2L' does not say which weekday"),
    ("* * * * #2", 8, "a value is missing in the day-of-week field"),
    ("* * * * *#2", 8, "'*' cannot be counted inside a month"),
    ("* * * * MON-FRI/2L", 8, "'MON-FRI/2' cannot be counted inside a month"),
    ("* * * * 1-5L/2", 8, "'1-5L/2' cannot be counted inside a month"),
    ("* * * * 5W", 8, "'5W' is not a day-of-week"),
    ("0 0 30 2 *", 4, "never matches"),
    ("0 0 31 4,6,9,11 *", 4, "never matches"),
    ("0 0 L-30 2 *", 4, "never matches"),
    ("0 0 30W 2 ?", 4, "never matches"),
    ("0 0 30 2 *", 4, "no month has such a day"),
    ("0 0 0 30 2 ? 2028", 6, "no month has such a day"),
    ("0 0 0 29 2 ? 2027", 13, "no year of '2027' has such a day"),
    ("0 0 0 29 2 ? 2100", 13, "no year of '2100' has such a day"),
    ("0 0 0 29 2 ? 1971/2", 13, "no year of '1971/2' has such a day"),
    ("0 0 0 ? 2 MON#5 2045-2071", 16, "no year of '2045-2071' has such a day"),
    ("@fortnightly", 0, "macro '@fortnightly' does not exist"),
    ("@", 0, "macro '@' does not exist"),
    ("@5minutes", 0, "macro '@5minutes' does not exist"),
    ("@daily *", 7, "nothing may follow the macro @daily"),
    ("@reboot 5", 8, "nothing may follow the macro @reboot"),
    ("@every", 0, "one duration"),
    ("@every 1h 30m", 10, "one duration"),
    ("@every 0s", 7, "outside one second to a hundred years"),
    ("@every 500ms", 7, "not a number of whole seconds"),
    ("@every 1.5s", 7, "not a number of whole seconds"),
    ("@every 0.3333h", 7, "not a number of whole seconds"),
    ("@every 101000d", 7, "outside one second to a hundred years"),
    ("@every -5s", 7, "not a duration"),
    ("@every 5", 7, "not a duration"),
    ("@every 5x", 7, "not a duration"),
    ("@every 30m1h", 10, "not a duration"),
    ("@every 1m1m", 9, "not a duration"),
    ("@every 1h30", 9, "not a duration"),
    ("@every .5h", 7, "not a duration"),
    ("TZ=Mars/Phobos * * * * *", 3, "timezone 'Mars/Phobos' does not exist"),
    ("TZ=../../etc/passwd * * * * *", 3, "does not exist"),
    ("CRON_TZ= * * * * *", 8, "does not exist"),
    ("TZ=UTC TZ=UTC * * * *", 7, "'TZ=UTC' is not a minute"),
    ("tz=UTC * * * * *", 0, "'tz=UTC' is not a second"),
    ("0 3 * * * Europe/Berlin", 10, "the zone 'Europe/Berlin' is among the fields"),
    ("0 3 * * * UTC", 10, "the zone 'UTC' is among the fields"),
    ("Europe/Berlin 0 3 * * *", 0, "the zone 'Europe/Berlin' is among the fields"),
    ("0 0 0 3 * * * America/Argentina/Salta", 14, "the zone 'America/Argentina/Salta' is among"),
    ("@daily Asia/Tokyo", 7, "the zone 'Asia/Tokyo' is among the fields"),
    ("0 3 * * * Europe/Berln", 10, "the zone 'Europe/Berln' is among the fields"),
    ("* * * * MON/TUE", 12, "step 'TUE'"),
    ("H * * * *", 0, "H needs the name"),
    ("${7*7} * * * *", 0, "'${7*7}' is not a minute"),
    ("{{7*7}} * * * *", 0, "'{{7*7}}' is not a minute"),
    ("%(x)s * * * *", 0, "'%(x)s' is not a minute"),
    ("{0.__class__} * * * *", 0, "'{0.__class__}' is not a minute"),
]


@pytest.mark.proves("Z41", "R4-33", "R4-58")
@for_each(("expression", "position", "message"), FAULTS)
def test_a_fault_is_placed_and_explained(expression: str, position: int, message: str) -> None:
    with pytest.raises(cron.InvalidCron) as caught:
        cron.compile(expression)

    fault = caught.value
    assert message in fault.message
    assert (fault.position, fault.expression) == (position, expression)
    assert fault.hint


@for_each(
    ("expression", "hint"),
    [
        ("* * * * MONDAY", 'Names have three letters: write "MON".'),
        ("* * * JANUARY *", 'Names have three letters: write "JAN".'),
        ("@dayly", 'Did you mean "@daily"?'),
        ("TZ=Europe/Berln * * * * *", 'Did you mean "Europe/Berlin"?'),
        ("75 * * * *", "The minute field holds numbers from 0 to 59."),
        (
            "0 9 ? 3 * 2030",
            "The day-of-week field holds numbers from 0 to 7"
            " or names (SUN, MON, TUE, WED, THU, FRI, SAT), and 5L and 5#2."
            " A year is the last of 7 fields, the first of which is the second.",
        ),
        ("*/90 * * * *", "There are 60 values: write a step from 1 to 60."),
        ("0 0 H/29 * *", "There are 28 values: write a step from 1 to 28."),
        ("0 0 0 29 2 ? 2100", "Check the year against the day and the month: 29 February exists in leap years only."),
        (
            "* * -1 * *",
            "The day-of-month field holds numbers from 1 to 31, and L, L-3, LW and 15W."
            " Write L for the last day of the month, L-1 for the day before it.",
        ),
        ("-5 * * * *", "The minute field holds numbers from 0 to 59."),
        ("0 3 * * * Europe/Berlin", "Write TZ=Europe/Berlin before the fields, or give it as the timezone."),
        ("@5minutes", "Write @every 5m."),
        ("@10s", "Write @every 10s."),
        ("@every5m", "Write @every 5m."),
        ("@every_2_hours", "Write @every 2h."),
        ("@3days", "Write @every 3d."),
        ("* * 1-L * *", "Write L, L-3, LW or 15W, lists of them as 1W,15W,L, and ranges and steps with numbers."),
    ],
)
def test_the_hint_contains_the_correction(expression: str, hint: str) -> None:
    with pytest.raises(cron.InvalidCron) as caught:
        cron.compile(expression, key="report")

    assert caught.value.hint == hint


def test_months_in_a_duration_are_not_read_as_minutes() -> None:
    with pytest.raises(cron.InvalidCron) as caught:
        cron.compile("@5months")

    assert "@every 5m" not in caught.value.hint


@pytest.mark.proves("Z41")
@pytest.mark.parametrize("expression", ["*" * 10_000, "* " * 5_000, "1," * 5_000, "9" * 10_000, "((((" * 2_500])
def test_a_long_expression_is_refused_without_parsing(expression: str) -> None:
    with pytest.raises(cron.InvalidCron, match="10000 characters") as caught:
        cron.compile(expression)

    assert len(caught.value.expression) == caught.value.position == 512


def test_an_expression_may_have_512_characters_and_not_one_more() -> None:
    longest = "0 3 * * *".ljust(512)

    assert cron.compile(longest).expression == longest
    with pytest.raises(cron.InvalidCron, match="513 characters"):
        cron.compile(longest + " ")


@pytest.mark.proves("Z41")
@for_each("value", ["9" * 500, "x" * 500, "*/" + "9" * 500, "{" * 500, "L-" + "9" * 480, "9" * 480 + "W/2"])
@for_each("field", ["{} * * * *", "* * {} * *", "* * * * {}"])
def test_a_message_shortens_a_long_expression(field: str, value: str) -> None:
    with pytest.raises(cron.InvalidCron) as caught:
        cron.compile(field.format(value))

    assert len(caught.value.message) < 120


@pytest.mark.parametrize(("tz", "prefix"), [("UTC", "Europe/Berlin"), ("Europe/Paris", "Europe/Berlin")])
def test_two_different_zones_are_refused(tz: str, prefix: str) -> None:
    with pytest.raises(cron.InvalidCron, match="names the zone 'Europe/Berlin', but") as caught:
        cron.compile(f"TZ={prefix} 0 3 * * *", tz)

    assert caught.value.position == 3


def test_an_unknown_dst_policy_is_refused() -> None:
    with pytest.raises(InvalidInput, match="dst 'summer' does not exist") as caught:
        cron.compile("* * * * *", dst="summer")  # type: ignore[arg-type]

    assert (caught.value.field, caught.value.hint) == ("dst", "Choose one of vixie, skip, literal.")


def test_an_unknown_day_rule_is_refused() -> None:
    with pytest.raises(InvalidInput, match="dom_dow 'xor' does not exist"):
        cron.compile("* * * * *", dom_dow="xor")  # type: ignore[arg-type]


@pytest.mark.parametrize("zone", ["America/New_York", "Etc/GMT+1"])
def test_an_expression_that_matches_only_after_the_calendar_is_refused(zone: str) -> None:
    with pytest.raises(cron.InvalidCron, match="never matches: in UTC it is the year 10000 by then") as caught:
        cron.compile("59 59 23 31 12 * 9999", zone)

    assert (caught.value.position, caught.value.hint) == (17, "The last moment is 9999-12-31 23:59:59 UTC.")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_the_last_second_of_the_calendar_can_be_a_fire(zone: str) -> None:
    last = cron.compile("59 59 23 31 12 * 9999", zone)

    assert last.next_epoch(0) == last.zone.last


def test_an_expression_that_matches_before_the_end_of_the_calendar_compiles() -> None:
    assert cron.compile("59 59 18 31 12 * 9999", "America/New_York").next_epoch(0) == 253_402_300_799
