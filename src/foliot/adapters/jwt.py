"""Verifies signed tokens of other services (JWT).

The algorithm is that of the key, never that of the token: HS256 for a secret, RS256 for an RSA key, ES256 for a key on
the curve P-256. So a token cannot be signed with a public key as a secret, or not at all. Keys that a token itself
names or contains (jku, x5u, jwk) are not used. PyJWT is loaded with the first key.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from foliot.domain.access.claims import ClaimPolicy, principal_of_claims
from foliot.domain.access.principal import Principal
from foliot.domain.instant import Instant
from foliot.errors import InvalidInput

MAX_TOKEN: Final = 8_192
_MOST_KEYS: Final = 100
_SHORTEST_SECRET: Final = 32
_CURVE: Final = "secp256r1"


class SigningKey(NamedTuple):
    """A key, with the one algorithm that it is used with."""

    key: Any
    algorithm: str
    kid: str | None = None


class JwtVerifier:
    """Returns the principal of a token."""

    def __init__(self, keys: Sequence[SigningKey], policy: ClaimPolicy) -> None:
        self._keys = keys
        self._policy = policy

    def verify(self, token: str, now: Instant) -> Principal | None:
        """Return who a token belongs to. None: it is not valid."""
        claims = self._claims(token) if len(token) <= MAX_TOKEN else None
        return None if claims is None else principal_of_claims(claims, self._policy, now)

    def _claims(self, token: str) -> Mapping[str, Any] | None:
        import jwt

        # The claims are checked by `principal_of_claims`, with the clock of the storage.
        unchecked = {f"verify_{claim}": False for claim in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}
        try:
            key = self._key(jwt.get_unverified_header(token))
            if key is None:
                return None
            claims = jwt.decode(token, key.key, algorithms=[key.algorithm], options=unchecked)  # type: ignore[arg-type]
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None
        return claims

    def _key(self, header: Mapping[str, Any]) -> SigningKey | None:
        """Return the key that the token names, or the only key if it names none."""
        if "crit" in header:
            return None
        kid = header.get("kid")
        if kid is None:
            return self._keys[0] if len(self._keys) == 1 else None
        named = [key for key in self._keys if key.kid == kid]
        unnamed = [key for key in self._keys if key.kid is None] if len(self._keys) == 1 else []
        return next(iter(named or unnamed), None)


def secret_key(secret: str) -> SigningKey:
    """Return the key of a shared secret."""
    if len(secret.encode()) < _SHORTEST_SECRET:
        hint = "Make one with: openssl rand -hex 32"
        raise InvalidInput(f"jwt_secret has fewer than {_SHORTEST_SECRET} bytes", hint=hint, field="jwt_secret")
    return SigningKey(secret.encode(), "HS256")


def read_public_key(path: Path) -> SigningKey:
    """Return the public key in a PEM file."""
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError) as error:
        hint = "It must be a file with an RSA or EC public key (P-256) in PEM format."
        raise InvalidInput(f"{path} could not be read as a public key: {error}", hint=hint, field="jwt_key") from None
    return SigningKey(key, _algorithm_of(key, path))


def read_key_set(path: Path) -> list[SigningKey]:
    """Return the public keys in a JWKS file. Secrets in it are refused."""
    import jwt

    hint = "It must be a JWKS file with RSA and EC public keys (P-256)."
    try:
        found = jwt.PyJWKSet.from_json(path.read_text(encoding="utf-8")).keys
    except (OSError, ValueError, jwt.PyJWTError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path} could not be read as keys: {error}", hint=hint, field="jwks") from None
    if len(found) > _MOST_KEYS:
        raise InvalidInput(f"{path} has more than {_MOST_KEYS} keys", hint="Remove old ones.", field="jwks")
    return [SigningKey(one.key, _algorithm_of(one.key, path), one.key_id) for one in found]


def _algorithm_of(key: object, path: Path) -> str:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    match key:
        case RSAPublicKey() if key.key_size >= 2_048:
            return "RS256"
        case EllipticCurvePublicKey() if key.curve.name == _CURVE:
            return "ES256"
    hint = "Use an RSA key of at least 2048 bits, or an EC key on the curve P-256. A secret belongs into jwt_secret."
    raise InvalidInput(f"{path} has a key that cannot be used", hint=hint, field="jwt_key")
