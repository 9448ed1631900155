"""Ids sort in order of their creation."""

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.ids import ID_LENGTH, IdSource, encode, is_id
from foliot.domain.instant import Instant
from tests.cases import for_each

NUMBERS = st.integers(0, (1 << 128) - 1)
MOMENTS = st.integers(0, 253_402_300_799_000).map(Instant)


@given(NUMBERS)
def test_a_number_becomes_an_id(number: int) -> None:
    assert is_id(encode(number))


@given(NUMBERS, NUMBERS)
def test_ids_sort_as_their_numbers(one: int, other: int) -> None:
    assert (encode(one) < encode(other)) == (one < other)
    assert (encode(one) == encode(other)) == (one == other)


@given(st.lists(st.tuples(MOMENTS, st.integers(0, 5)), max_size=20), st.integers(0, (1 << 80) - 1))
def test_ids_of_one_source_rise_even_if_the_clock_is_set_back(calls: list[tuple[Instant, int]], entropy: int) -> None:
    source = IdSource(lambda: entropy)

    made = [name for now, how_many in calls for name in source.batch(now, how_many)]

    assert made == sorted(set(made))


def test_ids_made_later_by_another_source_are_higher() -> None:
    first, second = IdSource(lambda: (1 << 80) - 1), IdSource(lambda: 0)

    assert first.make(Instant(1_000)) < second.make(Instant(1_001))


def test_entropy_of_more_than_80_bits_does_not_change_the_time() -> None:
    plain, excessive = IdSource(lambda: 5), IdSource(lambda: (1 << 90) + 5)

    assert plain.make(Instant(1)) == excessive.make(Instant(1))


def test_a_batch_has_the_requested_number_of_ids() -> None:
    source = IdSource(count(1).__next__)

    assert source.batch(Instant(1), 0) == []
    assert len(set(source.batch(Instant(1), 100))) == 100


@for_each(
    "text",
    [
        "",
        "0" * (ID_LENGTH - 1),
        "0" * (ID_LENGTH + 1),
        "8" + "0" * 25,
        "I" + "0" * 25,
        "0" * 25 + "U",
        "0" * 25 + "a",
        "/" + "0" * 25,
        "٠" * 26,
    ],
)
def test_other_texts_are_not_ids(text: str) -> None:
    assert not is_id(text)
