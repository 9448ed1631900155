"""Comparison with other cron libraries where their dialects agree with ours.

Differences that are intended:

- croniter fires a fixed time twice in the fold.
- croniter joins two day fields with OR also when one begins with a star; Vixie cron and cronsim join them with AND.
- cronsim counts Sunday as 7 too when a step runs to the end of the week: 5/2 is Friday and Sunday.
- cronsim follows Debian in giving 6-field expressions no special treatment when the clock is changed.
"""

from datetime import UTC, datetime

import pytest
from croniter import croniter
from cronsim import CronSim
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from foliot import cron
from tests.cases import for_each

FIRES = 20
START = datetime(2026, 1, 1, 0, 0, tzinfo=UTC)

starts = st.integers(0, 50 * 365 * 86_400).map(lambda epoch: datetime.fromtimestamp(epoch, UTC))


def stepped(low: int, high: int) -> st.SearchStrategy[str]:
    """A star, a number or an ascending range, with or without a step: all cron libraries agree on these."""
    bounds = st.tuples(st.integers(low, high), st.integers(low, high)).map(sorted)
    rising = bounds.filter(lambda pair: pair[0] < pair[1]).map(lambda pair: f"{pair[0]}-{pair[1]}")
    steps = st.integers(2, max(2, (high - low) // 2)).map(str)
    base = st.one_of(st.just("*"), rising)
    item = st.one_of(st.just("*"), st.integers(low, high).map(str), base, st.builds("{}/{}".format, base, steps))
    return st.lists(item, min_size=1, max_size=3).map(",".join)


plain = st.tuples(stepped(0, 59), stepped(0, 23), stepped(1, 28), stepped(1, 12), stepped(0, 6)).map(" ".join)


def ours(expression: str, start: datetime) -> list[datetime]:
    return cron.compile(expression).between(start, datetime(9999, 1, 1, tzinfo=UTC), FIRES)


@pytest.mark.proves("R4-70")
@settings(max_examples=150)
@given(plain, starts)
def test_cronsim_finds_the_same_moments(expression: str, start: datetime) -> None:
    theirs = CronSim(expression, start)

    found = [fire for fire in ours(expression, start) if fire > start]

    assert found == [next(theirs) for _ in found]


@pytest.mark.proves("R4-70")
@settings(max_examples=100)
@given(plain, starts)
def test_croniter_agrees_where_only_one_day_field_is_restricted(expression: str, start: datetime) -> None:
    month_day, week_day = expression.split()[2::2]
    assume("*" in (month_day, week_day))
    theirs = croniter(expression, start)

    found = [fire for fire in ours(expression, start) if fire > start]

    assert found == [theirs.get_next(datetime) for _ in found]


@for_each(
    "expression",
    [
        "0 0 L * *",
        "0 0 * * 5L",
        "0 0 * * 1#1",
        "0 0 LW * *",
        "0 0 13 * 5",
        "0 0 29 2 *",
        "*/7 */5 */9 */2 *",
        "0 12 * * 7",
    ],
)
def test_cronsim_agrees_on_special_days(expression: str) -> None:
    theirs = CronSim(expression, START)

    found = [fire for fire in ours(expression, START) if fire > START]

    assert found == [next(theirs) for _ in found]


@pytest.mark.proves("T13")
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Europe/London", "Asia/Beirut"])
@pytest.mark.parametrize("expression", ["30 2 * * *", "30 1 * * *", "0 0 * * *", "*/20 * * * *", "15 * * * *"])
def test_cronsim_agrees_across_changes_of_the_clock(expression: str, zone: str) -> None:
    compiled = cron.compile(expression, zone)
    start = datetime(2024, 3, 25, tzinfo=compiled.zone.info)
    theirs = CronSim(expression, start)

    found = [fire for fire in compiled.between(start, start.replace(month=11, day=10), 20_000) if fire > start]

    assert [fire.timestamp() for fire in found] == [next(theirs).timestamp() for _ in found]


def test_croniter_fires_a_fixed_time_twice_in_the_fold_and_foliot_once() -> None:
    compiled = cron.compile("30 2 * * *", "Europe/Berlin")
    start = datetime(2024, 10, 27, tzinfo=compiled.zone.info)
    theirs = croniter("30 2 * * *", start)

    assert [theirs.get_next(datetime).date().day for _ in range(2)] == [27, 27]
    assert [fire.day for fire in compiled.between(start, start.replace(day=28, hour=12), 9)] == [27, 28]


def test_cronsim_ends_the_week_on_sunday_and_foliot_on_saturday() -> None:
    theirs = CronSim("0 0 * * 5/2", START)

    assert [next(theirs).isoweekday() for _ in range(2)] == [5, 7]
    assert [fire.isoweekday() for fire in ours("0 0 * * 5/2", START)[:2]] == [5, 5]
