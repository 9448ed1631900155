"""A file that renames a job of an open execution is applied when the execution has ended."""

import signal
from pathlib import Path

import pytest

from tests.scenarios.server import Place, Server, until

FLOW = """
[[jobs]]
id = "old"
command = "true"

[[workflows]]
id = "release"

[[workflows.steps]]
name = "ask"
approve = true

[[workflows.steps]]
name = "work"
job = "old"
after = "ask"
"""
RENAMED = FLOW.replace('id = "old"', 'id = "new"\nrenamed_from = "old"').replace('job = "old"', 'job = "new"')


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.file.write_text(FLOW)
    return place


def open_execution(place: Place) -> str:
    """Start an execution that waits for approval and return its id."""
    execution_id = place.foliot("workflows", "start", "release").split()[-1]
    until(lambda: place.objects("workflows", "active"), lambda: "no execution was opened")
    return execution_id


def approve(place: Place, server: Server, execution_id: str) -> None:
    """End the execution, after which the server applies the file."""
    place.foliot("workflows", "approve", execution_id, "ask")
    server.saw("configuration_applied")
    assert {job["id"] for job in place.objects("jobs")} >= {"new"}
    [run] = place.objects("runs", "--job", "new")
    assert run["status"] == "success"


def test_a_server_starts_with_the_stored_definitions_and_renames_when_the_execution_has_ended(place: Place) -> None:
    with place.serve("--log-format", "json"):
        execution_id = open_execution(place)
    place.file.write_text(RENAMED)

    with place.serve("--log-format", "json") as server:
        refused = server.saw("configuration_not_applied")
        assert "could not be renamed" in refused["problem"]
        assert execution_id in refused["hint"]
        assert refused["started_with"] == "the stored definitions"
        assert [job["id"] for job in place.objects("jobs") if job["id"] in ("old", "new")] == ["old"]
        approve(place, server, execution_id)


def test_a_reload_is_refused_while_the_execution_is_open(place: Place) -> None:
    with place.serve("--log-format", "json") as server:
        execution_id = open_execution(place)
        server.saw("configuration_applied")
        place.file.write_text(RENAMED)

        assert f"foliot cancel {execution_id}" in place.foliot("reload", code=1)
        server.send(signal.SIGHUP)
        assert "again_in_ms" in server.saw("configuration_not_applied")
        place.foliot("workflows", "approve", execution_id, "ask")

        assert "renamed new" in server.saw("configuration_applied", count=2)["changes"]
