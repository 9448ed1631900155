"""Requests are sent again if that cannot change more than once, and not more often than allowed."""

from typing import Any

import pytest

from foliot.client.asynchronous import AsyncClient
from foliot.errors import FoliotError, RateLimited, RequestRefused, ServerUnavailable, StorageError
from tests.client.scripted import LOST, Reply, ScriptedServer


def refusal(code: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": "no", "hint": "", "field": "", "request_id": "r1"}}


CANCELLED = Reply(200, {"run_id": "r", "phase": "queued", "status": "cancelled"})
VERSION = Reply(200, {"version": "1.2"})
BUSY = Reply(503, refusal("storage_unavailable"), {"Retry-After": "2"})


def client_of(server: ScriptedServer, pauses: list[float], **options: Any) -> AsyncClient:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    client = AsyncClient(server.url, token="fol_secret", **options)
    client._transport._pause = pause
    return client


async def test_a_change_is_repeated_with_the_same_key_after_a_lost_connection(scripted: ScriptedServer) -> None:
    pauses: list[float] = []
    scripted.replies = [LOST, LOST, CANCELLED]
    async with client_of(scripted, pauses) as client:
        answer = await client.runs.cancel("r")

    keys = [one.headers["idempotency-key"] for one in scripted.received]
    assert answer.phase == "queued"
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert pauses == sorted(pauses)


async def test_two_changes_have_different_keys(scripted: ScriptedServer) -> None:
    scripted.replies = [CANCELLED]
    async with client_of(scripted, []) as client:
        await client.runs.cancel("r")
        await client.runs.cancel("r")

    first, second = (one.headers["idempotency-key"] for one in scripted.received)
    assert first != second


@pytest.mark.parametrize(
    "reply",
    [BUSY, Reply(429, refusal("too_many_streams"), {"Retry-After": "2"}), Reply(503, refusal("storage_unavailable"))],
)
async def test_a_read_is_repeated_when_the_server_is_busy(scripted: ScriptedServer, reply: Reply) -> None:
    pauses: list[float] = []
    scripted.replies = [reply, VERSION]
    async with client_of(scripted, pauses) as client:
        assert await client.server.version() == "1.2"

    assert len(pauses) == 1
    assert "Retry-After" not in reply.headers or pauses == [2]


async def test_a_change_that_the_server_still_handles_is_asked_for_again(scripted: ScriptedServer) -> None:
    in_progress = Reply(409, refusal("idempotency_in_progress"), {"Retry-After": "1"})
    pauses: list[float] = []
    scripted.replies = [LOST, in_progress, CANCELLED]
    async with client_of(scripted, pauses) as client:
        await client.runs.cancel("r")

    assert pauses[1] == 1


async def test_the_number_of_repetitions_is_bounded(scripted: ScriptedServer) -> None:
    scripted.replies = [BUSY]
    async with client_of(scripted, [], retries=3) as client:
        with pytest.raises(StorageError):
            await client.server.version()

    assert len(scripted.received) == 4


async def test_a_long_pause_is_not_waited_for(scripted: ScriptedServer) -> None:
    pauses: list[float] = []
    scripted.replies = [Reply(429, refusal("rate_limited"), {"Retry-After": "600"})]
    async with client_of(scripted, pauses) as client:
        with pytest.raises(RateLimited) as refused:
            await client.server.version()

    assert (refused.value.retry_after, pauses) == (600, [])


@pytest.mark.parametrize("reply", [LOST, BUSY])
async def test_a_change_without_a_key_is_sent_once(scripted: ScriptedServer, reply: Reply | None) -> None:
    scripted.replies = [reply]
    async with client_of(scripted, []) as client:
        for change in (client.jobs.put("a", {}), client.jobs.delete("a"), client.tokens.create("viewer")):
            with pytest.raises(FoliotError):
                await change

    assert [one.method for one in scripted.received] == ["PUT", "DELETE", "POST"]
    assert not [one for one in scripted.received if "idempotency-key" in one.headers]


@pytest.mark.parametrize("status", [400, 404, 409, 422, 500, 502])
async def test_other_refusals_are_final(scripted: ScriptedServer, status: int) -> None:
    scripted.replies = [Reply(status, refusal("other"))]
    async with client_of(scripted, []) as client:
        with pytest.raises(FoliotError) as refused:
            await client.server.version()

    assert (refused.value.code, refused.value.request_id, len(scripted.received)) == ("other", "r1", 1)


async def test_a_redirect_is_not_followed(scripted: ScriptedServer) -> None:
    scripted.replies = [Reply(302, {}, {"Location": scripted.url + "/elsewhere"})]
    async with client_of(scripted, []) as client:
        with pytest.raises(RequestRefused, match="status 302"):
            await client.server.version()

    assert len(scripted.received) == 1


async def test_an_answer_of_another_program_is_an_error(scripted: ScriptedServer) -> None:
    scripted.replies = [Reply(200, {"hello": "world"})]
    async with client_of(scripted, []) as client:
        with pytest.raises(ServerUnavailable, match="cannot be read"):
            await client.server.version()


async def test_only_a_change_that_was_sent_may_have_been_made(scripted: ScriptedServer) -> None:
    scripted.replies = [LOST]
    async with client_of(scripted, []) as client:
        with pytest.raises(ServerUnavailable) as lost:
            await client.jobs.delete("a")
    async with ScriptedServer() as server:
        url = server.url
    async with AsyncClient(url) as client:
        with pytest.raises(ServerUnavailable) as refused:
            await client.jobs.delete("a")

    assert "may have been made" in lost.value.hint
    assert "Check that foliot serve runs" in refused.value.hint


async def test_a_server_that_does_not_exist_is_unavailable() -> None:
    async with ScriptedServer() as server:
        url = server.url
    async with AsyncClient(url, retries=0) as client:
        with pytest.raises(ServerUnavailable, match=f"{url} could not be reached") as refused:
            await client.server.version()

    assert refused.value.__context__ is None
