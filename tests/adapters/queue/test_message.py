"""The message format: exactly one form is accepted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.adapters.queue.message import MAX_BYTES, decode, encode
from foliot.domain.ids import RunId
from foliot.domain.ids import encode as encode_id
from foliot.testing.conformance.queue import GARBAGE

RUN_ID = RunId("01JQZ8W3F07M4T5V6W8X9YABCD")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.proves("Q1", "R1-07", "R1-23", "R1-24")
def test_a_message_has_version_and_run_id_only() -> None:
    assert encode(RUN_ID) == b'{"v":1,"run_id":"01JQZ8W3F07M4T5V6W8X9YABCD"}'


@given(st.integers(0, (1 << 128) - 1))
def test_every_run_id_is_decoded_as_it_was_encoded(number: int) -> None:
    run_id = RunId(encode_id(number))

    assert decode(encode(run_id)) == run_id


@pytest.mark.proves("Q4")
@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE)
def test_invalid_messages_are_rejected(body: bytes) -> None:
    assert decode(body) is None


@pytest.mark.proves("Q4")
@given(st.binary(max_size=200))
def test_random_bytes_are_rejected(body: bytes) -> None:
    assert decode(body) is None


@pytest.mark.proves("Q4")
@given(JSON)
def test_random_json_is_rejected(value: object) -> None:
    assert decode(json.dumps(value).encode()) is None


@pytest.mark.proves("Q4")
@given(st.sampled_from(["v", "run_id"]), JSON)
def test_a_message_with_one_value_replaced_is_rejected(key: str, value: object) -> None:
    message: dict[str, object] = {"v": 1, "run_id": RUN_ID}
    body = json.dumps({**message, key: value}).encode()

    is_the_same = type(value) is type(message[key]) and value == message[key]
    assert decode(body) == (RUN_ID if is_the_same else None)


@pytest.mark.proves("Q4")
def test_a_message_longer_than_the_limit_is_rejected() -> None:
    body = encode(RUN_ID)

    assert decode(body.ljust(MAX_BYTES)) == RUN_ID
    assert decode(body.ljust(MAX_BYTES + 1)) is None
