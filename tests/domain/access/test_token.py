"""The text of a token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.access.request import check_request_key
from foliot.domain.access.token import (
    check_principal_name,
    needs_use_saved,
    token_digest,
    token_id_of,
    token_text,
)
from foliot.domain.ids import encode
from foliot.domain.instant import MINUTE, Instant
from foliot.domain.secrets import public_text
from foliot.errors import InvalidInput
from tests.cases import for_each

ID = encode(5 << 80)
SECRETS = st.integers(0, (1 << 256) - 1)
TOKEN = token_text(ID, (1 << 255) + 12345)


@given(st.integers(0, (1 << 127) - 1).map(encode), SECRETS)
def test_the_id_of_a_token_is_found_in_its_text(token_id: str, secret: int) -> None:
    assert token_id_of(token_text(token_id, secret)) == token_id


@pytest.mark.proves("Z7")
@given(SECRETS, SECRETS)
def test_every_bit_of_the_secret_is_in_the_text(one: int, other: int) -> None:
    assert (token_text(ID, one) == token_text(ID, other)) == (one == other)
    assert token_text(ID, one).startswith(f"fol_{ID}_")


@given(st.integers(0, len(TOKEN) - 1), st.sampled_from("0123456789ABCDEFGHJKMNPQRSTVWXYZabc_ "))
def test_one_wrong_character_makes_it_no_token(position: int, char: str) -> None:
    changed = TOKEN[:position] + char + TOKEN[position + 1 :]

    assert (token_id_of(changed) is None) == (changed != TOKEN)


@for_each("text", ["", "fol_", TOKEN[:-1], f"{TOKEN}0", TOKEN.lower(), f"{TOKEN}\n", "x" * 1_000_000, "é" * 90])
def test_another_text_is_no_token(text: str) -> None:
    assert token_id_of(text) is None


def test_the_digest_does_not_contain_the_token() -> None:
    assert len(token_digest(TOKEN)) == 32
    assert TOKEN.encode() not in token_digest(TOKEN)


def test_a_token_in_a_text_is_masked() -> None:
    assert public_text(f"curl -H 'X-Key: {TOKEN}' http://x") == "curl -H 'X-Key: fol_***' http://x"


def test_a_use_is_saved_at_most_once_a_minute() -> None:
    assert needs_use_saved(None, Instant(0))
    assert not needs_use_saved(Instant(1_000), Instant(1_000 + MINUTE - 1))
    assert needs_use_saved(Instant(1_000), Instant(1_000 + MINUTE))
    assert needs_use_saved(Instant(1_000), Instant(999))  # the clock was set back


@for_each("name", ["ci", "deploy.prod", "anna@example.org", "a" * 64])
def test_a_name_is_returned(name: str) -> None:
    assert check_principal_name(name) == name


@for_each("name", ["", "a b", "-x", "a" * 65, "a\n", "a:b", None])
def test_another_name_is_refused(name: object) -> None:
    with pytest.raises(InvalidInput):
        check_principal_name(name)


@pytest.mark.proves("A3")
@for_each("key", ["", "x" * 256, "a\nb"])
def test_an_idempotency_key_that_is_empty_or_too_long_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput):
        check_request_key(key)


def test_an_idempotency_key_is_returned() -> None:
    assert check_request_key("x" * 255) == "x" * 255
