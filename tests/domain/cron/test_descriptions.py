"""Descriptions of expressions in words."""

import pytest

from foliot import cron
from tests.cases import for_each

DESCRIPTIONS = {
    "0 3 * * 1": "at 03:00 on Monday",
    "30 2 * * *": "at 02:30 every day",
    "@daily": "at 00:00 every day",
    "@hourly": "every hour",
    "* * * * *": "every minute",
    "@every_second": "every second",
    "*/5 * * * *": "every 5 minutes",
    "0-55/5 * * * *": "every 5 minutes",
    "*/10 * * * * *": "every 10 seconds",
    "*/7 * * * *": "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour",
    "17 * * * *": "at minute 17 of every hour",
    "*/5 9-17 * * 1-5": "every 5 minutes of hours 9-17 on Monday to Friday",
    "* 3 * * *": "every minute of hour 3",
    "0 9-17 * * *": "at minute 0 of hours 9-17",
    "0 */2 * * *": "every 2 hours",
    "15 */2 * * *": "at minute 15 of every 2nd hour",
    "0 */6 * * *": "at 00:00, 06:00, 12:00 and 18:00 every day",
    "5 0 3 * * *": "at 03:00:05 every day",
    "0,30 0 3 * * *": "at 03:00:00 and 03:00:30 every day",
    "5 * * * * *": "at second 5 of every minute",
    "5 * 9 * * *": "at second 5 of every minute of hour 9",
    "*/2 0 * * * *": "every 2 seconds of minute 0 of every hour",
    "* */5 * * * *": "every second of every 5th minute",
    "0 0 1 * *": "at 00:00 on day 1 of the month",
    "0 0 1,15,20-23 * *": "at 00:00 on days 1, 15 and 20-23 of the month",
    "0 0 L * *": "at 00:00 on the last day of the month",
    "0 0 L-3 * *": "at 00:00 on the day 3 days before the last of the month",
    "0 0 LW * *": "at 00:00 on the last working day of the month",
    "0 0 15W * *": "at 00:00 on the working day nearest day 15 of the month",
    "0 0 * * 5L": "at 00:00 on the last Friday of the month",
    "0 0 * * MON,5#2": "at 00:00 on Monday and the 2nd Friday of the month",
    "0 0 * * SUN,SAT": "at 00:00 on Saturday and Sunday",
    "0 0 * * FRI-MON": "at 00:00 on Monday and Friday to Sunday",
    "0 0 13 * FRI": "at 00:00 on day 13 of the month or on Friday",
    "0 0 3,* * FRI": "at 00:00 every day",
    "0 0 3 * 0-6": "at 00:00 every day",
    "0 0 */10 * FRI": "at 00:00 on days 1, 11, 21 and 31 of the month if that is Friday",
    "0 0 29 2 *": "at 00:00 on day 29 of the month in February",
    "0 0 * JAN-MAR,DEC *": "at 00:00 every day in January to March and December",
    "0 0 12 1 1 ? 2030,2031": "at 12:00 on day 1 of the month in January in 2030 and 2031",
    "0 0 0 1 1 ? 2030-2040/2": "at 00:00 on day 1 of the month in January in 2030, 2032, 2034, 2036, 2038 and 2040",
    "0 0 0 1 1 ? */3": "at 00:00 on day 1 of the month in January in every 3rd year from 1970",
    "0 0 0 1 1 ? 2024/4": "at 00:00 on day 1 of the month in January in every 4th year from 2024",
    "0 0 0 1 1 ? 2024-2099/4": "at 00:00 on day 1 of the month in January in every 4th year from 2024 to 2096",
    "0 0 0 1 1 ? 1970/22": "at 00:00 on day 1 of the month in January in every 22nd year from 1970",
    "0 0 0 1 1 ? 1970/111": "at 00:00 on day 1 of the month in January in every 111th year from 1970",
    "0 0 0 1 1 ? */3,*/7": "at 00:00 on day 1 of the month in January in the years */3,*/7",
    "0 0 0 1 1 ? 2000-2020,2030": "at 00:00 on day 1 of the month in January in 2000-2020 and 2030",
    "0 0 1W,15W * *": "at 00:00 on the working days nearest days 1 and 15 of the month",
    "0 0 L,L-1,L-2,L-3 * *": "at 00:00 on the last day and the days 1-3 days before the last of the month",
    "0 0 LW,L-3W * *": (
        "at 00:00 on the last working day and the working day nearest the day 3 days before the last of the month"
    ),
    "0 0 L-5W,L-9W * *": "at 00:00 on the working days nearest the days 5 and 9 days before the last of the month",
    "0 0 * * MON#1,MON#3,FRIL": "at 00:00 on the 1st and 3rd Monday and the last Friday of the month",
    "0 0 * * MON#L,MON#1": "at 00:00 on the 1st and last Monday of the month",
}


@for_each(("expression", "words"), DESCRIPTIONS.items())
def test_an_expression_in_words(expression: str, words: str) -> None:
    assert cron.compile(expression, "Europe/Berlin").describe() == f"{words}, Europe/Berlin"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("@every 90s", "every 1 minute 30 seconds of elapsed time"),
        ("@every 2d", "every 2 days of elapsed time"),
        ("@manual", "manual"),
        ("@triggered", "manual"),
        ("@reboot", "once after each boot of the host"),
    ],
)
def test_descriptions_of_intervals_and_manual_expressions_name_no_zone(expression: str, words: str) -> None:
    assert cron.compile(expression, "Europe/Berlin").describe() == words


def test_the_description_names_the_day_rule() -> None:
    assert cron.compile("0 0 13 * 5", dom_dow="and").describe() == (
        "at 00:00 on day 13 of the month if that is Friday, UTC"
    )


def test_quoted_years_are_correct_in_an_expression_with_a_zone() -> None:
    described = cron.compile("TZ=Asia/Tokyo  0 0 0 1 1 ? */3,*/7 ").describe()

    assert described.endswith("in January in the years */3,*/7, Asia/Tokyo")


LONGEST = [
    "0 0 0 1 1 ? */2",
    "0 0 0 1 1 ? */2,*/3,*/5",
    "0 0 0 1 1 ? " + ",".join(map(str, range(1970, 2130, 2))),
    "0 0 0 " + ",".join(f"{day}W" for day in range(1, 32)) + " * ?",
    "0 0 0 " + ",".join(f"L-{day}W" for day in range(31)) + " * ?",
    "0 0 0 " + ",".join(f"L-{day}" for day in range(31)) + " * ?",
    "0 0 0 ? * " + ",".join(f"0-6#{which}" for which in "12345L"),
    "1-59/2 1-59/2 1-23/2 1-31/2,L-1W,L-3W,L-5W,LW,L,1W,3W,5W 1-11/2 0-6#1,0-6#3,0-6#5 */7,*/9",
]


@for_each("expression", LONGEST)
def test_no_description_has_a_long_list(expression: str) -> None:
    described = cron.compile(expression, "America/Argentina/ComodRivadavia").describe()

    assert len(described) < 900


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 3 * * MON", "00 03 ? * 1"),
        ("*/15 * * * *", "0,15,30,45 * * * *"),
        ("@weekly", "0 0 * * 7"),
        ("0 0 L * *", "0 0 L-0 * *"),
        ("0 0 0 1 1 ? */3", "0 0 0 1 1 ? 1970-9998/3"),
    ],
)
def test_the_description_is_derived_from_the_compiled_form(one: str, other: str) -> None:
    assert cron.compile(one).describe() == cron.compile(other).describe()
