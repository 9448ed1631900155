"""Webhooks are signed, sent through the outbound guard, and not redirected."""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator

import pytest

from foliot.adapters.notifiers.webhook import WebhookNotifier
from foliot.adapters.outbound.lazy import LazyOutbound
from foliot.domain.instant import SECOND
from foliot.domain.notification.message import Message
from foliot.domain.outbound.policy import OPEN, OutboundPolicy
from foliot.ports.notifier import Answer
from foliot.testing.clock import VirtualClock
from tests.adapters.outbound.servers import Asked, Names, Server, no_answer, redirect, reply

BLOCKING = OutboundPolicy.of(block_private=True)
NEW, OLD = "a-new-key-of-some-length", "whsec_" + base64.b64encode(b"an old key of 24 bytes..").decode()
MESSAGE = Message("msg_1", {"type": "run.ended", "error": "ü <&>"})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server({"/": reply(200, b"thanks")}) as running:
        yield running


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


def notifier(
    clock: VirtualClock, *secrets: str, policy: OutboundPolicy = OPEN, names: Names | None = None
) -> WebhookNotifier:
    return WebhookNotifier(LazyOutbound(policy, look_up=names), secrets, clock)


def signature(asked: Asked, key: bytes) -> str:
    """Compute a signature as a receiver does, from what it has received alone."""
    content = f"{asked.headers['webhook-id']}.{asked.headers['webhook-timestamp']}.".encode() + asked.body
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


@pytest.mark.proves("Z37")
async def test_a_webhook_is_signed_over_its_id_its_time_and_its_body(server: Server, clock: VirtualClock) -> None:
    answer = await notifier(clock, NEW).deliver(MESSAGE, server.url())

    [asked] = server.asked
    assert answer == Answer(True, "200 OK: thanks")
    assert (asked.method, asked.headers["content-type"]) == ("POST", "application/json")
    assert json.loads(asked.body) == MESSAGE.document
    assert asked.headers["webhook-id"] == "msg_1"
    assert asked.headers["webhook-timestamp"] == str(clock.now() // SECOND)
    assert asked.headers["webhook-signature"] == signature(asked, NEW.encode())


@pytest.mark.proves("Z37")
async def test_during_a_rotation_a_webhook_has_a_signature_by_each_key(server: Server, clock: VirtualClock) -> None:
    await notifier(clock, NEW, OLD).deliver(MESSAGE, server.url())

    [asked] = server.asked
    wanted = [signature(asked, NEW.encode()), signature(asked, b"an old key of 24 bytes..")]
    assert asked.headers["webhook-signature"].split(" ") == wanted


@pytest.mark.proves("Z37")
async def test_a_repeated_attempt_has_the_same_id_and_a_new_time(server: Server, clock: VirtualClock) -> None:
    for _ in range(2):
        await notifier(clock, NEW).deliver(MESSAGE, server.url())
        clock.advance(2 * SECOND)

    first, second = server.asked
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert int(second.headers["webhook-timestamp"]) == int(first.headers["webhook-timestamp"]) + 2
    assert second.headers["webhook-signature"] == signature(second, NEW.encode()) != signature(first, NEW.encode())


async def test_without_a_key_a_webhook_has_an_id_and_no_signature(server: Server, clock: VirtualClock) -> None:
    await notifier(clock).deliver(MESSAGE, server.url())

    [asked] = server.asked
    assert asked.headers["webhook-id"] == "msg_1"
    assert "webhook-signature" not in asked.headers


@pytest.mark.proves("Z37", "Z23")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(server: Server, clock: VirtualClock, status: int) -> None:
    server.answers["/moved"] = redirect(server.url("/"), status)

    answer = await notifier(clock, NEW).deliver(MESSAGE, server.url("/moved"))

    assert not answer.is_accepted
    assert "redirects are not followed" in answer.text
    assert [asked.target for asked in server.asked] == ["/moved"]


@pytest.mark.proves("Z21", "Z22", "Z24", "Z37")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:7f00:1]", "ok@127.0.0.1", "hook.example"]
)
async def test_a_private_address_is_refused_for_good_if_the_guard_blocks_it(
    server: Server, clock: VirtualClock, host: str
) -> None:
    blocked = notifier(clock, NEW, policy=BLOCKING, names=Names(["93.184.216.34", "10.0.0.1"]))

    answer = await blocked.deliver(MESSAGE, f"http://{host}:{server.port}/secret")

    assert (answer.is_accepted, answer.is_final) == (False, True)
    assert "which is blocked" in answer.text
    assert server.connections == 0


@pytest.mark.parametrize(
    ("status", "body", "text", "is_final"),
    [
        (500, b"", "500 Internal Server Error", False),
        (404, b"no\nsuch \x1b[31mhook", "404 Not Found: no such [31mhook", False),
        (410, b"", "410 Gone", True),
        (400, b"password=hunter2", "400 Bad Request: password=***", False),
        (599, b"x" * 100_000, "599: " + "x" * 200, False),
    ],
)
async def test_an_answer_that_is_no_success_is_shown_safely(
    server: Server, clock: VirtualClock, status: int, body: bytes, text: str, is_final: bool
) -> None:
    server.answers["/"] = reply(status, body)

    assert await notifier(clock).deliver(MESSAGE, server.url()) == Answer(False, text, is_final)


async def test_a_receiver_that_does_not_answer_is_given_up(
    clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foliot.adapters.notifiers.post.TIMEOUT", 0.05)
    silent = WebhookNotifier(LazyOutbound(OPEN, look_up=no_answer), (), clock)

    assert await silent.deliver(MESSAGE, "http://hook.example/secret") == Answer(False, "no answer within 0.05 s")


async def test_no_answer_contains_the_url(clock: VirtualClock) -> None:
    async with Server() as gone:
        url = gone.url("/secret?token=secret")

    answer = await notifier(clock).deliver(MESSAGE, url)

    assert not answer.is_accepted
    assert "secret" not in answer.text
