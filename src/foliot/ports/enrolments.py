"""The enrolments port: the workers that may connect over HTTP, and the nonces of their signed requests."""

from typing import NamedTuple, Protocol

from foliot.domain.ids import WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Order


class NewEnrolment(NamedTuple):
    """An enrolment to store. It has a secret, or it is an invitation: a worker joins once, before `join_expires_at`."""

    id: str
    name: str
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    sealed: bytes | None
    """The encrypted secret. None: no worker has joined yet."""
    join_digest: bytes | None = None
    join_expires_at: Instant | None = None


class StoredEnrolment(NamedTuple):
    id: str
    name: str
    labels: tuple[str, ...]
    """The labels that its workers may claim."""
    kinds: tuple[str, ...]
    """The kinds of jobs that its workers may execute. Empty: all."""
    sealed: bytes | None
    join_digest: bytes | None
    join_expires_at: Instant | None
    created_at: Instant
    created_by: str
    disabled_at: Instant | None
    last_used_at: Instant | None


class Enrolments(Protocol):
    async def add(self, enrolment: NewEnrolment, *, at: Instant | None = None) -> bool:
        """Store an enrolment, created by the actor. False: one with this name exists."""
        ...

    async def get(self, enrolment_id: str) -> StoredEnrolment | None: ...

    async def find(self, name: str) -> StoredEnrolment | None: ...

    async def all(self) -> list[StoredEnrolment]:
        """Return all enrolments, by name."""
        ...

    async def join(self, enrolment_id: str, digest: bytes, sealed: bytes, *, at: Instant | None = None) -> bool:
        """Store the secret of an invited worker. False, and nothing is changed: the invitation has another digest, was
        used, has expired or is disabled. Of concurrent calls one is accepted."""
        ...

    async def set_disabled(self, name: str, disabled: bool, *, at: Instant | None = None) -> StoredEnrolment | None:
        """Disable or enable an enrolment and return it. None: it does not exist."""
        ...

    async def remove(self, name: str) -> bool:
        """Remove an enrolment. False: it does not exist."""
        ...

    async def direct(
        self, order: Order, *, name: str | None = None, version: str | None = None, at: Instant | None = None
    ) -> list[WorkerId]:
        """Pause, drain or resume workers, and return them: those with this id, name or pool, and with this version.

        Without a version, pausing a name also pauses workers that register with it later, until it is resumed.
        """
        ...

    async def take_nonce(
        self, enrolment_id: str, nonce: str, expires_at: Instant, *, at: Instant | None = None
    ) -> bool:
        """Save that a nonce was used, until `expires_at`, and that the enrolment is in use. False: it was used before.
        Of concurrent calls with one nonce, from any process, one is accepted."""
        ...
