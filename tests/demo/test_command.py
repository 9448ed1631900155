"""foliot demo on the command line: it creates the demo and serves it, and says what to do if it cannot."""

from pathlib import Path
from urllib.request import urlopen

import pytest

from foliot.demo.shop_files import ShopFiles
from tests.scenarios.server import Place, until


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_demo_is_created_and_a_second_one_is_refused(place: Place) -> None:
    created = place.foliot("demo", "--days", "3", "--no-serve")
    config = ("--config", "foliot-demo/foliot.toml")

    assert created.splitlines() == [
        "Created foliot-demo/foliot.toml, and 3 days of history.",
        "Serve it with: foliot serve --config foliot-demo/foliot.toml",
    ]
    assert "no problems found" in place.foliot("verify", "--since", "10d", *config)
    assert "exists already" in place.foliot("demo", "--no-serve", code=1)


def test_a_demo_is_served_with_the_definitions_that_it_was_made_with(place: Place) -> None:
    directory = place.directory / "foliot-demo"
    server = place.serve("--days", "3", command="demo")
    try:
        until((directory / "foliot.db").exists, lambda: "the history was not made in time")
        with server:
            server.saw("configuration_unchanged")
            with urlopen(f"{server.url}/healthz") as answer:
                status = answer.status
            started = server.saw("attempt_started")
    finally:
        server.kill()

    assert status == 200
    assert started["job"] in (directory / "foliot.toml").read_text()


def test_the_file_names_the_port_of_the_server(tmp_path: Path) -> None:
    config = ShopFiles(tmp_path, port=8123).write()

    assert "http://127.0.0.1:8123/healthz" in config.read_text()
    assert "7070" not in config.read_text()


def test_too_few_days_are_refused(place: Place) -> None:
    assert "3<=x<=60" in place.foliot("demo", "--days", "2", code=2)
