"""http:// and https:// read lists from web servers, behind the outbound guard."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from foliot.adapters.resolvers.http import HttpResolver
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.errors import InputsRefused, InputsUnavailable, InvalidInput
from tests.adapters.outbound.servers import Names, Script, Server, redirect, reply, resetting, saying
from tests.adapters.resolvers.resolving import a_request, items, values

BLOCKING = OutboundPolicy.of(block_private=True)
ANY = HttpResolver()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as running:
        yield running


def text(body: bytes, **headers: str) -> bytes:
    return reply(200, body, content_type="text/plain; charset=utf-8", **headers)


def endless(head: bytes, piece: bytes) -> Script:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        with suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(piece)
                await writer.drain()

    return script


@pytest.mark.proves("R0-46")
async def test_text_has_one_item_on_each_line(server: Server) -> None:
    server.answers["/list"] = text(b"# list\none\r\n\ncaf\xe9\n")

    assert await items(ANY, server.url("/list")) == [b"one", b"caf\xe9"]


@pytest.mark.proves("R0-46")
async def test_json_is_an_array(server: Server) -> None:
    server.answers["/list"] = reply(200, b'["a", 7, {"b": 1}]', content_type="application/json")
    server.answers["/api"] = reply(200, b'["a"]', content_type="application/vnd.api+json")

    assert await values(ANY, server.url("/list")) == ["a", 7, {"b": 1}]
    assert await values(ANY, server.url("/api")) == ["a"]


async def test_the_request_names_the_run_and_asks_for_text(server: Server) -> None:
    server.answers["/list"] = text(b"a\n")

    await items(ANY, server.url("/list?page=1"))

    [asked] = server.asked
    assert (asked.method, asked.target) == ("GET", "/list?page=1")
    assert asked.headers["foliot-run-id"] == "run"
    assert asked.headers["accept"].startswith("text/plain")


async def test_a_compressed_answer_is_decompressed(server: Server) -> None:
    server.answers["/list"] = text(gzip.compress(b"a\nb\n"), content_encoding="gzip")

    assert await items(ANY, server.url("/list")) == [b"a", b"b"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("text/html; charset=utf-8", "HTML, a page for people"),
        ("application/xhtml+xml", "HTML, a page for people"),
        ("application/octet-stream", "of the type 'application/octet-stream'"),
        ("text/csv", "of the type 'text/csv'"),
        ("", "of no type"),
    ],
)
@pytest.mark.proves("R0-46")
async def test_an_answer_of_another_type_is_refused(server: Server, kind: str, message: str) -> None:
    server.answers["/list"] = reply(200, b"<html>sign in</html>", content_type=kind)

    with pytest.raises(InputsRefused, match=message) as refused:
        await items(ANY, server.url("/list"))

    assert "text/plain" in refused.value.hint


async def test_json_that_is_no_array_is_refused(server: Server) -> None:
    server.answers["/list"] = reply(200, b'{"items": []}', content_type="application/json")

    with pytest.raises(InputsRefused, match="not a complete JSON array"):
        await items(ANY, server.url("/list"))


@pytest.mark.parametrize("status", [204, 403, 404, 500])
async def test_another_status_than_200_is_a_failure(server: Server, status: int) -> None:
    server.answers["/list"] = reply(status, content_type="text/plain")

    with pytest.raises(InputsUnavailable, match=f"status {status}, not 200"):
        await items(ANY, server.url("/list"))


async def test_a_content_encoding_that_is_not_supported_is_refused(server: Server) -> None:
    server.answers["/list"] = text(b"x", content_encoding="br")

    with pytest.raises(InputsRefused, match="content encoding"):
        await items(ANY, server.url("/list"))


async def test_a_connection_that_breaks_is_a_failure_and_gives_no_items(server: Server) -> None:
    server.answers["/list"] = resetting
    server.answers["/short"] = text(b"a\n", content_length="1000")

    for path in ("/list", "/short"):
        with pytest.raises((InputsUnavailable, InputsRefused)):
            await items(ANY, server.url(path))


async def test_a_server_that_cannot_be_reached_is_a_failure() -> None:
    async with Server() as closed:
        url = closed.url("/list")

    with pytest.raises(InputsUnavailable, match="could not connect"):
        await items(ANY, url)


# -- limits


@pytest.mark.proves("F8")
async def test_an_answer_that_is_too_large_is_refused(server: Server) -> None:
    server.answers["/list"] = text(b"item\n" * 1_000)

    with pytest.raises(InputsRefused, match="more than 4,000 bytes"):
        await items(ANY, server.url("/list"), total_bytes=4_000)


@pytest.mark.proves("F8")
async def test_a_small_answer_that_expands_too_much_is_refused(server: Server) -> None:
    server.answers["/list"] = text(gzip.compress(b"\n" * 10_000_000), content_encoding="gzip")

    with pytest.raises(InputsRefused, match="more than 1,000,000 bytes"):
        await items(ANY, server.url("/list"), total_bytes=1_000_000)


@pytest.mark.proves("F8")
@pytest.mark.parametrize(
    "piece", [b"item\n" * 1_000, b"#" * 1_000 + b"\n", b"\n" * 1_000], ids=["items", "notes", "blank"]
)
async def test_an_endless_answer_ends_at_the_limit_and_the_connection_is_closed(server: Server, piece: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n"
    server.answers["/list"] = endless(head, piece)

    with pytest.raises(InputsRefused, match="more than 1,000,000 bytes"):
        await items(ANY, server.url("/list"), total_bytes=1_000_000)

    await server.is_left.wait()


@pytest.mark.proves("F8")
async def test_an_answer_that_does_not_end_is_given_up(server: Server) -> None:
    server.answers["/list"] = saying(text(b"a\n", content_length="1000"))
    server.answers["/silent"] = saying(b"")

    for path in ("/list", "/silent"):
        with pytest.raises(InputsUnavailable, match=r"took longer than 0\.2 s"):
            await items(HttpResolver(seconds=0.2), server.url(path))

    await server.is_left.wait()


async def test_the_connection_is_closed_when_the_reader_stops_early(server: Server) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n"
    server.answers["/list"] = endless(head, b"item\n" * 10_000)
    batches = ANY.resolve(a_request(server.url("/list")))

    await anext(batches)
    await batches.aclose()

    await server.is_left.wait()


# -- the outbound guard


@pytest.mark.proves("R0-62", "Z24")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::ffff:7f00:1]", "0x7f.1"])
async def test_a_private_address_is_refused_without_a_connection(server: Server, host: str) -> None:
    server.answers["/list"] = text(b"secret\n")

    with pytest.raises(InputsRefused, match="loopback address, which is blocked"):
        await items(HttpResolver(BLOCKING), server.url("/list", host=host))

    assert server.connections == 0


@pytest.mark.proves("R0-62", "Z24")
async def test_a_name_with_a_private_address_is_refused(server: Server) -> None:
    resolver = HttpResolver(BLOCKING, look_up=Names(["93.184.216.34", "10.0.0.1"]))

    with pytest.raises(InputsRefused, match="private address, which is blocked"):
        await items(resolver, server.url("/list", host="lists.example"))


@pytest.mark.proves("R0-62", "Z24")
async def test_a_redirect_to_a_private_address_is_refused(server: Server) -> None:
    allowed = OutboundPolicy.of(block_private=True, allow=[f"127.0.0.1:{server.port}"])
    async with Server({"/secret": text(b"secret\n")}) as inner:
        server.answers["/list"] = redirect(inner.url("/secret"))

        with pytest.raises(InputsRefused, match="loopback address, which is blocked"):
            await items(HttpResolver(allowed), server.url("/list"))

        assert inner.connections == 0


async def test_a_redirect_is_followed(server: Server) -> None:
    server.answers["/old"] = redirect("/list")
    server.answers["/list"] = text(b"a\n")

    assert await items(ANY, server.url("/old")) == [b"a"]


async def test_redirects_without_an_end_are_a_failure(server: Server) -> None:
    server.answers["/loop"] = redirect("/loop")

    with pytest.raises(InputsUnavailable, match="status 302, not 200"):
        await items(ANY, server.url("/loop"))

    assert len(server.asked) == 6


@pytest.mark.proves("R0-61")
@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://example.org/x", "gopher://example.org/"])
async def test_a_redirect_to_another_scheme_is_refused(server: Server, target: str) -> None:
    server.answers["/list"] = redirect(target)

    with pytest.raises(InputsRefused, match="cannot follow the redirect"):
        await items(ANY, server.url("/list"))


@pytest.mark.proves("R0-61")
def test_only_http_and_https_are_accepted() -> None:
    ANY.check("https://example.org/list")
    for uri in ("ftp://example.org/x", "https://", "http:///x", "http://a b/"):
        with pytest.raises(InvalidInput):
            ANY.check(uri)
