"""Items: documents that keep text, bytes and JSON values exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.fanout.item import encode_text, encode_value, item_bytes, item_text
from foliot.errors import InvalidInput

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text().filter(lambda text: "\0" not in text),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.binary().filter(lambda item: b"\0" not in item))
def test_text_and_bytes_arrive_exact(item: bytes) -> None:
    assert item_bytes(encode_text(item)) == item


@pytest.mark.parametrize(
    "item", ["two words", "'quoted' \"twice\"", "line\nbreak", "$(touch X)", "--flag", "\N{PARTY POPPER}", ""]
)
def test_awkward_text_arrives_exact(item: str) -> None:
    assert item_bytes(encode_value(item)) == item.encode()


@given(_JSON.filter(lambda value: not isinstance(value, str)))
def test_other_json_values_arrive_as_json(value: object) -> None:
    assert item_bytes(encode_value(value)) == encode_value(value)


def test_an_object_with_an_invalid_base64_text_is_an_object() -> None:
    document = encode_value({"item_base64": "not base64!"})

    assert item_bytes(document) == document


def test_bytes_that_are_not_text_are_shown_escaped() -> None:
    assert item_text(encode_text(b"caf\xe9")) == "caf\\xe9"


def test_an_item_with_a_nul_byte_is_refused() -> None:
    with pytest.raises(InvalidInput, match="contains a NUL byte"):
        encode_text(b"a\0b")
