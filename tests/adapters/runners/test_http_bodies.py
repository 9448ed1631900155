"""Bodies of any size are logged up to a cap, in bounded memory."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot.adapters.outbound.decoder import PIECE
from foliot.adapters.runners.http import READ_LIMIT, HttpRunner
from foliot.domain.job.kinds.http import OUTPUT_CAP
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.outbound.servers import Server, reply
from tests.adapters.runners.attempts import ListLog, an_attempt

MEGABYTE = 1 << 20


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as running:
        yield running


async def get(server: Server, **given: Any) -> tuple[Success | Failure, ListLog]:
    log = ListLog()
    return await HttpRunner().run(an_attempt(log=log, url=server.url(), **given)), log


@pytest.mark.proves("E4")
async def test_a_body_of_ten_megabytes_is_cut_at_32_kib_and_counted(server: Server) -> None:
    body = bytes(range(256)) * (10 * MEGABYTE // 256)
    server.answers["/"] = reply(200, body)

    outcome, log = await get(server)

    assert outcome == Success(exit_code=200)
    assert log.text("stdout") == body[:OUTPUT_CAP]
    assert log.sizes == (10 * MEGABYTE, OUTPUT_CAP)


@pytest.mark.parametrize(("cap", "kept", "sizes"), [(0, b"", (5, 0)), (4, b"hell", (5, 4)), (5, b"hello", None)])
async def test_output_cap_of_the_job_limits_the_logged_body(
    server: Server, cap: int, kept: bytes, sizes: tuple[int, int] | None
) -> None:
    server.answers["/"] = reply(200, b"hello")

    _, log = await get(server, output_cap=cap)

    assert (log.text("stdout"), log.sizes) == (kept, sizes)


async def test_an_endless_body_is_read_up_to_the_limit(server: Server) -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(bytes(MEGABYTE))
            await writer.drain()

    server.answers["/"] = flood

    outcome, log = await get(server)

    assert outcome == Success(exit_code=200)
    assert f"longer than {READ_LIMIT} bytes".encode() in log.text("meta")


EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"
BEGINNINGS = {"gzip": b"\x1f\x8b\x08" + bytes(7), "deflate": b"\x78\x9c"}


@pytest.mark.proves("Z42")
@pytest.mark.parametrize("encoding", BEGINNINGS)
async def test_an_endless_body_that_decompresses_to_nothing_is_read_up_to_the_limit(
    server: Server, encoding: str
) -> None:
    nothing = BEGINNINGS[encoding] + EMPTY_BLOCK * 1_000
    assert zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(nothing) == b""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\n\r\n".encode() + nothing)
        while True:
            writer.write(EMPTY_BLOCK * (MEGABYTE // len(EMPTY_BLOCK)))
            await writer.drain()

    server.answers["/"] = drip

    outcome, log = await get(server)

    assert (outcome, log.text("stdout")) == (Success(exit_code=200), b"")
    assert f"longer than {READ_LIMIT} bytes".encode() in log.text("meta")


@pytest.mark.proves("Z42")
async def test_a_body_with_endless_gzip_parts_is_refused_early(server: Server) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        while True:
            writer.write(gzip.compress(b"") * 1_000)
            await writer.drain()

    server.answers["/"] = drip

    outcome, _ = await get(server)

    assert outcome == Failure("the compressed body has more than 1,000 parts", Reason.CONNECTION, 200)


@pytest.mark.proves("Z42")
async def test_a_decompression_bomb_of_100_megabytes_uses_little_memory(server: Server) -> None:
    bomb = gzip.compress(bytes(100 * MEGABYTE))
    server.answers["/"] = reply(200, bomb, content_encoding="gzip")
    await get(server, output_cap=0)

    tracemalloc.start()
    outcome, log = await get(server)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert outcome == Success(exit_code=200)
    assert log.text("stdout") == bytes(OUTPUT_CAP)
    assert b"the rest was not read" in log.text("meta")
    assert log.sizes is not None
    assert log.sizes[0] <= READ_LIMIT + PIECE
    assert peak < 4 * MEGABYTE


async def test_a_compressed_body_is_logged_decompressed(server: Server) -> None:
    server.answers["/"] = reply(200, gzip.compress(b"hello"), content_encoding="gzip")

    _, log = await get(server)

    assert log.text("stdout") == b"hello"
    assert server.asked[0].headers["accept-encoding"] == "identity"


async def test_a_body_with_an_unsupported_encoding_is_logged_as_received(server: Server) -> None:
    server.answers["/"] = reply(200, b"\x0b\x02\x80", content_encoding="br")

    outcome, log = await get(server)

    assert (outcome, log.text("stdout")) == (Success(exit_code=200), b"\x0b\x02\x80")
    assert b"content encoding of the body is not supported" in log.text("meta")


async def test_a_chunked_body_is_joined(server: Server) -> None:
    server.answers["/"] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"

    assert (await get(server))[1].text("stdout") == b"hello"


@pytest.mark.parametrize("method", ["HEAD", "GET"])
async def test_a_response_without_a_body_is_complete(server: Server, method: str) -> None:
    server.answers["/"] = reply(200, content_length="100") if method == "HEAD" else reply(204)

    outcome, log = await get(server, method=method)

    assert isinstance(outcome, Success)
    assert log.text("stdout") == b""
