"""The passwords port: digests of passwords. Its methods take long, and are called in threads."""

from typing import Protocol


class Passwords(Protocol):
    def digest(self, password: str) -> str:
        """Return a text to store, from which the password cannot be found. It differs each time."""
        ...

    def matches(self, password: str, digest: str) -> bool:
        """Return whether a digest was made of this password."""
        ...
