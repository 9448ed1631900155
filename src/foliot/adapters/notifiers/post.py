"""Sends one POST request through the outbound guard, and returns the answer."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from foliot.adapters.outbound.lazy import LazyOutbound
from foliot.domain.outbound.request import REDIRECTS, Request
from foliot.domain.outbound.url import read_url
from foliot.domain.secrets import public_error
from foliot.errors import InvalidInput, OutboundBlocked, OutboundFailed
from foliot.ports.notifier import Answer

if TYPE_CHECKING:
    from foliot.adapters.outbound.client import Response

TIMEOUT: Final = 5.0
"""Seconds for a whole attempt."""
_READ: Final = 4_096
_MOST: Final = 1 << 20
"""Bytes of an answer that are received at most. The rest of a longer one is not read."""
_SHOWN: Final = 200
_GONE: Final = 410


async def post(outbound: LazyOutbound, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
    """Send a request. Redirects are not followed: they would lead a signed message to another receiver."""
    try:
        request = Request("POST", read_url(url), {"Content-Type": "application/json", **headers}, body)
        client = await outbound.open()
        async with asyncio.timeout(TIMEOUT), client.exchange(request) as response:
            return _answer(response.status, await _beginning(response))
    except (OutboundBlocked, InvalidInput) as error:
        return Answer(False, error.message, is_final=True)
    except OutboundFailed as error:
        return Answer(False, error.message)
    except TimeoutError:
        return Answer(False, f"no answer within {TIMEOUT:g} s")


async def _beginning(response: "Response") -> str:
    data = b""
    async with aclosing(response.pieces(_MOST)) as pieces:
        async for piece in pieces:
            data += piece
            if len(data) >= _READ:
                break
    text = data[:_READ].decode("utf-8", "replace")
    return public_error(" ".join("".join(c if c.isprintable() else " " for c in text).split()))[:_SHOWN]


def _answer(status: int, text: str) -> Answer:
    if status in REDIRECTS:
        return Answer(False, f"{_named(status)}: redirects are not followed")
    answer = f"{_named(status)}: {text}" if text else _named(status)
    return Answer(200 <= status < 300, answer, is_final=status == _GONE)


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
