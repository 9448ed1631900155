"""Sends one request and reads the whole body."""

from foliot.adapters.outbound.client import Outbound
from foliot.domain.outbound.policy import OPEN
from foliot.domain.outbound.request import Request
from foliot.domain.outbound.url import read_url

MOST = 1 << 30


async def fetch(
    url: str,
    *,
    outbound: Outbound | None = None,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    redirects: int = 5,
    verify: bool = True,
) -> tuple[int, bytes]:
    request = Request(method, read_url(url), headers or {}, body)
    async with (outbound or Outbound(OPEN)).exchange(request, redirects=redirects, verify=verify) as answer:
        return answer.status, b"".join([piece async for piece in answer.pieces(MOST)])
