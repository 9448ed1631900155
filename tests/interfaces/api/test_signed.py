"""Signed tokens of other services, and client certificates."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import jwt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from foliot.config.settings import AuthSettings
from foliot.domain.access.claims import ClaimPolicy
from foliot.domain.access.role import Role
from foliot.interfaces.api.access import SignedCredentials, StoredAccess
from foliot.service.services import Services
from foliot.wiring.services import build_jwt_verifier
from tests.interfaces.api.serving import serving

SECRET = "0123456789abcdef0123456789abcdef"


def signed(**claims: object) -> str:
    usual = {"sub": "billing", "aud": "foliot", "role": "viewer", "exp": datetime.now(UTC) + timedelta(minutes=5)}
    return jwt.encode({**usual, **claims}, SECRET, algorithm="HS256")


@pytest.mark.proves("R4-57", "Z35")
async def test_a_signed_token_has_the_role_of_its_claim(services: Services) -> None:
    verifier = build_jwt_verifier(AuthSettings(claims=ClaimPolicy(audience="foliot"), jwt_secret=SECRET))
    assert verifier is not None
    access = StoredAccess(services, may_be_development=True, signed=SignedCredentials(verifier.verify))
    async with serving(services, access) as client:

        async def status(token: str, method: str = "GET") -> int:
            return (await client.send(method, "/api/jobs", authorization=f"Bearer {token}")).status

        assert (await client.get("/api/jobs")).status == 401
        assert await status(signed()) == 200
        assert await status(signed(), "POST") == 403
        assert await status(signed(aud="other")) == 401
        assert await status(signed(exp=datetime(2020, 1, 1, tzinfo=UTC))) == 401
        assert await status(jwt.encode({"sub": "x", "aud": "foliot", "role": "admin"}, "", algorithm="none")) == 401


class Authority:
    """Signs certificates for a test."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")])
        self.file = self._write("authority", self._sign(self._name, self._key, is_authority=True), self._key)

    def issue(self, name: str) -> dict[str, str]:
        """Write a certificate for 127.0.0.1 and its key, and return their paths."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name(
            [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example"), x509.NameAttribute(NameOID.COMMON_NAME, name)]
        )
        file = self._write(name, self._sign(subject, key), key)
        return {"certfile": file, "keyfile": f"{file}.key"}

    def _sign(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, is_authority: bool = False) -> bytes:
        from ipaddress import ip_address

        now = datetime.now(UTC)
        built = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        )
        return built.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def _write(self, name: str, certificate: bytes, key: ec.EllipticCurvePrivateKey) -> str:
        file = self._directory / f"{name}.pem"
        file.write_bytes(certificate)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        Path(f"{file}.key").write_bytes(private)
        return str(file)


@pytest.mark.proves("R4-57", "Z36")
async def test_a_client_certificate_has_the_role_of_its_subject(services: Services, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    server = authority.issue("server")
    tls = {"tls_cert": server["certfile"], "tls_key": server["keyfile"], "tls_client_ca": authority.file}
    credentials = SignedCredentials(certificates={"CN=deploy,O=Example": Role.VIEWER})
    access = StoredAccess(services, may_be_development=True, signed=credentials)
    async with serving(services, access, tls=tls) as client:

        async def status(method: str, **certificate: str) -> int:
            secure = ssl.create_default_context(cafile=authority.file)
            if certificate:
                secure.load_cert_chain(**certificate)
            headers = {"content-type": "application/json"}
            async with client.session.request(method, f"{client.base}/api/jobs", ssl=secure, headers=headers) as answer:
                return answer.status

        assert client.base.startswith("https://")
        assert await status("GET", **authority.issue("deploy")) == 200
        assert await status("POST", **authority.issue("deploy")) == 403
        assert await status("GET", **authority.issue("stranger")) == 401
        with pytest.raises(aiohttp.ClientError):
            await status("GET")
