"""`foliot worker-check` accepts a real server, and reports one that answers wrongly."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.domain.access.principal import Principal, PrincipalKind
from foliot.interfaces.api.access import StoredAccess
from foliot.interfaces.cli.worker_check.checks import CHECKS, SIGNED_CHECKS
from foliot.service.services import Services
from foliot.service.workers.enrolments import Candidate, EnrolmentService
from tests.interfaces.api.serving import serving


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    async with app:
        yield await app.open()


async def check(url: str, **environment: str) -> tuple[int | None, str]:
    """Run the command as a program, and return its exit status and what it printed."""
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("foliot")),
        "worker-check",
        url,
        env={"PATH": os.environ["PATH"], **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode, printed.decode()


async def credentials(services: Services) -> dict[str, str]:
    editor = await services.tokens.create(role="editor")
    view, secret = await services.enrolments.register("checked")
    return {"FOLIOT_TOKEN": editor.secret, "FOLIOT_WORKER_ID": view.id, "FOLIOT_WORKER_SECRET": secret}


async def test_every_check_passes_with_signed_messages(services: Services) -> None:
    async with serving(services, StoredAccess(services, may_be_development=False)) as client:
        status, printed = await check(client.base, **await credentials(services))

    assert (status, "failed" in printed) == (0, False), printed
    assert printed.count("ok  ") == len(CHECKS) + len(SIGNED_CHECKS)
    assert f"all {len(CHECKS) + len(SIGNED_CHECKS)} checks passed" in printed


async def test_every_check_passes_without_credentials_in_development_mode(services: Services) -> None:
    async with serving(services) as client:
        status, printed = await check(client.base)

    assert (status, "failed" in printed) == (0, False), printed
    assert not [one for one in await services.queries.jobs.all() if one.job.id.startswith("worker-check")]


async def test_a_server_that_accepts_any_signature_is_reported(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def believe(self: EnrolmentService, candidate: Candidate, request: object) -> Principal:
        from foliot.domain.access.role import Role

        return Principal(kind=PrincipalKind.WORKER, name=candidate.enrolment.name, role=Role.WORKER)

    monkeypatch.setattr(EnrolmentService, "verify", believe)
    async with serving(services, StoredAccess(services, may_be_development=False)) as client:
        status, printed = await check(client.base, **await credentials(services))

    assert status == 1
    assert f"of {len(CHECKS) + len(SIGNED_CHECKS)} checks failed" in printed
    assert "failed  a wrong signature is refused: answered 200, not 401 bad_signature" in printed
    assert "failed  a repeated nonce is refused: answered 200, not 401 replay" in printed
