"""Passwords, the life of sessions, and the limit of failed logins."""

import pytest

from foliot.domain.access.login import (
    SESSION_IDLE,
    FailureLimit,
    check_password,
    is_session_live,
    session_digest,
)
from foliot.domain.instant import MINUTE, Instant
from foliot.errors import InvalidInput
from tests.cases import for_each

NOW = Instant(1_000_000_000)


@for_each("password", ["", "short", "x" * 1_025, "1234567\0"])
def test_a_password_that_is_too_short_or_too_long_is_refused_without_being_shown(password: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_password(password)

    assert not password or password not in str(caught.value)


def test_a_session_ends_at_its_expiry_and_when_it_is_not_used() -> None:
    far = Instant(NOW + 10 * SESSION_IDLE)

    assert is_session_live(far, NOW, Instant(NOW + SESSION_IDLE - 1))
    assert not is_session_live(far, NOW, Instant(NOW + SESSION_IDLE))
    assert not is_session_live(NOW, NOW, NOW)


def test_the_digest_of_any_text_can_be_computed() -> None:
    assert len({session_digest(text) for text in ("", "a", "\ud800", "x" * 100_000)}) == 4


def failed(limit: FailureLimit, times: int, name: str = "anna", address: str = "10.0.0.1") -> None:
    for _ in range(times):
        limit.fail(name, address, NOW)


@pytest.mark.proves("Z9")
def test_failures_of_a_name_at_an_address_are_limited_and_others_are_not() -> None:
    limit = FailureLimit()
    failed(limit, 9)
    assert limit.retry_after("anna", "10.0.0.1", NOW) is None
    failed(limit, 1)

    assert limit.retry_after("anna", "10.0.0.1", NOW) == 15 * MINUTE
    assert limit.retry_after("anna", "10.0.0.2", NOW) is None
    assert limit.retry_after("bob", "10.0.0.1", NOW) is None


@pytest.mark.proves("Z9")
def test_failures_of_an_address_are_limited_for_all_names() -> None:
    limit = FailureLimit()
    for nth in range(30):
        failed(limit, 1, f"user{nth}")

    assert limit.retry_after("anna", "10.0.0.1", NOW) == 15 * MINUTE
    assert limit.retry_after("", "10.0.0.1", NOW) == 15 * MINUTE
    assert limit.retry_after("anna", "10.0.0.2", NOW) is None


@pytest.mark.proves("Z9")
def test_failures_of_a_name_are_limited_for_all_addresses() -> None:
    limit = FailureLimit()
    for nth in range(50):
        failed(limit, 1, "anna", f"10.0.0.{nth}")
    assert limit.retry_after("anna", "10.0.1.1", NOW) is None
    for nth in range(150):
        failed(limit, 1, "anna", f"10.0.2.{nth}")

    assert limit.retry_after("anna", "10.0.1.1", NOW) == 15 * MINUTE
    assert limit.retry_after("bob", "10.0.1.1", NOW) is None


def test_the_limit_ends_after_its_window_and_with_a_success() -> None:
    limit = FailureLimit()
    failed(limit, 10)

    assert limit.retry_after("anna", "10.0.0.1", Instant(NOW + 15 * MINUTE - 1)) == 1
    assert limit.retry_after("anna", "10.0.0.1", Instant(NOW + 15 * MINUTE)) is None
    limit.succeed("anna", "10.0.0.1")
    assert limit.retry_after("anna", "10.0.0.1", NOW) is None


@pytest.mark.proves("Z42")
def test_the_number_of_counted_keys_is_bounded() -> None:
    limit = FailureLimit()
    for nth in range(20_000):
        limit.fail(f"user{nth}", f"address{nth}", NOW)
    failed(limit, 10)

    assert len(limit._failures) <= 10_000
    assert limit.retry_after("anna", "10.0.0.1", NOW) is not None
