"""The worker of Foliot over TLS: it checks the certificate of the server, and shows its own instead of a secret."""

from pathlib import Path

import pytest

from foliot import Foliot
from foliot.adapters.work_http.server import Server
from foliot.domain.access.role import Role
from foliot.domain.instant import Millis
from foliot.engine.settings import Settings
from foliot.errors import RequestRefused
from foliot.interfaces.api.access import SignedCredentials, StoredAccess
from foliot.service.services import Services
from foliot.wiring.processes import remote_worker
from tests.interfaces.api.serving import serving
from tests.interfaces.api.test_signed import Authority

SETTINGS = Settings(label="build-7", slots=2, poll=Millis(200), drain=Millis(0))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def work_until_ended(services: Services, server: Server, run_id: str) -> str:
    async with remote_worker(server, Foliot().runners(SETTINGS), SETTINGS) as worker:
        await worker.start()
        try:
            return str((await services.runs.wait(run_id, timeout=60)).status)
        finally:
            await worker.stop()


@pytest.mark.proves("Z36")
async def test_a_worker_with_a_certificate_has_the_labels_of_the_enrolment_with_its_common_name(
    tmp_path: Path, authority: Authority
) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell("train", "true", labels=["gpu"], executor="worker")
    own, shown = authority.issue("server"), authority.issue("gpu-1")
    tls = {"tls_cert": own["certfile"], "tls_key": own["keyfile"], "tls_client_ca": authority.file}
    async with app:
        services = await app.open()
        await services.enrolments.register("gpu-1", labels=["gpu"])
        signed = SignedCredentials(certificates={"CN=gpu-1,O=Example": Role.WORKER})
        access = StoredAccess(services, may_be_development=False, signed=signed)
        async with serving(services, access, tls=tls) as client:
            run_id = await app.enqueue("train")
            server = Server(
                url=client.base, tls_ca=authority.file, tls_cert=shown["certfile"], tls_key=shown["keyfile"]
            )

            assert await work_until_ended(services, server, run_id) == "success"

            with pytest.raises(RequestRefused, match="is not trusted"):
                await work_until_ended(services, Server(url=client.base, token="unused"), run_id)
