"""The payload of a run, and the result of a function."""

import math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest

from foliot.domain.run.payload import MAX_LEVELS, check_depth, decode_payload, encode_payload, encode_result
from foliot.errors import InvalidRun
from tests.cases import for_each


class Word(str):
    """A subclass of str with another representation."""

    __slots__ = ()

    def __str__(self) -> str:
        return "shown"


class Count(int):
    pass


class Share(float):
    pass


class Scalar:
    """An integer type like those of numerical libraries, which is not a subclass of int."""

    def __index__(self) -> int:
        return 7


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Kind(Enum):
    ODD = math.nan


@dataclass
class Box:
    content: Any


Point = namedtuple("Point", "x y")  # noqa: PYI024 - as users have them

PLAIN = [
    (Word("text"), "text"),
    (Count(4), 4),
    (Share(1.5), 1.5),
    (True, True),
    (Colour.RED, "red"),
    (Level.LOW, 1),
    ([Word("a"), {Word("k"): Count(1)}], ["a", {"k": 1}]),
    (OrderedDict(a=1), {"a": 1}),
    (Point(1, 2), [1, 2]),
    (2**70, 2**70),
]


@for_each(("given", "kept"), PLAIN)
def test_subclasses_of_text_and_numbers_are_stored_as_text_and_numbers(given: Any, kept: Any) -> None:
    for encode in (encode_payload, encode_result):
        back = decode_payload(encode(given))
        assert (back, type(back)) == (kept, type(kept))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (Scalar(), 7),
        ({1}, [1]),
        (Box({Word("a")}), {"content": ["a"]}),
        ({"at": datetime(2030, 1, 1, tzinfo=UTC)}, {"at": "2030-01-01T00:00:00Z"}),
    ],
)
def test_a_result_is_converted_to_the_closest_json_type(given: Any, kept: Any) -> None:
    assert decode_payload(encode_result(given)) == kept
    with pytest.raises(InvalidRun):
        encode_payload(given)


REFUSED = [math.nan, math.inf, Share("nan"), b"x", bytearray(b"x"), memoryview(b"x"), object(), int, 1j, {1: 2}]


@for_each("wrapped", [lambda value: value, lambda value: [value], lambda value: Box([value])])
@for_each("value", REFUSED)
def test_values_without_a_json_type_are_refused_at_any_depth(value: Any, wrapped: Any) -> None:
    for encode in (encode_payload, encode_result):
        with pytest.raises(InvalidRun, match="is not JSON"):
            encode(wrapped(value))


@pytest.mark.parametrize("value", [{math.nan}, frozenset([b"x"]), Kind.ODD, {"deep": [Box(Box({b"x"}))]}])
def test_values_without_a_json_type_are_refused_inside_sets_and_enums(value: Any) -> None:
    with pytest.raises(InvalidRun, match="is not JSON"):
        encode_result(value)


# -- depth


def nested(levels: int, around: Any = lambda value: [value]) -> Any:
    """Return a value nested in this many lists, or in what `around` makes."""
    value: Any = 1
    for _ in range(levels):
        value = around(value)
    return value


AROUND = [lambda value: [value], lambda value: {"a": value}, lambda value: [0, {}, value]]


@pytest.mark.parametrize("around", [*AROUND, lambda value: (value,)])
def test_a_payload_nested_deeper_than_the_limit_is_refused(around: Any) -> None:
    for encode in (encode_payload, encode_result):
        assert encode(nested(MAX_LEVELS, around)) is not None
        with pytest.raises(InvalidRun, match=f"is nested deeper than {MAX_LEVELS} levels"):
            encode(nested(MAX_LEVELS + 1, around))


def test_levels_are_counted_after_conversion_to_json() -> None:
    assert encode_result([nested(MAX_LEVELS - 1, Box)]) is not None
    for deep in ([nested(MAX_LEVELS, Box)], nested(100_000), nested(100_000, Box)):
        with pytest.raises(InvalidRun, match=f"the output is nested deeper than {MAX_LEVELS} levels"):
            encode_result(deep)


@pytest.mark.parametrize("around", AROUND)
def test_check_depth_has_the_same_limit(around: Any) -> None:
    check_depth(nested(MAX_LEVELS, around))

    for levels in (MAX_LEVELS + 1, 100_000):
        with pytest.raises(RecursionError):
            check_depth(nested(levels, around))
