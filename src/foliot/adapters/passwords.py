"""Digests of passwords with Argon2id, which is loaded with the first password."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argon2 import PasswordHasher


class Argon2Passwords:
    """Fills `ports.passwords.Passwords` with the parameters that the library recommends, 64 MiB and three passes."""

    def __init__(self) -> None:
        self._loaded: PasswordHasher | None = None

    def digest(self, password: str) -> str:
        return self._hasher().hash(_bytes(password))

    def matches(self, password: str, digest: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            return self._hasher().verify(digest, _bytes(password))
        except (InvalidHashError, VerificationError):
            return False

    def _hasher(self) -> "PasswordHasher":
        from argon2 import PasswordHasher

        self._loaded = self._loaded or PasswordHasher()
        return self._loaded


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
