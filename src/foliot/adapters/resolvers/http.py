"""http:// and https:// read a list from a web server.

Every address and every redirect is checked by the outbound guard. The content type decides how the answer is read:
text/plain has one item on each line, JSON is an array. Everything else is refused, because a page that asks for a
password, or an error page, must not become items.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from foliot.adapters.outbound.dns import LookUp
from foliot.adapters.outbound.guard import CONNECT
from foliot.adapters.outbound.lazy import LazyOutbound
from foliot.adapters.resolvers.batches import too_much
from foliot.adapters.resolvers.texts import JsonArray, Lines, TextFormat, batches_of
from foliot.adapters.resolvers.time_limit import SECONDS, limited
from foliot.domain.fanout.inputs import parse_http
from foliot.domain.fanout.item import ItemLimits
from foliot.domain.outbound.policy import OPEN, OutboundPolicy
from foliot.domain.outbound.request import MAX_REDIRECTS, Request
from foliot.domain.outbound.url import Url
from foliot.errors import InputsRefused, InputsUnavailable, OutboundBlocked, OutboundFailed
from foliot.ports.resolver import ResolveRequest

if TYPE_CHECKING:
    from foliot.adapters.outbound.client import Response

_ACCEPTED: Final = "text/plain, application/json;q=0.9"
_HINT: Final = "The server must answer with text/plain, one item on each line, or with application/json, an array."


class HttpResolver:
    """Reads lists from web servers. The policy decides which addresses may be reached."""

    def __init__(
        self,
        policy: OutboundPolicy = OPEN,
        *,
        seconds: float = SECONDS,
        look_up: LookUp | None = None,
        connect: float = CONNECT,
    ) -> None:
        self._outbound = LazyOutbound(policy, look_up=look_up, connect=connect)
        self._seconds = seconds

    def check(self, uri: str) -> None:
        parse_http(uri)

    def resolve(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        return limited(self._batches(parse_http(request.uri).url, request), self._seconds)

    async def _batches(self, url: Url, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        headers = {"Accept": _ACCEPTED, "Accept-Encoding": "gzip, identity", "Foliot-Run-Id": request.run_id}
        outbound = await self._outbound.open()
        try:
            async with outbound.exchange(Request("GET", url, headers), redirects=MAX_REDIRECTS) as response:
                text = _format_of(response, request.limits)
                async with aclosing(batches_of(_pieces(response, request.limits), text)) as batches:
                    async for batch in batches:
                        yield batch
        except OutboundBlocked as error:
            raise InputsRefused(f"{url.place}: {error.message}", hint=error.hint) from None
        except OutboundFailed as error:
            raise InputsUnavailable(f"{url.place}: {error.message}", hint=error.hint) from None


def _format_of(response: "Response", limits: ItemLimits) -> TextFormat:
    if response.status != HTTPStatus.OK:
        raise InputsUnavailable(
            f"{response.url.place} answered with status {response.status}, not 200",
            hint="Open the URL yourself, from the machine of the coordinator, to see its answer.",
        )
    if not response.is_decoded:
        raise InputsRefused("the content encoding of the answer is not supported", hint="Use gzip, or none.")
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind == "text/plain":
        return Lines(limits, comments=True)
    if kind == "application/json" or kind.endswith("+json"):
        return JsonArray(limits)
    what = "HTML, a page for people" if "html" in kind else f"of the type {kind[:64]!a}" if kind else "of no type"
    raise InputsRefused(f"the answer is {what}, not a list of items", hint=_HINT)


async def _pieces(response: "Response", limits: ItemLimits) -> AsyncGenerator[bytes]:
    async with aclosing(response.pieces(limits.total_bytes)) as pieces:
        async for piece in pieces:
            yield piece
    if response.is_cut:
        raise too_much(limits)
