"""The modules of the HTTP API are loaded only by a process that serves it."""

import subprocess
import sys

import pytest

SERVER_MODULES = ("starlette", "uvicorn", "httptools", "prometheus_client", "foliot.interfaces.api")


@pytest.mark.parametrize(
    "imported", ["foliot", "foliot.interfaces.cli", "foliot.interfaces.cli.server.process", "foliot.testing"]
)
def test_importing_a_module_does_not_load_the_http_server(imported: str) -> None:
    code = f"import sys, {imported}; print([name for name in {SERVER_MODULES!r} if name in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"
