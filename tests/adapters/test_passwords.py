"""Digests of passwords."""

import subprocess
import sys

import pytest

from foliot.adapters.passwords import Argon2Passwords


@pytest.mark.proves("Z10")
def test_a_digest_matches_its_password_alone() -> None:
    passwords = Argon2Passwords()
    digest = passwords.digest("correct horse")

    assert digest.startswith("$argon2id$")
    assert "correct" not in digest
    assert passwords.matches("correct horse", digest)
    assert not passwords.matches("correct horsf", digest)
    assert passwords.digest("correct horse") != digest


def test_a_digest_that_was_changed_by_hand_matches_nothing() -> None:
    passwords = Argon2Passwords()

    assert not passwords.matches("x", "")
    assert not passwords.matches("x", "$argon2id$broken")
    assert not passwords.matches("\ud800", passwords.digest("x"))


def test_the_package_is_loaded_with_the_first_password() -> None:
    code = "import sys, foliot.adapters.passwords, foliot.wiring; print('argon2' in sys.modules, 'jwt' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)

    assert done.stdout == "False False\n"
