"""The texts that name workers and leases in messages.

    worker   01JQZ8W3F07M4T5V6W8X9YABCD.0f3a...   the id, and a tag over the principal and the id
    token    1842.9c41...                         the number, and a tag over worker, run and number

A tag has 128 bits and can be computed only with the key of the server, so a text that another principal or worker got,
or that was made up, names nothing. All servers with the key recognise the texts, also after a restart; nothing is
stored for it.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.run.lease import Claim
from foliot.domain.work.message import Held
from foliot.errors import StaleLease, WorkerExpired
from foliot.ports.secrets import Secrets

_WORKER: Final = "remote worker"
_LEASE: Final = "remote lease"
_LONGEST: Final = 100


class WireNames:
    """Makes and reads the texts of one principal."""

    def __init__(self, keys: Secrets, principal: str) -> None:
        self._keys = keys
        self._principal = principal
        self._is_loaded = False

    async def load(self) -> None:
        """Read the key, in a thread: it may be in a file."""
        if not self._is_loaded:
            await asyncio.to_thread(self._keys.tag, b"", _WORKER)
            self._is_loaded = True

    def of_worker(self, worker_id: WorkerId) -> str:
        return f"{worker_id}.{self._keys.tag(self._owned(worker_id), _WORKER).hex()}"

    def worker(self, text: str) -> WorkerId:
        """Return the id of a worker of this principal. WorkerExpired: the text names none."""
        worker_id, tag = _parts(text)
        if tag is None or not self._keys.has_tag(self._owned(worker_id), _WORKER, tag):
            raise WorkerExpired
        return WorkerId(worker_id)

    def of_lease(self, claim: Claim) -> str:
        return f"{claim.token}.{self._keys.tag(_leased(claim.worker_id, claim.run_id, claim.token), _LEASE).hex()}"

    def lease(self, worker_id: WorkerId, run_id: str, text: str) -> Token:
        """Return the token of a lease. StaleLease: the text does not belong to this worker and run."""
        number, tag = _parts(text)
        if tag is None or not (number.isascii() and number.isdecimal()):
            raise StaleLease
        token = Token(int(number))
        if not self._keys.has_tag(_leased(worker_id, run_id, token), _LEASE, tag):
            raise StaleLease
        return token

    def held(self, worker_id: WorkerId, held: Iterable[Held]) -> dict[Token, str]:
        """Return the leases among these, each with its text."""
        found: dict[Token, str] = {}
        for one in held:
            found[self.lease(worker_id, one.run_id, one.token)] = one.token
        return found

    def _owned(self, worker_id: str) -> bytes:
        return f"{self._principal}\n{worker_id}".encode()


def _parts(text: str) -> tuple[str, bytes | None]:
    name, _, tag = text[:_LONGEST].partition(".")
    try:
        return name, bytes.fromhex(tag) if tag else None
    except ValueError:
        return name, None


def _leased(worker_id: WorkerId, run_id: str | RunId, token: Token) -> bytes:
    return f"{worker_id}\n{run_id}\n{token}".encode()
