"""Requests connect to admitted addresses only, at every redirect, and send no secrets to other origins."""

import asyncio
import gzip
import logging
import socket
from collections.abc import AsyncIterator, Callable
from ipaddress import ip_address
from pathlib import Path

import pytest

from foliot.adapters.outbound.client import Outbound
from foliot.adapters.outbound.sockets import PinnedResolver, Sockets
from foliot.domain.outbound.policy import OPEN, OutboundPolicy
from foliot.domain.outbound.request import Request
from foliot.domain.outbound.url import read_url
from foliot.errors import OutboundBlocked, OutboundError, OutboundFailed
from tests.adapters.outbound.fetching import MOST, fetch
from tests.adapters.outbound.servers import Names, Server, redirect, reply, resetting, saying
from tests.adapters.runners.attempts import open_descriptors, until

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server({"/": reply(200, b"hello")}) as running:
        yield running


@pytest.fixture
async def other() -> AsyncIterator[Server]:
    async with Server({"/": reply(200, b"other")}) as running:
        yield running


def allowing(*servers: Server, names: Names | None = None) -> Outbound:
    """Return a client that blocks all private addresses except these servers."""
    allow = [f"127.0.0.1:{server.port}" for server in servers]
    return Outbound(OutboundPolicy.of(block_private=True, allow=allow), look_up=names or Names(["127.0.0.1"]))


async def test_a_request_arrives_as_specified(server: Server) -> None:
    status, body = await fetch(server.url("/?q=%20"), method="PURGE", headers={"X-A": "b"}, body=b"data")

    [asked] = server.asked
    assert (status, body) == (200, b"hello")
    assert (asked.method, asked.target, asked.body, asked.headers["x-a"]) == ("PURGE", "/?q=%20", b"data", "b")
    assert asked.headers["user-agent"].startswith("foliot/")


@pytest.mark.proves("Z22")
async def test_the_host_header_has_the_name_and_the_connection_the_checked_address(server: Server) -> None:
    names = Names(["127.0.0.1"], ["127.0.0.2"])

    await fetch(server.url(host="pinned.example"), outbound=Outbound(OPEN, look_up=names))

    assert server.asked[0].headers["host"] == f"pinned.example:{server.port}"
    assert names.questions == ["pinned.example"]


@pytest.mark.proves("Z22")
async def test_dns_rebinding_between_check_and_connection_has_no_effect(server: Server) -> None:
    async with Server({"/": reply(200, b"rebound")}, host="127.0.0.2") as rebound:
        rebound_names = Names(["127.0.0.1"], ["127.0.0.2"])
        outbound = allowing(server, names=rebound_names)

        assert await fetch(server.url(host="rebinding.example"), outbound=outbound) == (200, b"hello")
        with pytest.raises(OutboundBlocked):
            await fetch(server.url(host="rebinding.example"), outbound=outbound)
        assert rebound.connections == 0


@pytest.mark.proves("Z23", "Z25")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_each_redirect_is_checked_by_the_guard(server: Server, other: Server, status: int) -> None:
    server.answers["/"] = redirect(other.url(), status)

    with pytest.raises(OutboundBlocked, match="loopback"):
        await fetch(server.url(), outbound=allowing(server))

    assert (server.connections, other.connections) == (1, 0)


@pytest.mark.proves("Z25")
async def test_redirects_between_allowed_targets_are_followed(server: Server, other: Server) -> None:
    server.answers["/"] = redirect(other.url())

    assert await fetch(server.url(), outbound=allowing(server, other)) == (200, b"other")


@pytest.mark.proves("Z22", "Z23")
async def test_a_name_is_looked_up_and_checked_again_for_a_redirect(server: Server) -> None:
    server.answers["/"] = redirect("/again")
    names = Names(["127.0.0.1"], ["10.0.0.1"])

    with pytest.raises(OutboundBlocked, match="private"):
        await fetch(server.url(host="changing.example"), outbound=allowing(server, names=names))

    assert server.connections == 1


@pytest.mark.proves("Z23")
@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "gopher://example.org/", "ftp://example.org/", "javascript:1", "http://a:b@c@d/"]
)
async def test_a_redirect_to_another_scheme_is_refused(server: Server, location: str) -> None:
    server.answers["/"] = redirect(location)

    with pytest.raises(OutboundBlocked, match="cannot follow the redirect"):
        await fetch(server.url())


@pytest.mark.proves("Z23")
async def test_a_redirect_loop_ends_after_five_redirects(server: Server) -> None:
    server.answers["/"] = redirect("/")

    status, _ = await fetch(server.url(), redirects=5)

    assert (status, server.connections) == (302, 6)


@pytest.mark.parametrize("answer", [reply(302), redirect("/x", 300), redirect("/x", 304), redirect("/x", 201)])
async def test_a_response_without_redirect_status_or_location_is_not_followed(server: Server, answer: bytes) -> None:
    server.answers["/"] = answer

    await fetch(server.url())

    assert server.connections == 1


@pytest.mark.proves("Z23")
async def test_credentials_are_not_sent_to_another_origin(server: Server, other: Server) -> None:
    server.answers |= {"/": redirect("/second", 307), "/second": redirect(other.url(), 307)}
    url = server.url().replace("//", "//me:secret@")

    await fetch(url, headers={"Cookie": "c", "X-Api-Key": "k", "Accept": "text/csv"})

    first, second = server.asked
    assert first.headers["authorization"] == second.headers["authorization"] == "Basic bWU6c2VjcmV0"
    assert not {"authorization", "cookie", "x-api-key"} & other.asked[0].headers.keys()
    assert other.asked[0].headers["accept"] == "text/csv"


@pytest.mark.proves("Z23")
async def test_cookies_are_not_kept(server: Server) -> None:
    server.answers |= {"/": reply(302, location="/second", set_cookie="a=b"), "/second": reply()}

    await fetch(server.url())

    assert "cookie" not in server.asked[1].headers


@pytest.mark.proves("Z23")
async def test_proxy_variables_are_ignored(
    server: Server, other: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, other.url())
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    await fetch(server.url())

    assert (server.connections, other.connections) == (1, 0)
    assert "authorization" not in server.asked[0].headers


async def test_no_socket_is_created_for_an_address_that_was_not_admitted() -> None:
    sockets = Sockets([ip_address("8.8.8.8")])

    with pytest.raises(PermissionError):
        sockets.make((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80)))
    assert sockets.has_refused


@pytest.mark.proves("Z22")
async def test_a_connection_to_an_unchecked_address_is_refused_behind_the_resolver(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fooled(self: PinnedResolver, host: str, port: int = 0, family: int = 0) -> list[object]:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": 2, "proto": 0, "flags": 0}]

    monkeypatch.setattr(PinnedResolver, "resolve", fooled)
    outbound = Outbound(OPEN, look_up=Names(["127.0.0.3", "127.0.0.4"]))

    with pytest.raises(OutboundBlocked, match="address that was not checked"):
        await fetch(server.url(host="fooled.example"), outbound=outbound)
    assert server.connections == 0


async def test_the_second_address_is_used_if_the_first_does_not_respond(server: Server) -> None:
    outbound = Outbound(OPEN, look_up=Names(["127.0.0.9", "127.0.0.1"]))

    assert await fetch(server.url(host="two.example"), outbound=outbound) == (200, b"hello")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (b"", "closed the connection without a response"),
        (b"220 mail.example ESMTP\r\n", "not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000 + b"\r\n\r\n", "not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 10_000 + b"\r\n", "not valid HTTP"),
        (reply(200, b"short", content_length="100"), "ended before the response was complete"),
        (reply(200, b"plain", content_encoding="gzip"), "not compressed as the response says"),
        (reply(200, gzip.compress(b"x", mtime=0)[:-1], content_encoding="gzip"), "the compressed body is incomplete"),
    ],
)
async def test_each_kind_of_broken_response_has_a_message(server: Server, answer: bytes, fault: str) -> None:
    server.answers["/"] = answer

    with pytest.raises(OutboundFailed, match=fault):
        await fetch(server.url())


async def test_a_reset_connection_fails_with_the_received_status(server: Server) -> None:
    server.answers["/"] = resetting

    with pytest.raises(OutboundFailed) as failed:
        await fetch(server.url())

    assert failed.value.status == 200


async def test_the_error_for_a_refused_connection_reveals_no_address(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    with pytest.raises(OutboundFailed) as failed:
        await fetch(f"http://nobody.example:{port}/", outbound=Outbound(OPEN, look_up=Names(["127.0.0.1", "::1"])))

    assert str(failed.value) == "could not connect: connection refused"


async def test_connecting_to_an_unresponsive_server_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        place = full.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(place)

        with pytest.raises(OutboundFailed, match=r"could not connect within 0\.05 s"):
            await fetch(f"http://127.0.0.1:{place[1]}/", outbound=Outbound(OPEN, connect=0.05))
        for each in waiting:
            each.close()


async def test_cancelling_a_request_closes_its_connection_immediately(server: Server) -> None:
    server.answers["/"] = saying(reply(200, b"", content_length="100"))
    task = asyncio.create_task(fetch(server.url()))
    await until(lambda: server.asked)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(server.is_left.is_set)


def with_little_room(make: Callable[..., socket.socket]) -> Callable[..., socket.socket]:
    """Reduce the send buffer of sockets, so that most of the body stays in the process."""

    def made(*arguments: object) -> socket.socket:
        socket_made = make(*arguments)
        socket_made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        return socket_made

    return made


@pytest.mark.parametrize("answer", [b"", reply(200, content_length="100")])
async def test_cancelling_a_request_whose_body_is_not_read_closes_the_connection(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_running, is_over = asyncio.Event(), asyncio.Event()
    monkeypatch.setattr(Sockets, "make", with_little_room(Sockets.make))

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(answer)
        is_running.set()
        await is_over.wait()
        writer.transport.abort()

    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    async with await asyncio.start_server(deaf, sock=listening):
        before = len(open_descriptors())
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        task = asyncio.create_task(fetch(url, method="POST", body=bytes(1 << 20)))
        await is_running.wait()
        for _ in range(1_000):
            await asyncio.sleep(0)

        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: len(open_descriptors()) <= before + 1)  # the server's end of the connection
        is_over.set()


async def test_other_tasks_run_while_a_bomb_is_decompressed(server: Server) -> None:
    server.answers["/"] = reply(200, gzip.compress(bytes(4 << 20)), content_encoding="gzip")
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    async with Outbound(OPEN).exchange(Request("GET", read_url(server.url()))) as answer:
        seen = [turns async for _ in answer.pieces(MOST)]
    counting.cancel()

    assert len(seen) >= 64
    assert len(set(seen)) == len(seen)


async def test_other_tasks_run_while_empty_parts_are_decompressed(server: Server) -> None:
    server.answers["/"] = reply(200, gzip.compress(b"") * 900, content_encoding="gzip")
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    assert await fetch(server.url()) == (200, b"")
    counting.cancel()

    assert turns >= 900


async def test_some_interim_responses_are_accepted(server: Server) -> None:
    server.answers["/"] = CONTINUE * 25 + b"HTTP/1.1 103 Early Hints\r\n\r\n" * 25 + reply(200, b"at last")

    assert await fetch(server.url()) == (200, b"at last")


async def test_too_many_interim_responses_fail_the_request(server: Server) -> None:
    server.answers["/"] = saying(CONTINUE * 10_000 + reply(200, b"at last"))

    with pytest.raises(
        OutboundFailed, match=r"the server sent more than 50 interim responses \(1xx\) and no final one"
    ):
        await fetch(server.url())
    await asyncio.wait_for(server.is_left.wait(), 20)


async def test_requests_log_no_warnings(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.answers |= {"/": redirect("/reset"), "/reset": resetting}

    with caplog.at_level(logging.DEBUG), pytest.raises(OutboundError):
        await fetch(server.url())
    await fetch(server.url("/other"))

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
