"""Converts the section [auth] to settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from foliot.config.reading import Fields, Reading
from foliot.config.settings import AuthSettings
from foliot.domain.access.claims import ClaimPolicy
from foliot.domain.access.role import CREDENTIAL_ROLES, PEOPLE, Role, parse_role
from foliot.domain.vocabulary.access import AUTH
from foliot.errors import InvalidInput

_KEYS: Final = ("jwt_secret", "jwt_key", "jwks")
_CLAIMS: Final = ("audience", "issuer", "name_claim", "role_claim", "claim_roles")


def auth_settings(fields: Fields, reading: Reading) -> AuthSettings:
    """Return the settings of [auth]. Paths in a file are relative to that file."""
    keys = [name for name in _KEYS if name in fields]
    if len(keys) > 1:
        hint = "Keep one of them. A JWKS file can have several keys."
        reading.problems.error(fields[keys[1]].place, f"{keys[0]} and {keys[1]} are mutually exclusive", hint)
    if keys and not fields.value("audience"):
        hint = "Name what services put into aud for this server, so that tokens for others are refused."
        reading.problems.error(fields[keys[0]].place, f"{keys[0]} needs audience", hint)
    for name in () if keys else (name for name in _CLAIMS if name in fields):
        hint = "Add jwt_secret, jwt_key or jwks."
        reading.problems.error(fields[name].place, f"{name} has no effect without a key", hint)
    return AuthSettings(
        claims=_policy(fields, reading) if keys and fields.value("audience") else None,
        jwt_secret=fields.value("jwt_secret"),
        jwt_key=_path(fields, "jwt_key"),
        jwks=_path(fields, "jwks"),
        certificates=_roles(fields, "certificates", reading, known=CREDENTIAL_ROLES),
    )


def _policy(fields: Fields, reading: Reading) -> ClaimPolicy:
    given = fields.fill([field for field in AUTH if field.name in _CLAIMS])
    return ClaimPolicy(**{**given, "roles": _roles(fields, "claim_roles", reading)})


def _roles(fields: Fields, name: str, reading: Reading, *, known: Sequence[Role] = PEOPLE) -> Mapping[str, Role]:
    roles: dict[str, Role] = {}
    for key, value in fields.value(name, {}).items():
        try:
            roles[key] = parse_role(value, known=known)
        except InvalidInput as error:
            reading.refuse(fields[name].place, error)
    return roles


def _path(fields: Fields, name: str) -> Path | None:
    return fields[name].node.origin.directory / fields[name].value if name in fields else None
