"""The answer of a server as the output of a run."""

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


async def test_nothing_of_an_answer_is_an_output_unless_the_job_asks_for_it(server: Server) -> None:
    server.answers["/"] = reply(200, b"{}")

    assert await get(server) == Success(None, 200)


@pytest.mark.parametrize(("mode", "output"), [("json", b'{"id":7}'), ("text", b'"{\\"id\\": 7}"')])
async def test_the_body_becomes_the_output(server: Server, mode: str, output: bytes) -> None:
    server.answers["/"] = reply(201, b'{"id": 7}\n')

    assert await get(server, output=mode) == Success(output, 201)


async def test_what_the_log_keeps_does_not_matter(server: Server) -> None:
    log = ListLog()
    server.answers["/"] = reply(200, b"[1, 2, 3]")

    outcome = await get(server, output="json", output_cap=2, log=log)

    assert (outcome, log.text("stdout")) == (Success(b"[1,2,3]", 200), b"[1")


@pytest.mark.parametrize("body", [b"<html>", b""])
async def test_an_answer_that_is_not_json_is_a_failure_that_keeps_the_status(server: Server, body: bytes) -> None:
    server.answers["/"] = reply(200, body)

    outcome = await get(server, output="json")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.exit_code, outcome.retryable) == (Reason.OUTPUT, 200, True)
    assert outcome.error.startswith("the output is not JSON: expecting value at line 1, column 1")


@pytest.mark.parametrize(("size", "is_good"), [(MAX_BYTES, True), (MAX_BYTES + 1, False)])
async def test_a_mebibyte_is_the_most(server: Server, size: int, is_good: bool) -> None:
    server.answers["/"] = reply(200, b'"%s"' % (b"x" * (size - 2)))

    assert isinstance(await get(server, output="json"), Success) == is_good


async def test_a_status_that_is_not_expected_stays_the_failure(server: Server) -> None:
    server.answers["/"] = reply(503, b"try later")

    outcome = await get(server, output="json")

    assert isinstance(outcome, Failure)
    assert outcome.reason is Reason.HTTP_STATUS


async def test_a_file_is_not_for_requests(server: Server) -> None:
    outcome = await get(server, output="file")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, "output" in outcome.error) == (Reason.LAUNCH_FAILED, True)
