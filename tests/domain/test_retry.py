"""The delay before a retry."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.domain.run.retry import MAX_DELAY, Retry
from foliot.errors import InvalidJob
from tests.cases import for_each

RETRIES = st.integers(1, 1_000)


def test_the_retry_delay_doubles_up_to_its_cap() -> None:
    retry = Retry(base=Millis(30 * SECOND), cap=Millis(30 * MINUTE))

    delays = [retry.delay(number, key="run") // SECOND for number in range(1, 9)]

    assert delays == [30, 60, 120, 240, 480, 960, 1_800, 1_800]


def test_a_factor_of_one_keeps_the_retry_delay() -> None:
    retry = Retry(base=Millis(100), factor=1.0)

    assert {retry.delay(number, key="run") for number in range(1, 50)} == {100}


def test_explicit_retry_delays_are_used_in_order_and_the_last_one_repeats() -> None:
    retry = Retry(delays=(Millis(120), Millis(300), Millis(720)), base=Millis(1))

    assert [retry.delay(number, key="run") for number in (1, 2, 3, 4, 99)] == [120, 300, 720, 720, 720]


@pytest.mark.proves("S9")
@given(
    RETRIES,
    st.integers(0, 10**9),
    st.floats(1, 100),
    st.integers(0, 10**10),
    st.floats(0, 1),
    st.text(max_size=30),
)
def test_the_retry_delay_is_within_the_bounds_of_its_jitter(
    number: int, base: int, factor: float, cap: int, jitter: float, key: str
) -> None:
    exact = Retry(base=Millis(base), factor=factor, cap=Millis(cap)).delay(number, key=key)
    delay = Retry(base=Millis(base), factor=factor, cap=Millis(cap), jitter=jitter).delay(number, key=key)

    assert 0 <= exact <= cap
    assert exact * (1 - jitter) - 1 <= delay <= exact * (1 + jitter) + 1


@given(RETRIES, st.text(max_size=30))
def test_the_same_retry_of_the_same_run_waits_the_same_time(number: int, key: str) -> None:
    one, other = (Retry(jitter=0.5).delay(number, key=key) for _ in range(2))

    assert one == other


def test_different_runs_have_different_retry_delays() -> None:
    delays = [Retry(jitter=1.0).delay(1, key=f"run-{number}") for number in range(1_000)]

    assert min(delays) < 1_000
    assert max(delays) > 59_000
    assert 28_000 < sum(delays) / len(delays) < 32_000


@given(RETRIES, st.integers(0, 10**9), st.floats(1, 100))
def test_the_retry_delay_never_decreases(number: int, base: int, factor: float) -> None:
    retry = Retry(base=Millis(base), factor=factor)

    assert retry.delay(number, key="run") <= retry.delay(number + 1, key="run")


@for_each(
    "fields",
    [
        {"retries": -1},
        {"retries": 1_001},
        {"base": -1},
        {"cap": -1},
        {"delays": (1, -1)},
        {"base": MAX_DELAY + 1},
        {"cap": MAX_DELAY + 1},
        {"delays": (1, MAX_DELAY + 1)},
        {"factor": 0.5},
        {"factor": 101.0},
        {"factor": float("nan")},
        {"jitter": -0.1},
        {"jitter": 1.1},
        {"jitter": float("nan")},
    ],
)
def test_an_invalid_retry_policy_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidJob):
        Retry(**fields).check()


def test_a_retry_delay_is_at_most_one_year() -> None:
    Retry(base=MAX_DELAY, cap=MAX_DELAY, delays=(MAX_DELAY,)).check()


def test_the_default_is_a_single_attempt() -> None:
    Retry().check()
    assert Retry().retries == 0
