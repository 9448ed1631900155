"""Claims of signed tokens of other services, and subjects of client certificates: whom they name, and with which role.

Signatures and certificates are verified elsewhere. A token must name its audience and its expiry. Roles come from the
configuration alone: a claim, or a subject, that the configuration does not name gives no role.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from foliot.domain.access.actor import MAX_ACTOR_NAME
from foliot.domain.access.principal import Principal, PrincipalKind
from foliot.domain.access.role import PEOPLE, Role
from foliot.domain.instant import MINUTE, SECOND, Instant, Millis

MAX_SKEW: Final = Millis(MINUTE)
"""How far the clock of the service that signs tokens may differ."""


class ClaimPolicy(Struct, frozen=True, kw_only=True):
    """What a token must claim."""

    audience: str
    issuer: str | None = None
    name_claim: str = "sub"
    role_claim: str = "role"
    roles: Mapping[str, Role] = {}
    """Value of the claim -> role. Empty: the claim has the name of a role."""


def principal_of_claims(claims: Mapping[str, Any], policy: ClaimPolicy, now: Instant) -> Principal | None:
    """Return who a verified token belongs to. None: it is for another audience, has expired or gives no role."""
    if not _is_current(claims, now) or policy.audience not in _texts(claims.get("aud")):
        return None
    if policy.issuer is not None and claims.get("iss") != policy.issuer:
        return None
    name, role = claims.get(policy.name_claim), _role(_texts(claims.get(policy.role_claim)), policy)
    if role is None or not _is_name(name):
        return None
    return Principal(kind=PrincipalKind.JWT, name=str(name), role=role)


def principal_of_subject(subject: str, roles: Mapping[str, Role]) -> Principal | None:
    """Return who a verified client certificate belongs to, by its subject. None: it has no role."""
    role = roles.get(subject)
    if role is None or not _is_name(subject):
        return None
    return Principal(kind=PrincipalKind.CERTIFICATE, name=subject, role=role)


def _is_current(claims: Mapping[str, Any], now: Instant) -> bool:
    expires, begins = _moment(claims.get("exp")), _moment(claims.get("nbf", 0))
    return expires is not None and begins is not None and begins - MAX_SKEW <= now < expires + MAX_SKEW


def _moment(seconds: object) -> float | None:
    """Return a time in milliseconds. None: it is not a number; true is none either."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not abs(seconds) < 1e15:
        return None
    return seconds * SECOND


def _role(values: list[str], policy: ClaimPolicy) -> Role | None:
    """Return the highest role that the values give."""
    known = policy.roles or {str(role): role for role in PEOPLE}
    given = {known[value] for value in values if value in known}
    return next((role for role in reversed(PEOPLE) if role in given), None)


def _texts(claim: object) -> list[str]:
    """Return a claim that is a text or a list of texts."""
    values = claim if isinstance(claim, list) else [claim]
    return [value for value in values if isinstance(value, str)]


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= MAX_ACTOR_NAME and name.isprintable()
