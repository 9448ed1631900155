"""Schemathesis sends requests that it makes from the description of the API, and compares the answers with it."""

import asyncio
import json
import os
import sys
from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from foliot import Foliot
from foliot.interfaces.cli.commands.doctor import examine_services
from tests.interfaces.api.schema_hooks import KNOWN
from tests.interfaces.api.serving import Client, RoleAccess, serving

ROOT: Final = Path(__file__).parents[3]
PHASES: Final = {"sqlite": "examples,coverage,fuzzing,stateful", "postgresql": "coverage"}
"""What each storage is tried with. The routes are the same; values at their limits may differ by database."""


async def known_names(api: Client) -> dict[str, list[str]]:
    """Create one of everything, and return the names by the parameters that take them."""
    as_admin = {"authorization": "Bearer admin"}
    await api.put("/api/jobs/x", {"command": "true", "schedule": "@daily"}, **as_admin)
    await api.put("/api/workflows/w", {"steps": [{"name": "only", "command": "true"}]}, **as_admin)
    run_id = (await api.post("/api/jobs/x/run", {"delay": 3600}, **as_admin)).json["id"]
    execution_id = (await api.post("/api/workflows/w/start", {}, **as_admin)).json["id"]
    return {
        "job_id": ["x"],
        "run_id": [run_id, execution_id],
        "schedule_id": ["x:default"],
        "workflow_id": ["w"],
        "execution_id": [execution_id],
        "step": ["only"],
    }


@pytest.mark.timeout(480)
@pytest.mark.proves("Z18", "R4-31")
async def test_answers_are_those_of_the_description(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_SECRET_KEY", b64encode(bytes(32)).decode())
    app = Foliot(url)
    # Without a worker: the jobs that it makes have random commands.
    async with app:
        services = await app.open()
        async with serving(services, RoleAccess(), doctor=partial(examine_services, services, None, None)) as api:
            report, status = await checked(api, tmp_path, PHASES[url.partition(":")[0]])

    assert status == 0, report


async def checked(api: Client, directory: Path, phases: str) -> tuple[str, int | None]:
    """Run schemathesis. Return its report and its exit code."""
    known = await known_names(api)
    config = Path(__file__).with_name("schemathesis.toml")
    called = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)),
        *("run", f"{api.base}/api/openapi.json", "--url", api.base, "--phases", phases),
        *("--header", "Authorization: Bearer admin"),
        cwd=directory,
        env={**os.environ, KNOWN: json.dumps(known), "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    report, _ = await called.communicate()
    return report.decode(), called.returncode
