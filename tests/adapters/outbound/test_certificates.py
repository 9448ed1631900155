"""Certificates are verified unless the request says verify = false."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot.adapters.outbound.client import Outbound
from foliot.domain.outbound.policy import OPEN
from foliot.errors import OutboundFailed
from tests.adapters.outbound.certificates import make_certificate, server_context
from tests.adapters.outbound.fetching import fetch
from tests.adapters.outbound.servers import Names, Server, reply


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("tls"), "DNS:good.example", "IP:127.0.0.1")


@pytest.fixture
async def secure(certificate: Path) -> AsyncIterator[Server]:
    async with Server({"/": reply(200, b"safe")}, tls=server_context(certificate)) as running:
        yield running


@pytest.mark.proves("Z36")
async def test_an_untrusted_certificate_is_refused(secure: Server) -> None:
    with pytest.raises(OutboundFailed, match="certificate is not trusted: self-signed certificate"):
        await fetch(secure.url())

    assert secure.asked == []


async def test_verify_false_accepts_any_certificate(secure: Server) -> None:
    assert await fetch(secure.url(), verify=False) == (200, b"safe")


@pytest.mark.proves("Z36")
async def test_a_trusted_certificate_is_accepted_for_its_names_only(
    secure: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    outbound = Outbound(OPEN, look_up=Names(["127.0.0.1"]))

    assert await fetch(secure.url(), outbound=outbound) == (200, b"safe")
    assert await fetch(secure.url(host="good.example"), outbound=outbound) == (200, b"safe")
    with pytest.raises(OutboundFailed, match="Hostname mismatch"):
        await fetch(secure.url(host="bad.example"), outbound=outbound)


@pytest.mark.proves("Z22")
async def test_the_tls_server_name_is_the_host_of_the_url(certificate: Path) -> None:
    greeted: list[str | None] = []

    def note(connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        greeted.append(name)

    context = server_context(certificate)
    context.sni_callback = note
    async with Server({"/": reply()}, tls=context) as secure:
        outbound = Outbound(OPEN, look_up=Names(["127.0.0.1"]))
        await fetch(secure.url(host="named.example"), outbound=outbound, verify=False)

    assert greeted == ["named.example"]


async def test_https_to_a_server_without_tls_fails() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(400))
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    async with server:
        with pytest.raises(OutboundFailed, match="could not establish a secure connection"):
            await fetch(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")


async def test_a_tls_handshake_without_response_times_out() -> None:
    is_done = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await is_done.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        with pytest.raises(OutboundFailed, match=r"could not connect within 0\.05 s"):
            await fetch(url, outbound=Outbound(OPEN, connect=0.05))
        is_done.set()
