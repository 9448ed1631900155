"""The response of a server as the output of a run."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot.adapters.runners.http import HttpRunner
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.payload import MAX_BYTES
from tests.adapters.outbound.servers import Server, reply
from tests.adapters.runners.attempts import ListLog, an_attempt


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as running:
        yield running


async def get(server: Server, **given: Any) -> Success | Failure:
    return await HttpRunner().run(an_attempt(url=server.url(), **given))


async def test_an_http_run_has_no_output_unless_the_job_asks_for_it(server: Server) -> None:
    server.answers["/"] = reply(200, b"{}")

    assert await get(server) == Success(None, 200)


@pytest.mark.parametrize(("mode", "output"), [("json", b'{"id":7}'), ("text", b'"{\\"id\\": 7}"')])
async def test_the_body_of_the_response_becomes_the_output(server: Server, mode: str, output: bytes) -> None:
    server.answers["/"] = reply(201, b'{"id": 7}\n')

    assert await get(server, output=mode) == Success(output, 201)


async def test_the_log_cap_does_not_cut_the_output_of_an_http_run(server: Server) -> None:
    log = ListLog()
    server.answers["/"] = reply(200, b"[1, 2, 3]")

    outcome = await get(server, output="json", output_cap=2, log=log)

    assert (outcome, log.text("stdout")) == (Success(b"[1,2,3]", 200), b"[1")


@pytest.mark.parametrize("body", [b"<html>", b""])
async def test_a_body_that_is_not_json_fails_the_run_and_keeps_the_status(server: Server, body: bytes) -> None:
    server.answers["/"] = reply(200, body)

    outcome = await get(server, output="json")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.exit_code, outcome.retryable) == (Reason.OUTPUT, 200, True)
    assert outcome.error.startswith("the output is not JSON: expecting value at line 1, column 1")


@pytest.mark.proves("R1-52")
@pytest.mark.parametrize(("size", "is_good"), [(MAX_BYTES, True), (MAX_BYTES + 1, False)])
async def test_an_output_of_a_response_has_at_most_one_mebibyte(server: Server, size: int, is_good: bool) -> None:
    server.answers["/"] = reply(200, b'"%s"' % (b"x" * (size - 2)))

    assert isinstance(await get(server, output="json"), Success) == is_good


async def test_an_unexpected_status_fails_before_the_output_is_read(server: Server) -> None:
    server.answers["/"] = reply(503, b"try later")

    outcome = await get(server, output="json")

    assert isinstance(outcome, Failure)
    assert outcome.reason is Reason.HTTP_STATUS


async def test_an_http_job_cannot_have_an_output_file(server: Server) -> None:
    outcome = await get(server, output="file")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, "output" in outcome.error) == (Reason.LAUNCH_FAILED, True)
