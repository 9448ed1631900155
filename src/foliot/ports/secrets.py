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
