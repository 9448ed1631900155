"""The client checks the certificate of a server, and shows its own."""

from pathlib import Path

import pytest

from foliot import Foliot
from foliot.client import AsyncClient
from foliot.domain.access.role import Role
from foliot.errors import CredentialsRefused, Forbidden, InvalidInput, RequestRefused
from foliot.interfaces.api.access import SignedCredentials, StoredAccess
from tests.interfaces.api.serving import serving
from tests.interfaces.api.test_signed import Authority


async def test_a_client_certificate_is_shown_to_a_server_that_is_trusted(tmp_path: Path) -> None:
    authority, app = Authority(tmp_path), Foliot(f"sqlite:///{tmp_path}/foliot.db")
    server, known, stranger = (authority.issue(name) for name in ("server", "deploy", "stranger"))
    tls = {"tls_cert": server["certfile"], "tls_key": server["keyfile"], "tls_client_ca": authority.file}
    async with app:
        services = await app.open()
        signed = SignedCredentials(certificates={"CN=deploy,O=Example": Role.VIEWER})
        async with serving(services, StoredAccess(services, may_be_development=True, signed=signed), tls=tls) as served:
            trusted = AsyncClient(
                served.base, tls_ca=authority.file, tls_cert=known["certfile"], tls_key=known["keyfile"]
            )
            async with trusted as client:
                assert (await client.jobs.page()).items == []
                with pytest.raises(Forbidden, match="role"):
                    await client.jobs.create({"command": "true"})
            other = AsyncClient(
                served.base, tls_ca=authority.file, tls_cert=stranger["certfile"], tls_key=stranger["keyfile"]
            )
            async with other as client:
                with pytest.raises(CredentialsRefused):
                    await client.jobs.page()
            async with AsyncClient(served.base) as client:
                with pytest.raises(RequestRefused, match="is not trusted") as refused:
                    await client.jobs.page()
                assert refused.value.code == "certificate"


async def test_files_for_tls_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    async with AsyncClient("https://localhost", tls_ca=str(tmp_path / "missing.pem")) as client:
        with pytest.raises(InvalidInput, match="the files for TLS") as refused:
            await client.server.version()
    assert refused.value.field == "tls_ca"

    async with AsyncClient("https://localhost", tls_key="key.pem") as client:
        with pytest.raises(InvalidInput, match="tls_key needs tls_cert"):
            await client.server.version()
