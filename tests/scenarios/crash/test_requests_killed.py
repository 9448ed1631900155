"""A server that dies between the commit of a request and its answer has carried the request out once.

The client repeats the request with the same Idempotency-Key, at a server that was started meanwhile.
"""

from contextlib import closing
from typing import Any

import aiohttp
import apsw
import asyncpg
import pytest

from foliot.domain.access.request import TAKEOVER_AFTER
from foliot.domain.instant import Millis
from tests.scenarios.crash.process import KILLED, FoliotProcess
from tests.scenarios.crash.stage import Stage

HEADERS = {"Idempotency-Key": "order-4711"}
API = ("--roles", "api", "--port", "0")


async def url_of(stage: Stage, server: FoliotProcess) -> str:
    await stage.until(lambda: bool(server.logged("api_started")), "the API is served")
    return str(server.logged("api_started")[0]["url"])


async def let_pass(stage: Stage, span: Millis) -> None:
    """Let requests be older: the test does not wait for a minute."""
    change = f"UPDATE {{}}requests SET begun_at = begun_at - {int(span)}"
    if stage.is_on_postgres:
        session = await asyncpg.connect(stage.url)
        await session.execute(change.format("foliot."))
        await session.close()
    else:
        with closing(apsw.Connection(stage.url.removeprefix("sqlite:///"))) as file:
            file.set_busy_timeout(5_000)
            file.execute(change.format(""))


async def create_run(url: str) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/api/jobs/quick/run", json={"delay": 3600}, headers=HEADERS) as answer,
    ):
        return answer.status, await answer.json()


@pytest.mark.timeout(180)
@pytest.mark.proves("A1", "A2")
@pytest.mark.parametrize(
    "point", ["begin_request.after_commit", "create.after_commit", "complete_request.after_commit"]
)
async def test_a_request_whose_answer_was_lost_is_carried_out_once(stage: Stage, point: str) -> None:
    await stage.declare()
    doomed = stage.serve(*API, fault=point)
    with pytest.raises(aiohttp.ClientError):
        await create_run(await url_of(stage, doomed))
    assert await stage.ended(doomed) == KILLED, stage.logs()
    assert stage.fault_log.read_text() == point
    await let_pass(stage, TAKEOVER_AFTER)

    url = await url_of(stage, stage.serve(*API))
    first, again = await create_run(url), await create_run(url)

    assert first == again
    assert first[0] == 202
    assert [run.id for run in await stage.runs() if run.job_id == "quick"] == [first[1]["id"]]
