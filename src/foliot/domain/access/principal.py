"""Principals: who made a request, proved by a credential."""

from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct

from foliot.domain.access.actor import Actor, ActorKind
from foliot.domain.access.role import PERMISSIONS, Permission, Role
from foliot.domain.access.run_token import RunLease
from foliot.domain.job.job import check_name
from foliot.errors import InvalidInput, shown

_REPORT: Final = frozenset({Permission.REPORT})
_DEVELOPMENT: Final = frozenset(Permission) - _REPORT
"""Without credentials everything is allowed, so that a worker on this machine needs none either."""


class PrincipalKind(StrEnum):
    """How a principal was proved."""

    TOKEN = "token"  # noqa: S105 - not a password
    """By a stored token."""
    USER = "user"
    """By a password, with a session."""
    JWT = "jwt"
    """By a signed token of another service."""
    CERTIFICATE = "certificate"
    """By the client certificate of the TLS connection."""
    DEVELOPMENT = "development"
    """By nothing: a request from this machine in development mode."""
    WORKER = "worker"
    """By the signature of an enrolled worker."""
    RUN = "run"
    """By the token of a running attempt."""


class ScopeKind(StrEnum):
    TRIGGER = "trigger"
    """Start one job."""


class Scope(NamedTuple):
    """One thing that a principal without a role may do, such as `trigger:nightly-report`."""

    kind: ScopeKind
    target: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}"


class Principal(Struct, frozen=True, kw_only=True):
    """Who made a request. Either it has a role, or it may only do what its scopes say."""

    kind: PrincipalKind
    name: str
    role: Role | None = None
    scopes: frozenset[Scope] = frozenset()
    lease: RunLease | None = None
    """The lease of the running attempt that made the request."""

    def may(self, permission: Permission) -> bool:
        """Return whether the role includes a permission. Scopes never do."""
        return permission in self.permissions

    def may_trigger(self, job_id: str) -> bool:
        """Return whether it may start this job: by its role, or by a scope for exactly this job."""
        return self.may(Permission.OPERATE) or Scope(ScopeKind.TRIGGER, job_id) in self.scopes

    @property
    def permissions(self) -> frozenset[Permission]:
        if self.kind is PrincipalKind.DEVELOPMENT:
            return _DEVELOPMENT
        if self.lease is not None:
            return _REPORT
        return frozenset() if self.role is None or self.scopes else PERMISSIONS[self.role]

    @property
    def actor(self) -> Actor:
        """The actor of the changes that it makes."""
        return Actor(ActorKind(self.kind.value), self.name)


DEVELOPMENT: Final = Principal(kind=PrincipalKind.DEVELOPMENT, name="", role=Role.ADMIN)
"""Requests from this machine in development mode."""


def run_principal(lease: RunLease) -> Principal:
    """Return a running attempt, which may do what the run channel does for its own run, and nothing else."""
    return Principal(kind=PrincipalKind.RUN, name=lease.run_id, lease=lease)


def trigger_scope(job_id: str) -> Scope:
    """Return the scope that allows to start one job and nothing else."""
    check_name("job", job_id, InvalidInput)
    return Scope(ScopeKind.TRIGGER, job_id)


def parse_scope(text: object) -> Scope:
    """Return a scope from its text, `trigger:JOB`."""
    kind, colon, target = text.partition(":") if isinstance(text, str) else ("", "", "")
    if not colon or kind not in tuple(ScopeKind):
        raise InvalidInput(f"scope {shown(text)} does not exist", hint="Write trigger:JOB.", field="scopes")
    check_name("scopes", target, InvalidInput)
    return Scope(ScopeKind(kind), target)
