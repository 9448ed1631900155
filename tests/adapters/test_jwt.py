"""Signed tokens of other services: only the key decides the algorithm."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from foliot.adapters.jwt import JwtVerifier, SigningKey, read_key_set, read_public_key, secret_key
from foliot.config.settings import AuthSettings
from foliot.domain.access.claims import ClaimPolicy
from foliot.domain.instant import SECOND, Instant
from foliot.errors import InvalidInput
from foliot.wiring.services import build_jwt_verifier

NOW = Instant(1_800_000_000 * SECOND)
POLICY = ClaimPolicy(audience="foliot")
CLAIMS = {"aud": "foliot", "exp": NOW // SECOND + 60, "sub": "billing", "role": "operator"}
SECRET = "0123456789abcdef0123456789abcdef"
RSA_KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
PRIVATE: dict[str, Any] = {"RS256": RSA_KEY, "ES256": EC_KEY}


def pem(key: Any) -> bytes:
    return bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def verifier(*keys: SigningKey) -> JwtVerifier:
    return JwtVerifier(keys, POLICY)


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_signed_with_the_secret_is_accepted() -> None:
    found = verifier(secret_key(SECRET)).verify(jwt.encode(CLAIMS, SECRET, "HS256"), NOW)

    assert found is not None
    assert (found.kind, found.name, found.role) == ("jwt", "billing", "operator")


@pytest.mark.parametrize("algorithm", PRIVATE)
def test_a_token_signed_with_the_private_key_is_accepted(algorithm: str, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(pem(PRIVATE[algorithm]))
    key = read_public_key(tmp_path / "key.pem")

    assert key.algorithm == algorithm
    assert verifier(key).verify(jwt.encode(CLAIMS, PRIVATE[algorithm], algorithm), NOW) is not None


@pytest.mark.proves("Z35")
def test_a_token_with_another_algorithm_is_refused() -> None:
    public = SigningKey(RSA_KEY.public_key(), "RS256")
    # A token that is signed with the public key as if it were a secret.
    signed = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(CLAIMS)}"
    signature = base64.urlsafe_b64encode(hmac.digest(pem(RSA_KEY), signed.encode(), hashlib.sha256)).rstrip(b"=")

    assert verifier(public).verify(f"{signed}.{signature.decode()}", NOW) is None
    assert verifier(public).verify(jwt.encode(CLAIMS, SECRET, "HS256"), NOW) is None
    assert verifier(public).verify(jwt.encode(CLAIMS, RSA_KEY, "RS512"), NOW) is None
    assert verifier(secret_key(SECRET)).verify(jwt.encode(CLAIMS, SECRET * 2, "HS512"), NOW) is None
    for key in (public, secret_key(SECRET)):
        for algorithm in ("none", "None", ""):
            assert verifier(key).verify(f"{part({'alg': algorithm})}.{part(CLAIMS)}.", NOW) is None


@pytest.mark.proves("Z35")
@pytest.mark.parametrize(
    "header", [{"kid": "../../etc/passwd"}, {"kid": "other"}, {"crit": ["x"], "x": 1}, {"kid": "a", "jku": "http://x"}]
)
def test_a_header_cannot_choose_another_key(header: dict[str, Any]) -> None:
    keys = [SigningKey(SECRET.encode(), "HS256", "a"), SigningKey(RSA_KEY.public_key(), "RS256", "b")]
    wrong = "f" * 32

    assert verifier(*keys).verify(jwt.encode(CLAIMS, wrong, "HS256", headers=header), NOW) is None
    if header.get("kid") != "a":
        assert verifier(*keys).verify(jwt.encode(CLAIMS, SECRET, "HS256", headers=header), NOW) is None


@pytest.mark.proves("Z35")
def test_another_text_is_refused() -> None:
    good = jwt.encode(CLAIMS, SECRET, "HS256")
    head, body, signature = good.split(".")
    changed = part({**CLAIMS, "role": "admin"})
    nested = "[" * 1_500 + "]" * 1_500

    for text in ("", ".", "..", "a.b.c", f"{head}.{changed}.{signature}", f"{head}.{body}.", good[:-2], "x" * 1_000_000,
                 f"{part([])}.{body}.{signature}", "é.é.é", f"{nested}.{body}.{signature}"):  # fmt: skip
        assert verifier(secret_key(SECRET)).verify(text, NOW) is None
    others: list[object] = [[], "x", 7]
    for claims in others:
        signed = f"{part({'alg': 'HS256'})}.{part(claims)}"
        made = base64.urlsafe_b64encode(hmac.digest(SECRET.encode(), signed.encode(), hashlib.sha256)).rstrip(b"=")
        assert verifier(secret_key(SECRET)).verify(f"{signed}.{made.decode()}", NOW) is None


@pytest.mark.proves("Z35")
def test_an_expired_token_is_refused_by_the_given_clock() -> None:
    token = jwt.encode(CLAIMS, SECRET, "HS256")

    assert verifier(secret_key(SECRET)).verify(token, Instant(NOW + 119 * SECOND)) is not None
    assert verifier(secret_key(SECRET)).verify(token, Instant(NOW + 120 * SECOND)) is None


def test_a_token_names_its_key_in_a_key_set(tmp_path: Path) -> None:
    documents = [
        {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA_KEY.public_key())), "kid": "a", "alg": "RS256"},
        {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(EC_KEY.public_key())), "kid": "b", "alg": "ES256"},
    ]
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": documents}))
    both = verifier(*read_key_set(tmp_path / "jwks.json"))

    assert both.verify(jwt.encode(CLAIMS, RSA_KEY, "RS256", headers={"kid": "a"}), NOW) is not None
    assert both.verify(jwt.encode(CLAIMS, EC_KEY, "ES256", headers={"kid": "b"}), NOW) is not None
    assert both.verify(jwt.encode(CLAIMS, EC_KEY, "ES256", headers={"kid": "a"}), NOW) is None
    assert both.verify(jwt.encode(CLAIMS, EC_KEY, "ES256"), NOW) is None


def test_keys_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    weak = rsa.generate_private_key(public_exponent=65_537, key_size=1_024)
    other = ec.generate_private_key(ec.SECP384R1())
    secret = json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "a", "alg": "HS256"}]})
    for nth, (read, content) in enumerate(
        [
            (read_public_key, pem(weak)),
            (read_public_key, pem(other)),
            (read_public_key, b"nothing"),
            (read_key_set, b"nothing"),
            (read_key_set, b"{}"),
            (read_key_set, b"[]"),
            (read_key_set, secret.encode()),
        ]
    ):
        path = tmp_path / f"key{nth}"
        path.write_bytes(content)
        with pytest.raises(InvalidInput):
            read(path)
    for read in (read_public_key, read_key_set):
        with pytest.raises(InvalidInput):
            read(tmp_path / "missing")
    with pytest.raises(InvalidInput):
        secret_key("short")


def test_the_verifier_is_built_from_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(pem(EC_KEY))

    assert build_jwt_verifier(AuthSettings()) is None
    by_secret = build_jwt_verifier(AuthSettings(claims=POLICY, jwt_secret=SECRET))
    by_key = build_jwt_verifier(AuthSettings(claims=POLICY, jwt_key=path))
    assert by_secret is not None
    assert by_key is not None
    assert by_secret.verify(jwt.encode(CLAIMS, SECRET, "HS256"), NOW) is not None
    assert by_key.verify(jwt.encode(CLAIMS, EC_KEY, "ES256"), NOW) is not None
    assert by_key.verify(jwt.encode(CLAIMS, SECRET, "HS256"), NOW) is None
