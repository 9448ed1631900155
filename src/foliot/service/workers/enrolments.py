"""Enrolments: which workers may connect over HTTP, with which labels, and the check of their signed requests.

register   an administrator gets the secret, and gives it to the worker
invite     an administrator gets a join token, with which one worker gets its secret: once, within an hour
"""

import asyncio
import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from foliot.domain.access.principal import Principal, PrincipalKind
from foliot.domain.access.role import Role
from foliot.domain.access.signature import (
    SignatureHeaders,
    SignedRequest,
    is_signature,
    nonce_expiry,
    skew_problem,
)
from foliot.domain.access.token import SECRET_BITS, check_principal_name, token_id_of, token_text
from foliot.domain.ids import IdSource
from foliot.domain.input.timing import Span, millis
from foliot.domain.instant import HOUR, Instant, Millis, to_datetime
from foliot.domain.job.job import check_name
from foliot.domain.run.lease import Order, Worker
from foliot.errors import BadSignature, InvalidInput, JoinRefused, NotFound, Replayed, StaleTimestamp, WorkerDisabled
from foliot.ports.clock import Clock
from foliot.ports.enrolments import NewEnrolment, StoredEnrolment
from foliot.ports.secrets import Secrets
from foliot.ports.storage import Storage
from foliot.service.queries.documents import moment

LONGEST_INVITATION: Final = Millis(HOUR)
_JOIN: Final = "join_"
_SECRET_SIZE: Final = 32


class EnrolmentView(msgspec.Struct, frozen=True, kw_only=True):
    """An enrolment, without its secret."""

    id: str
    name: str
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    """Empty: all kinds of jobs."""
    state: str
    """enrolled, invited, expired (an invitation) or disabled"""
    created_at: datetime
    created_by: str
    last_used_at: datetime | None
    """Saved at most once a minute."""
    invited_until: datetime | None


class Enrolled(NamedTuple):
    """An enrolment with its secret, which cannot be shown again."""

    enrolment: EnrolmentView
    secret: str


class Candidate(NamedTuple):
    """A signed request whose signature is not checked yet."""

    headers: SignatureHeaders
    enrolment: StoredEnrolment


class EnrolmentService:
    def __init__(self, storage: Storage, clock: Clock, ids: IdSource, keys: Secrets) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._keys = keys

    # -- administrators

    async def register(self, name: str, *, labels: Sequence[str] = (), kinds: Sequence[str] = ()) -> Enrolled:
        """Enrol a worker, and return the secret that it signs its requests with."""
        enrolment_id, secret = self._ids.make(self._clock.now()), secrets.token_hex(_SECRET_SIZE)
        new = NewEnrolment(enrolment_id, *_checked(name, labels, kinds), await self._sealed(enrolment_id, secret))
        return Enrolled(await self._add(new), secret)

    async def invite(
        self, name: str, *, labels: Sequence[str] = (), kinds: Sequence[str] = (), valid: Span = 600.0
    ) -> Enrolled:
        """Enrol a worker that gets its secret by itself, with the join token that this returns. `valid`: for how long,
        at most an hour."""
        span, now = millis(valid, "valid"), self._clock.now()
        if not 0 < span <= LONGEST_INVITATION:
            raise InvalidInput("an invitation is valid for at most an hour", hint="Give up to 1h.", field="valid")
        enrolment_id = self._ids.make(now)
        token = _JOIN + token_text(enrolment_id, secrets.randbits(SECRET_BITS))
        known = _checked(name, labels, kinds)
        expires = Instant(now + span)
        return Enrolled(await self._add(NewEnrolment(enrolment_id, *known, None, _digest(token), expires)), token)

    async def all(self) -> list[EnrolmentView]:
        """Return all enrolments, by name."""
        return [self._view(one) for one in await self._storage.enrolments.all()]

    async def disable(self, name: str) -> EnrolmentView:
        """Refuse the requests of a worker from now on. Its leases run out."""
        return await self._set_disabled(name, disabled=True)

    async def enable(self, name: str) -> EnrolmentView:
        return await self._set_disabled(name, disabled=False)

    async def remove(self, name: str) -> None:
        """Remove an enrolment. Requests with its secret are refused from now on."""
        if not await self._storage.enrolments.remove(name):
            raise await self._missing(name)

    # -- running workers

    async def pause(self, name: str) -> int:
        """Give the workers with this name, enrolment or id no new runs until they are resumed. Return their number;
        workers that register with the name later are paused too."""
        return await self._direct(Order.PAUSE, name)

    async def resume(self, name: str) -> int:
        """Let workers take runs again. Return their number."""
        return await self._direct(Order.NONE, name)

    async def drain(self, name: str | None = None, *, version: str | None = None) -> int:
        """Let workers finish their runs and stop: those with this name, enrolment or id, or with this version of the
        code, for a rolling update. Return their number."""
        if name is None and version is None:
            raise InvalidInput("no worker is named", hint="Give names of workers, or a version.", field="name")
        found = await self._direct(Order.DRAIN, name, version)
        if not found:
            raise await self._no_worker(name, version)
        return found

    async def _direct(self, order: Order, name: str | None, version: str | None = None) -> int:
        if order is Order.PAUSE and not await self._exists(name or ""):
            raise await self._no_worker(name, version)
        return len(await self._storage.enrolments.direct(order, name=name, version=version))

    async def _exists(self, name: str) -> bool:
        workers = [state.worker for state in await self._storage.admission.workers()]
        return any(name in _names(one) for one in workers) or await self._storage.enrolments.find(name) is not None

    async def _no_worker(self, name: str | None, version: str | None) -> NotFound:
        workers = [state.worker for state in await self._storage.admission.workers() if state.is_alive]
        if name is None:
            return NotFound("version", version or "", known=[worker.facts.version for worker in workers])
        enrolments = [one.name for one in await self._storage.enrolments.all()]
        return NotFound("worker", name, known=[*enrolments, *(one for worker in workers for one in _names(worker))])

    # -- workers

    async def join(self, token: str) -> Enrolled:
        """Return the secret of an invited worker. The token is used up."""
        enrolment_id = token_id_of(token.removeprefix(_JOIN)) if token.startswith(_JOIN) else None
        if enrolment_id is None:
            raise JoinRefused
        secret = secrets.token_hex(_SECRET_SIZE)
        sealed = await self._sealed(enrolment_id, secret)
        if not await self._storage.enrolments.join(enrolment_id, _digest(token), sealed):
            raise JoinRefused
        found = await self._storage.enrolments.get(enrolment_id)
        if found is None:
            raise JoinRefused
        return Enrolled(self._view(found), secret)

    async def find_candidate(self, headers: SignatureHeaders) -> Candidate:
        """Return the enrolment of a signed request, before its body is read. Refuse a wrong clock, and a worker that is
        not enrolled or disabled."""
        if (problem := skew_problem(headers.timestamp, self._clock.now())) is not None:
            raise StaleTimestamp(problem)
        found = await self._storage.enrolments.get(headers.worker)
        if found is None or found.sealed is None:
            raise BadSignature
        return Candidate(headers, found)

    async def verify(self, candidate: Candidate, request: SignedRequest) -> Principal:
        """Return who has signed a request. The nonce is used up only if the signature is right."""
        headers, enrolment = candidate
        sealed = enrolment.sealed or b""
        secret = (await asyncio.to_thread(self._keys.unseal, sealed, _purpose(enrolment.id))).decode()
        if not is_signature(headers.signature, request, secret):
            raise BadSignature
        if enrolment.disabled_at is not None:
            raise WorkerDisabled(enrolment.name)
        expires = nonce_expiry(headers.timestamp)
        if not await self._storage.enrolments.take_nonce(enrolment.id, headers.nonce, expires):
            raise Replayed
        return Principal(kind=PrincipalKind.WORKER, name=enrolment.name, role=Role.WORKER)

    # -- both

    async def _add(self, new: NewEnrolment) -> EnrolmentView:
        if not await self._storage.enrolments.add(new):
            hint = "Choose another name, or remove that one: foliot worker remove NAME"
            raise InvalidInput(f'a worker named "{new.name}" exists', hint=hint, field="name")
        found = await self._storage.enrolments.get(new.id)
        if found is None:
            raise await self._missing(new.name)
        return self._view(found)

    async def _sealed(self, enrolment_id: str, secret: str) -> bytes:
        # In a thread: the first call reads a file and loads the package for encryption.
        return await asyncio.to_thread(self._keys.seal, secret.encode(), _purpose(enrolment_id))

    async def _set_disabled(self, name: str, *, disabled: bool) -> EnrolmentView:
        found = await self._storage.enrolments.set_disabled(name, disabled)
        if found is None:
            raise await self._missing(name)
        return self._view(found)

    async def _missing(self, name: str) -> NotFound:
        return NotFound("worker", name, known=[one.name for one in await self._storage.enrolments.all()])

    def _view(self, one: StoredEnrolment) -> EnrolmentView:
        return EnrolmentView(
            id=one.id,
            name=one.name,
            labels=one.labels,
            kinds=one.kinds,
            state=self._state(one),
            created_at=to_datetime(one.created_at),
            created_by=one.created_by,
            last_used_at=moment(one.last_used_at),
            invited_until=moment(one.join_expires_at),
        )

    def _state(self, one: StoredEnrolment) -> str:
        if one.disabled_at is not None:
            return "disabled"
        if one.join_expires_at is None:
            return "enrolled"
        return "invited" if self._clock.now() < one.join_expires_at else "expired"


def _names(worker: Worker) -> list[str]:
    return [one for one in (worker.name, worker.facts.pool, worker.id) if one]


def _checked(name: str, labels: Sequence[str], kinds: Sequence[str]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    for field, given in (("label", labels), ("kind", kinds)):
        for one in given:
            check_name(field, one, InvalidInput)
    return check_principal_name(name), tuple(sorted(set(labels))), tuple(sorted(set(kinds)))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _purpose(enrolment_id: str) -> str:
    return f"worker:{enrolment_id}"
