"""What people give a run, and what a function gives back."""

import math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest

from foliot.domain.payload import decode_payload, encode_payload, encode_result
from foliot.errors import InvalidRun


class Word(str):
    """Text of somebody's own, that shows itself differently."""

    __slots__ = ()

    def __str__(self) -> str:
        return "shown"


class Count(int):
    pass


class Share(float):
    pass


class Scalar:
    """A whole number as numerical libraries have them: no int, and as good as one."""

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


@pytest.mark.parametrize(("given", "kept"), PLAIN)
def test_a_kind_of_text_or_number_is_text_or_a_number(given: Any, kept: Any) -> None:
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
def test_a_result_becomes_the_nearest_that_json_has(given: Any, kept: Any) -> None:
    assert decode_payload(encode_result(given)) == kept
    with pytest.raises(InvalidRun):
        encode_payload(given)


REFUSED = [math.nan, math.inf, Share("nan"), b"x", bytearray(b"x"), memoryview(b"x"), object(), int, 1j, {1: 2}]


@pytest.mark.parametrize("wrapped", [lambda value: value, lambda value: [value], lambda value: Box([value])])
@pytest.mark.parametrize("value", REFUSED, ids=range(len(REFUSED)))
def test_what_json_has_nothing_near_is_refused_wherever_it_is_found(value: Any, wrapped: Any) -> None:
    for encode in (encode_payload, encode_result):
        with pytest.raises(InvalidRun, match="is not JSON"):
            encode(wrapped(value))


@pytest.mark.parametrize("value", [{math.nan}, frozenset([b"x"]), Kind.ODD, {"deep": [Box(Box({b"x"}))]}])
def test_neither_a_set_nor_an_enum_hides_it(value: Any) -> None:
    with pytest.raises(InvalidRun, match="is not JSON"):
        encode_result(value)
