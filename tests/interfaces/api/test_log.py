"""What the log of the server says about requests."""

import logging

import pytest

from tests.interfaces.api.serving import Client

LOGGER = "foliot.api"


def facts(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    return [vars(record) for record in caplog.records if record.name == LOGGER and record.msg == "request"]


async def test_a_request_is_logged_with_its_principal_and_without_secrets(
    guarded: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, LOGGER):
        answer = await guarded.get("/api/runs?token=hush", authorization="Bearer viewer", cookie="foliot-session=hush")
        await guarded.put("/api/jobs/x", {"command": "echo hush"}, authorization="Bearer admin")
        await guarded.get("/api/jobs", authorization="Bearer hush")

    read, change, refused = facts(caplog)
    assert (read["method"], read["path"], read["status"]) == ("GET", "/api/runs", answer.status)
    assert read["request"] == answer.headers["X-Request-Id"]
    assert (change["method"], change["path"], change["status"]) == ("PUT", "/api/jobs/x", 201)
    assert "viewer" in str(read["actor"])
    assert "admin" in str(change["actor"])
    assert (refused["status"], "actor" in refused) == (401, False)
    assert not [one for one in facts(caplog) if "hush" in str(one)]


async def test_reads_are_logged_at_debug_and_changes_at_info(api: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        await api.get("/api/jobs")
        await api.put("/api/jobs/x", {"command": "true"})

    assert [one["method"] for one in facts(caplog)] == ["PUT"]
