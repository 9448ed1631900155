"""Tokens of running attempts: what a process of a job sends to prove which run it belongs to.

    42.AQIDBA...        the number of the lease, and a secret that names run, worker and lease

The server that gets one by HTTP needs no table: the secret is encrypted with the key of the installation, and each
request is carried out only while the lease is current.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from typing import Final, NamedTuple

from foliot.domain.ids import RunId, Token, WorkerId

PURPOSE: Final = "run token"
_TEXT: Final = re.compile(r"([0-9]{1,18})\.([A-Za-z0-9_-]{40,400})")


class RunLease(NamedTuple):
    """The lease of a running attempt."""

    run_id: RunId
    worker_id: WorkerId
    token: Token

    @property
    def content(self) -> bytes:
        """What is encrypted."""
        return f"{self.run_id} {self.worker_id} {self.token}".encode()


def run_token_text(lease: RunLease, sealed: bytes) -> str:
    """Return the token of an attempt. `sealed`: its encrypted content."""
    return f"{lease.token}.{urlsafe_b64encode(sealed).decode().rstrip('=')}"


def sealed_part(text: str) -> bytes | None:
    """Return the encrypted part of a token. None: the text is not the token of an attempt."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    try:
        return urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
    except Error:
        return None


def read_content(content: bytes) -> RunLease | None:
    """Return the lease that a decrypted token names."""
    run_id, _, rest = content.decode(errors="replace").partition(" ")
    worker_id, _, number = rest.partition(" ")
    return RunLease(RunId(run_id), WorkerId(worker_id), Token(int(number))) if number.isdecimal() else None
