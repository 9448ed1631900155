"""The key store encrypts secrets with a key that is not in the database."""

import base64
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foliot.adapters.secrets import FILE_VARIABLE, VARIABLE, KeyStore
from foliot.errors import SecretKeyUnusable, SecretUnreadable
from tests.cases import for_each

KEY = base64.b64encode(bytes(range(32))).decode()
OTHER = base64.b64encode(bytes(range(1, 33))).decode()
SECRET = b"postgresql://anna:hunter2@db/shop"


def a_store(key: str = KEY) -> KeyStore:
    return KeyStore({VARIABLE: key})


@pytest.mark.proves("Z28")
def test_a_sealed_value_can_be_opened_again_and_is_not_readable() -> None:
    sealed = a_store().seal(SECRET, "dsn:main")

    assert b"hunter2" not in sealed
    assert b"anna" not in sealed
    assert a_store().unseal(sealed, "dsn:main") == SECRET


def test_the_same_value_is_sealed_differently_each_time() -> None:
    store = a_store()

    assert store.seal(SECRET, "dsn:main") != store.seal(SECRET, "dsn:main")


def test_a_value_can_be_opened_only_for_its_purpose() -> None:
    sealed = a_store().seal(SECRET, "dsn:main")

    with pytest.raises(SecretUnreadable, match="dsn:other has been changed"):
        a_store().unseal(sealed, "dsn:other")


def test_a_value_of_another_key_is_named_as_such() -> None:
    sealed = a_store().seal(SECRET, "dsn:main")

    with pytest.raises(SecretUnreadable, match="dsn:main was encrypted with another key") as refused:
        a_store(OTHER).unseal(sealed, "dsn:main")

    assert VARIABLE in refused.value.hint


def test_every_changed_byte_is_noticed() -> None:
    sealed = a_store().seal(SECRET, "dsn:main")

    for place in range(len(sealed)):
        changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        with pytest.raises(SecretUnreadable):
            a_store().unseal(changed, "dsn:main")


@for_each("sealed", [b"", b"\x01", b"plain text", b"\x01" * 17])
def test_what_was_never_sealed_is_refused(sealed: bytes) -> None:
    with pytest.raises(SecretUnreadable):
        a_store().unseal(sealed, "dsn:main")


def test_during_a_rotation_the_first_key_seals_and_all_open() -> None:
    old = a_store().seal(SECRET, "dsn:main")
    both = a_store(f"{OTHER}, {KEY}")

    assert both.unseal(old, "dsn:main") == SECRET
    assert a_store(OTHER).unseal(both.seal(SECRET, "dsn:main"), "dsn:main") == SECRET


def test_both_alphabets_of_base64_are_accepted() -> None:
    key = bytes([0xFB, 0xFF] * 16)

    sealed = a_store(base64.b64encode(key).decode()).seal(SECRET, "x")

    assert a_store(base64.urlsafe_b64encode(key).decode()).unseal(sealed, "x") == SECRET


@for_each("key", ["secret", "hunter2" * 8, base64.b64encode(b"x" * 31).decode(), f"{KEY},", f"{KEY},short", "é"])
def test_a_key_of_another_form_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(SecretKeyUnusable, match="FOLIOT_SECRET_KEY is not a key: 32 bytes as base64") as refused:
        a_store(key).seal(SECRET, "dsn:main")

    assert key not in str(refused.value)
    assert "openssl rand -base64 32" in refused.value.hint


@for_each("environ", [{}, {VARIABLE: ""}])
def test_without_a_key_secrets_are_refused(environ: Mapping[str, str]) -> None:
    with pytest.raises(SecretKeyUnusable, match="there is no key"):
        KeyStore(environ).seal(SECRET, "dsn:main")


# -- key files


@pytest.mark.proves("Z28")
def test_the_first_secret_creates_a_key_file_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "foliot.db-key"

    sealed = KeyStore({}, path).seal(SECRET, "dsn:main")

    assert path.stat().st_mode & 0o777 == 0o600
    assert [*tmp_path.iterdir()] == [path]
    assert KeyStore({}, path).unseal(sealed, "dsn:main") == SECRET


def test_the_file_is_not_created_to_open_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "key"

    with pytest.raises(SecretKeyUnusable, match="does not exist"):
        KeyStore({}, path).unseal(a_store().seal(SECRET, "x"), "x")

    assert not path.exists()


def test_processes_that_create_the_file_at_once_use_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with ThreadPoolExecutor(8) as threads:
        sealed = list(threads.map(lambda _: KeyStore({}, path).seal(SECRET, "x"), range(8)))

    assert [KeyStore({}, path).unseal(one, "x") for one in sealed] == [SECRET] * 8
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.proves("Z28")
@for_each("mode", [0o640, 0o604, 0o660, 0o644, 0o610])
def test_a_file_that_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key"
    path.write_text(KEY)
    path.chmod(mode)

    with pytest.raises(SecretKeyUnusable, match="can be used by others than its owner") as refused:
        KeyStore({}, path).seal(SECRET, "x")

    assert f"chmod 600 {path}" in refused.value.hint


def test_a_named_file_is_used_before_the_default_and_never_created(tmp_path: Path) -> None:
    named = tmp_path / "named"
    store = KeyStore({FILE_VARIABLE: str(named)}, tmp_path / "default")
    with pytest.raises(SecretKeyUnusable, match="does not exist"):
        store.seal(SECRET, "x")

    named.touch(0o600)
    named.write_text(f"{KEY}\n")

    assert a_store().unseal(store.seal(SECRET, "x"), "x") == SECRET


def test_the_variable_is_used_before_a_file(tmp_path: Path) -> None:
    store = KeyStore({VARIABLE: KEY, FILE_VARIABLE: str(tmp_path / "missing")}, tmp_path / "default")

    assert a_store().unseal(store.seal(SECRET, "x"), "x") == SECRET


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "missing" / "key"):
        with pytest.raises(SecretKeyUnusable):
            KeyStore({}, path).seal(SECRET, "x")


def test_a_file_without_a_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.touch(0o600)

    with pytest.raises(SecretKeyUnusable, match="is not a key"):
        KeyStore({}, path).seal(SECRET, "x")
