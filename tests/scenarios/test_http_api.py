"""The HTTP API of a real server process: its port, its address, and how it stops."""

import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from tests.scenarios.server import PATIENCE, Place, Server, until

FILE = '[[jobs]]\nid = "report"\ncommand = "echo started; sleep 30"\n'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    found.file.write_text(FILE)
    return found


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program uses."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def get(url: str) -> Any:
    with urlopen(url, timeout=PATIENCE) as answer:
        return json.load(answer)


def post(url: str) -> Any:
    request = Request(url, b"{}", {"Content-Type": "application/json"}, method="POST")
    with urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


def test_a_server_serves_the_api_and_logs_its_address(place: Place) -> None:
    with place.serve() as server:
        assert get(f"{server.url}/healthz") == {"status": "ok"}
        assert get(f"{server.url}/readyz") == {"status": "ready"}
        assert [job["id"] for job in get(f"{server.url}/api/jobs")["items"]] == ["report"]
        assert get(f"{server.url}/api/doctor")["checks"]


def test_a_worker_serves_no_api(place: Place) -> None:
    with place.serve() as server:
        server.saw("api_started")
    with place.serve(command="worker") as worker:
        assert worker.events("api_started") == []


def test_the_api_is_left_out_on_request(place: Place) -> None:
    with place.serve("--no-api") as server:
        server.saw("leader_elected")
        assert server.events("api_started") == []


def test_the_api_runs_beside_a_server_in_a_process_of_its_own(place: Place) -> None:
    with place.serve("--no-api"), place.serve("--roles", "api") as api:
        run = post(f"{api.url}/api/jobs/report/run")
        started = until(
            lambda: get(f"{api.url}/api/runs/{run['id']}")["status"] == "running", lambda: "it did not start"
        )
        assert started
        assert post(f"{api.url}/api/runs/{run['id']}/cancel")["phase"] == "awaiting_worker"
        assert api.events("worker_registered") == []


def test_a_configured_port_that_is_in_use_is_an_error(place: Place, taken: int) -> None:
    server = place.serve("--port", str(taken))

    output = server.output()

    assert server.code == 1
    assert f"port {taken} of 127.0.0.1 is in use" in output
    assert server.events("node_started") == []


def test_the_default_port_in_use_is_a_warning(place: Place, taken: int, tmp_path: Path) -> None:
    (tmp_path / "other_default.py").write_text(
        "import foliot.interfaces.api.listener as listener\n"
        f"listener.DEFAULT_PORT = {taken}\n"
        "from foliot import Foliot\n"
        "app = Foliot()\n"
    )
    with Server(tmp_path, "serve", "other_default:app", PYTHONPATH=str(tmp_path)) as server:
        warning = server.saw("api_not_started")
        server.saw("leader_elected")

    assert str(taken) in warning["problem"]
    assert server.events("api_started") == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_for_other_machines_needs_credentials(place: Place, host: str) -> None:
    server = place.serve("--host", host)

    output = server.output()

    assert server.code == 2
    assert "foliot token create --role admin" in output
    assert "foliot user add" in output
    assert server.events("node_started") == []


def test_in_production_every_request_needs_credentials(place: Place) -> None:
    place.file.write_text(f'[server]\nmode = "production"\n{FILE}')

    with place.serve() as server, pytest.raises(URLError, match="401"):
        get(f"{server.url}/api/jobs")


def test_open_streams_end_when_the_server_stops(place: Place) -> None:
    with place.serve("--drain", "0") as server:
        run = post(f"{server.url}/api/jobs/report/run")
        log = urlopen(
            Request(f"{server.url}/api/runs/{run['id']}/log", headers={"Accept": "text/event-stream"}), timeout=PATIENCE
        )
        events = urlopen(f"{server.url}/api/events", timeout=PATIENCE)
        while b'"started\\n"' not in log.readline():
            pass

        server.send(signal.SIGTERM)

        assert isinstance(log.read(), bytes)
        assert isinstance(events.read(), bytes)
        server.output()
        assert server.code == 0


def test_a_job_of_the_file_names_its_line(place: Place) -> None:
    place.file.write_text(f"# a comment\n\n{FILE}")

    with place.serve() as server:
        request = Request(
            f"{server.url}/api/jobs/report", b'{"command": "true"}', {"Content-Type": "application/json"}, method="PUT"
        )
        with pytest.raises(URLError) as refused:
            urlopen(request, timeout=PATIENCE)

    error = json.loads(refused.value.read())["error"]  # type: ignore[attr-defined]
    assert error["code"] == "owned_elsewhere"
    assert "(foliot.toml:3)" in error["message"]
