"""Outcome, request and log of an http attempt."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from foliot.adapters.runners.http import HttpRunner
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.job.kinds.http import read_command, read_statuses
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.run import Tick
from tests.adapters.outbound.certificates import make_certificate, server_context
from tests.adapters.outbound.servers import Server, redirect, reply, resetting
from tests.adapters.runners.attempts import ListLog, an_attempt


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server({"/": reply(200, b"hello")}) as running:
        yield running


async def run(url: str, *, log: ListLog | None = None, **given: Any) -> Success | Failure:
    return await HttpRunner().run(an_attempt(log=log, url=url, **given))


@pytest.mark.parametrize(
    ("status", "expected", "is_good"),
    [
        (200, None, True),
        (204, None, True),
        (404, None, False),
        (404, 404, True),
        (200, 404, False),
        (404, [200, 404], True),
        (418, "400-499", True),
        (500, ["2xx", "400-499"], False),
    ],
)
async def test_the_status_decides_the_outcome(server: Server, status: int, expected: object, is_good: bool) -> None:
    server.answers["/"] = reply(status)
    wish: dict[str, Any] = {} if expected is None else {"expect_status": read_statuses(expected)}

    outcome = await run(server.url(), **wish)

    assert (isinstance(outcome, Success), outcome.exit_code) == (is_good, status)


async def test_the_error_for_an_unexpected_status_names_the_expected_ones(server: Server) -> None:
    server.answers["/"] = reply(503)

    outcome = await run(server.url(), expect_status=[[200, 299], [404, 404]])

    error = "status 503 Service Unavailable, expected 200-299, 404"
    assert outcome == Failure(error, Reason.HTTP_STATUS, 503, retryable=True)


@pytest.mark.parametrize("form", ["{url}", "DELETE {url}", '{{"url": "{url}", "method": "POST", "body": "x"}}'])
async def test_each_form_of_an_http_command_is_sent(server: Server, form: str) -> None:
    spec = read_command(form.format(url=server.url()))

    assert await HttpRunner().run(an_attempt(**spec)) == Success(exit_code=200)
    assert server.asked[0].method == spec.get("method", "GET")


async def test_a_method_is_sent_in_upper_case(server: Server) -> None:
    server.answers["/"] = redirect("/", 307)

    await run(server.url(), method="post", max_redirects=1)

    assert [asked.method for asked in server.asked] == ["POST", "POST"]


async def test_request_headers_identify_run_and_attempt(server: Server) -> None:
    attempt = an_attempt(url=server.url(), run_id="run-1", number=3)

    await HttpRunner().run(attempt)

    sent = server.asked[0].headers
    assert (sent["foliot-run-id"], sent["foliot-attempt"], sent["idempotency-key"]) == ("run-1", "3", "run-1")
    assert sent["user-agent"].startswith("foliot/")


async def test_a_scheduled_run_sends_the_key_of_its_tick(server: Server) -> None:
    tick = Tick(ScheduleUid("uid"), ScheduleId("nightly"), Instant(0), "the-key")

    await HttpRunner().run(structs.replace(an_attempt(url=server.url()), tick=tick))

    assert server.asked[0].headers["idempotency-key"] == "the-key"


async def test_a_job_may_set_its_user_agent_and_idempotency_key(server: Server) -> None:
    await run(server.url(), headers={"user-agent": "me", "IDEMPOTENCY-KEY": "mine"})

    assert (server.asked[0].headers["user-agent"], server.asked[0].headers["idempotency-key"]) == ("me", "mine")


@pytest.mark.parametrize(
    ("given", "body", "kind"),
    [
        ({"method": "POST", "body": "text ü"}, "text ü".encode(), "text/plain; charset=utf-8"),
        ({"method": "POST", "json": {"a": 1}}, b'{"a":1}', "application/json"),
        ({"method": "POST", "payload": {"a": 1}}, b'{"a":1}', "application/json"),
        ({"method": "patch", "payload": [1]}, b"[1]", "application/json"),
        ({"method": "POST", "payload": [1], "body": "x"}, b"x", "text/plain; charset=utf-8"),
        ({"method": "POST", "payload": [1], "json": 2}, b"2", "application/json"),
        ({"method": "POST", "json": 2, "headers": {"content-type": "a/b"}}, b"2", "a/b"),
        ({"method": "GET", "payload": {"a": 1}}, b"", None),
        ({"method": "POST"}, b"", None),
        ({"method": "GET", "body": "x"}, b"x", "text/plain; charset=utf-8"),
    ],
)
async def test_the_request_body_is_that_of_the_job_or_the_payload(
    server: Server, given: dict[str, Any], body: bytes, kind: str | None
) -> None:
    await run(server.url(), **given)

    [asked] = server.asked
    assert (asked.body, asked.headers.get("content-type")) == (body, kind)


async def test_the_log_shows_requests_and_redirects_without_secrets(server: Server) -> None:
    server.answers["/"] = redirect("/moved?token=abc")
    server.answers["/moved"] = reply(200, b"\xff\x00 body\n")
    log = ListLog()
    url = server.url("/?key=abc").replace("//", "//me:secret@")

    await run(url, log=log, headers={"X-Secret": "secret"})

    place = server.url("")
    assert log.written == [
        ("meta", f"GET {place}/?key=***\n".encode()),
        ("meta", f"302 Found: GET {place}/moved?token=***\n".encode()),
        ("meta", b"200 OK\n"),
        ("stdout", b"\xff\x00 body\n"),
    ]


async def test_the_log_shows_names_of_variables_in_a_url_instead_of_values(server: Server) -> None:
    log = ListLog()
    place = server.url("")
    server.answers["/s3cret"] = redirect("/s3cret/", 308)
    server.answers["/s3cret/"] = reply(200)

    await run(f"{place}/s3cret?key=s3cret", log=log, written={"url": "${SHOP}/${HOOK}?key=${KEY}"})

    assert log.written == [
        ("meta", f"GET ${{SHOP}}/${{HOOK}}?key=*** ({place})\n".encode()),
        ("meta", f"308 Permanent Redirect: GET {place}/***\n".encode()),
        ("meta", b"200 OK\n"),
    ]


async def test_a_url_with_a_variable_in_its_path_is_logged_with_its_host_once(server: Server) -> None:
    log = ListLog()
    server.answers["/s3cret"] = reply(200)

    await run(server.url("/s3cret"), log=log, written={"url": server.url("/${HOOK}")})

    assert log.written[0] == ("meta", f"GET {server.url('/${HOOK}')}\n".encode())


async def test_reading_a_body_waits_for_a_full_log(server: Server) -> None:
    class Full(ListLog):
        waits = 0

        async def drain(self) -> None:
            self.waits += 1

    log = Full()
    server.answers["/"] = reply(200, b"hello")

    await run(server.url(), log=log)

    assert log.waits == 1


async def test_the_reason_phrase_of_the_server_is_not_logged(server: Server) -> None:
    server.answers["/"] = b"HTTP/1.1 299 end of log: complete\r\nContent-Length: 0\r\n\r\n"
    log = ListLog()

    await run(server.url(), log=log)

    assert log.written[1:] == [("meta", b"299\n")]


async def test_the_log_shows_that_the_certificate_is_not_verified(server: Server) -> None:
    log = ListLog()
    await run(server.url(), log=log, verify=False)

    assert log.written[0] == ("meta", f"GET {server.url()} (certificate not verified)\n".encode())


@pytest.mark.proves("Z36")
@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, Reason.CONNECTION), ({"verify": True}, Reason.CONNECTION), ({"verify": False}, None)],
    ids=str,
)
async def test_certificates_are_verified_by_default(
    options: dict[str, Any], expected: Reason | None, tmp_path: Path
) -> None:
    certificate = make_certificate(tmp_path, "IP:127.0.0.1")
    async with Server({"/": reply()}, tls=server_context(certificate)) as secure:
        outcome = await run(secure.url(), **options)

    assert getattr(outcome, "reason", None) is expected


async def test_follow_false_does_not_follow_redirects(server: Server) -> None:
    server.answers["/"] = redirect("/moved")

    outcome = await run(server.url(), follow=False)

    assert (outcome.exit_code, len(server.asked)) == (302, 1)


async def test_an_expected_redirect_status_is_not_followed(server: Server) -> None:
    server.answers["/"] = redirect("/moved")

    outcome = await run(server.url(), expect_status=[[302, 302]])

    assert (outcome, len(server.asked)) == (Success(exit_code=302), 1)


async def test_too_many_redirects_are_a_failure(server: Server) -> None:
    server.answers["/"] = redirect("/")

    outcome = await run(server.url(), max_redirects=2)

    assert outcome == Failure("status 302 Found, expected 200-299", Reason.HTTP_STATUS, 302)
    assert len(server.asked) == 3


async def test_a_response_that_breaks_off_is_a_failure_with_its_status(server: Server) -> None:
    server.answers["/"] = resetting
    log = ListLog()

    outcome = await run(server.url(), log=log)

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.exit_code, outcome.retryable) == (Reason.CONNECTION, 200, True)
    assert log.text("stdout") == b"begin"


async def test_a_connection_failure_is_retryable() -> None:
    outcome = await run("http://name.invalid/")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.exit_code, outcome.retryable) == (Reason.CONNECTION, None, True)


@pytest.mark.parametrize("url", ["ftp://example.org/", "no url", "http://"])
async def test_an_invalid_http_job_has_exit_code_2_and_is_not_retried(url: str) -> None:
    outcome = await run(url)

    assert isinstance(outcome, Failure)
    assert replace(outcome, error="") == Failure("", Reason.LAUNCH_FAILED, 2, retryable=False)


def test_aiohttp_is_not_imported_before_the_first_request() -> None:
    program = "import sys, json, foliot.wiring; print(json.dumps([m for m in ('aiohttp', 'yarl') if m in sys.modules]))"

    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout

    assert json.loads(loaded) == []
