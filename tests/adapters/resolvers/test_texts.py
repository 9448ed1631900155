"""Items are found in a stream of bytes, however it is divided into pieces."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.adapters.resolvers import texts
from foliot.adapters.resolvers.batches import MOST_ITEMS
from foliot.adapters.resolvers.texts import JsonArray, JsonLines, Lines, TextFormat, batches_of
from foliot.domain.fanout.item import ItemLimits, item_bytes
from foliot.errors import InputsRefused
from tests.cases import for_each

LIMITS = ItemLimits()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: not (isinstance(value, str) and "\0" in value))


def lines(limits: ItemLimits = LIMITS) -> Lines:
    return Lines(limits, comments=True)


def found(text: TextFormat, *pieces: bytes) -> list[bytes]:
    for piece in pieces:
        text.feed(piece)
    text.finish()
    return text.batches.take()


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    ends = sorted(place % (len(data) + 1) for place in places)
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]


@pytest.fixture(autouse=True)
def scan_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan every piece when it arrives, so that small examples have items that are divided."""
    monkeypatch.setattr(texts, "_SCANNED", 1)


@pytest.mark.proves("R0-45")
@for_each(
    ("data", "expected"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"\n\r\n  \n\t\n# note\na\n", [b"a"]),
        (b" a b \n #x\n", [b" a b ", b" #x"]),
        (b"\xff\xfe\n$(reboot)\n-rf\n'\"\n", [b"\xff\xfe", b"$(reboot)", b"-rf", b"'\""]),
        ("\N{GRINNING FACE}\n".encode(), ["\N{GRINNING FACE}".encode()]),
        (b"", []),
        (b"#\n", []),
    ],
)
def test_each_line_that_is_not_blank_and_no_comment_is_an_item(data: bytes, expected: list[bytes]) -> None:
    assert [item_bytes(document) for document in found(lines(), data)] == expected
    one_by_one = [bytes([byte]) for byte in data]
    assert [item_bytes(document) for document in found(lines(), *one_by_one)] == expected


def test_a_byte_order_mark_is_no_part_of_the_first_item() -> None:
    assert found(lines(), b"\xef\xbb\xbfa\n") == [b'"a"']
    assert found(JsonArray(LIMITS), b"\xef\xbb\xbf[1]") == [b"1"]


def test_output_of_programs_has_no_comments() -> None:
    assert found(Lines(LIMITS, comments=False), b"# heading\n") == [b'"# heading"']


@given(st.lists(JSON, max_size=5), st.lists(st.integers(0, 1_000), max_size=5), st.sampled_from([None, 2]))
def test_every_element_of_an_array_is_an_item(values: list[Any], places: list[int], indent: int | None) -> None:
    data = json.dumps(values, indent=indent).encode()

    assert [msgspec.json.decode(one) for one in found(JsonArray(LIMITS), *cut(data, places))] == values


@given(st.lists(JSON, max_size=5), st.lists(st.integers(0, 1_000), max_size=5))
def test_every_json_line_is_an_item(values: list[Any], places: list[int]) -> None:
    data = b"".join(json.dumps(value).encode() + b"\r\n" for value in values)

    assert [msgspec.json.decode(one) for one in found(JsonLines(LIMITS), *cut(data, places))] == values


@for_each(
    "data",
    [b"", b" ", b"{}", b'"a"', b"7", b"[", b"[1", b"[1,", b'["a', b"[1] 2", b"[1][2]", b"[}", b"x[1]", b"<html>", b"]"],
)
def test_what_is_not_an_array_is_refused(data: bytes) -> None:
    for pieces in ([data], [bytes([byte]) for byte in data]):
        with pytest.raises(InputsRefused, match="not a complete JSON array"):
            found(JsonArray(LIMITS), *pieces)


@for_each("data", [b"[1,]", b"[,1]", b"[1,,2]", b"[1 2]", b"[a]", b"[NaN]", b'["\\x"]', b'["\xff"]', b"[[}]"])
def test_an_element_that_is_not_json_is_refused_with_its_number(data: bytes) -> None:
    with pytest.raises(InputsRefused, match=r"item \d+ is not JSON"):
        found(JsonArray(LIMITS), data)


def test_deep_nesting_is_refused() -> None:
    for depth in (300, 100_000):
        with pytest.raises(InputsRefused, match=r"nested deeper than 200 levels|longer than"):
            found(JsonArray(LIMITS), b"[" + b"[" * depth + b"]" * depth + b"]")


@for_each("make", [lines, JsonLines, JsonArray])
def test_nul_in_an_item_is_refused(make: Callable[[ItemLimits], TextFormat]) -> None:
    data = b"a\0b\n" if make is lines else b'["a\\u0000b"]' if make is JsonArray else b'"a\\u0000b"\n'

    with pytest.raises(InputsRefused, match=r"item 1: .* NUL"):
        found(make(LIMITS), data)


@for_each("make", [lines, JsonLines, JsonArray])
def test_limits_are_enforced(make: Callable[[ItemLimits], TextFormat]) -> None:
    data = {lines: b"aaaa\nbbbb\n", JsonLines: b'"aaaa"\n"bbbb"\n', JsonArray: b'["aaaa","bbbb"]'}[make]

    assert len(found(make(ItemLimits(items=2, item_bytes=4, total_bytes=len(data))), data)) == 2
    for limits, message in (
        (ItemLimits(items=1), "more than 1 items"),
        (ItemLimits(item_bytes=3), "item 1 is longer than 3 bytes"),
        (ItemLimits(total_bytes=len(data) - 1), "more than"),
    ):
        with pytest.raises(InputsRefused, match=message):
            found(make(limits), data)


@for_each("begin", [b"", b'"', b'["', b"[[", b"[" + b'"x",' * 10])
def test_an_endless_item_is_refused_before_its_end(begin: bytes) -> None:
    text = JsonArray(ItemLimits(item_bytes=1_000)) if begin.startswith(b"[") else lines(ItemLimits(item_bytes=1_000))
    text.feed(begin)

    with pytest.raises(InputsRefused, match="is longer than 1,000 bytes"):
        feed_often(text, b"x" * 1_000)


def feed_often(text: TextFormat, piece: bytes) -> None:
    for _ in range(1_000):
        text.feed(piece)


async def test_items_are_returned_in_batches_of_bounded_size() -> None:
    async def source() -> AsyncGenerator[bytes]:
        for _ in range(10):
            yield b"item\n" * MOST_ITEMS

    sizes = [len(batch) async for batch in batches_of(source(), lines())]

    assert sizes == [MOST_ITEMS] * 10
