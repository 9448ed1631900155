"""The secrets port: encrypts what must not be readable in the database, its backups and its dumps.

One key serves all of Foliot. It is never stored in the database.
"""

from typing import Protocol


class Secrets(Protocol):
    def seal(self, value: bytes, purpose: str) -> bytes:
        """Return the value encrypted. `purpose` says where it is stored, for example `dsn:main`: it cannot be decrypted
        for another purpose. Raise SecretKeyUnusable if there is no key."""
        ...

    def unseal(self, sealed: bytes, purpose: str) -> bytes:
        """Return the value. Raise SecretKeyUnusable if there is no key, and SecretUnreadable if the value was
        encrypted with another key or for another purpose, or has been changed."""
        ...

    def tag(self, value: bytes, purpose: str) -> bytes:
        """Return 16 bytes that only a process with the key can compute from the value, to recognise it when it comes
        from outside. Raise SecretKeyUnusable if there is no key."""
        ...

    def has_tag(self, value: bytes, purpose: str, tag: bytes) -> bool:
        """Return whether `tag` belongs to the value and the purpose, by any of the keys of a rotation."""
        ...
