"""With the guard on, an http job connects to public addresses only."""

import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot.adapters.runners.http import HttpRunner
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.outbound.servers import Names, Server, redirect, reply
from tests.adapters.runners.attempts import an_attempt

BLOCKING = OutboundPolicy.of(block_private=True)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server({"/": reply(200, b"secret")}) as running:
        yield running


@pytest.fixture
def attempts_to_connect(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return all sockets that are created for a request."""
    made: list[object] = []
    real = socket.socket

    def counted(*arguments: Any, **named: Any) -> socket.socket:
        made.append(arguments)
        return real(*arguments, **named)

    monkeypatch.setattr("foliot.adapters.outbound.sockets.socket.socket", counted)
    return made


async def run(url: str, policy: OutboundPolicy = BLOCKING, names: Names | None = None) -> Success | Failure:
    return await HttpRunner(policy, look_up=names or Names(["127.0.0.1"])).run(an_attempt(url=url))


LITERALS = {
    "0": "unspecified",
    "0.0.0.0": "unspecified",
    "127.0.0.1": "loopback",
    "127.1": "loopback",
    "2130706433": "loopback",
    "0x7f.1": "loopback",
    "0x7f000001": "loopback",
    "0177.0.0.1": "loopback",
    "127.0.0.1.": "loopback",
    "127。0。0。1": "loopback",
    "１２７．0．0．1": "loopback",
    "ok@127.0.0.1": "loopback",
    "ok:80@127.0.0.1": "loopback",
    "localhost": "loopback",
    "localhost.": "loopback",
    "[::1]": "loopback",
    "[::ffff:7f00:1]": "loopback",
    "[::ffff:127.0.0.1]": "loopback",
    "[::127.0.0.1]": "loopback",
    "[64:ff9b::7f00:1]": "loopback",
    "[2002:7f00:1::]": "loopback",
    "[2001:0:808:808:0:0:80ff:fffe]": "loopback",
    "[::]": "unspecified",
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "192.168.0.1": "private",
    "[::ffff:10.0.0.1]": "private",
    "169.254.1.1": "link-local",
    "[fe80::1]": "link-local",
    "169.254.169.254": "cloud metadata",
    "[::ffff:169.254.169.254]": "cloud metadata",
    "100.64.0.1": "carrier NAT",
    "224.0.0.1": "multicast",
    "[ff02::1]": "multicast",
    "255.255.255.255": "broadcast",
    "192.0.2.1": "documentation",
    "[2001:db8::1]": "documentation",
    "198.18.0.1": "benchmark",
    "[fd00::1]": "unique local",
    "240.0.0.1": "reserved",
}


@pytest.mark.proves("Z21")
@pytest.mark.parametrize("host", LITERALS)
async def test_a_private_target_is_blocked_in_every_notation(
    host: str, server: Server, attempts_to_connect: list[object]
) -> None:
    outcome = await run(f"http://{host}:{server.port}/")

    message = f"the target is a {LITERALS[host]} address, which is blocked"
    assert outcome == Failure(message, Reason.SSRF_BLOCKED, retryable=False)
    assert (server.connections, attempts_to_connect) == (0, [])


@pytest.mark.proves("Z22")
@pytest.mark.parametrize(
    "answer", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:7f00:1"], ["::1"], ["2606::1", "10.0.0.1"]]
)
async def test_a_name_with_one_private_address_is_blocked(
    answer: list[str], server: Server, attempts_to_connect: list[object]
) -> None:
    outcome = await run(server.url(host="innocent.example"), names=Names(answer))

    assert isinstance(outcome, Failure)
    assert outcome.reason is Reason.SSRF_BLOCKED
    assert (server.connections, attempts_to_connect) == (0, [])


@pytest.mark.proves("Z23")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["http://169.254.169.254/", "http://[::1]/", "file:///etc/passwd", "//10.0.0.1/"])
async def test_a_redirect_to_a_private_address_is_blocked(server: Server, status: int, location: str) -> None:
    server.answers["/"] = redirect(location, status)
    policy = OutboundPolicy.of(block_private=True, allow=[f"127.0.0.1:{server.port}"])

    outcome = await run(server.url(), policy)

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.SSRF_BLOCKED, False)


@pytest.mark.proves("Z25")
@pytest.mark.parametrize(
    "allowed", ["127.0.0.0/8", "127.0.0.1", "127.0.0.1:{port}", "intra.example", "intra.example:{port}"]
)
async def test_a_target_on_the_allow_list_is_reached(server: Server, allowed: str) -> None:
    policy = OutboundPolicy.of(block_private=True, allow=[allowed.format(port=server.port)])

    assert await run(server.url(host="intra.example"), policy) == Success(exit_code=200)


@pytest.mark.proves("Z25")
@pytest.mark.parametrize("allowed", ["127.0.0.2", "127.0.0.1:1", "other.example", "10.0.0.0/8"])
async def test_a_private_target_that_is_not_on_the_allow_list_is_blocked(server: Server, allowed: str) -> None:
    policy = OutboundPolicy.of(block_private=True, allow=[allowed])

    outcome = await run(server.url(host="intra.example"), policy)

    assert isinstance(outcome, Failure)
    assert (outcome.reason, server.connections) == (Reason.SSRF_BLOCKED, 0)


async def test_without_the_guard_a_job_may_call_localhost(server: Server) -> None:
    assert await run(server.url(), OutboundPolicy()) == Success(exit_code=200)
