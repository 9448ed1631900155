"""What a running attempt sends about itself, with its own token. See docs/design/run-channel.md."""

from http import HTTPStatus
from typing import Any

from foliot.domain.access.role import Permission
from foliot.domain.access.run_token import RunLease
from foliot.domain.fanout.result import ResultQuery
from foliot.interfaces.api.access import forbidden
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.commands.channel import ChannelService


class ProgressRequest(Parameters, frozen=True, kw_only=True, tag="progress"):
    """Report how far the run is."""

    fraction: float
    """From 0 to 1."""
    text: str | None = None


class ResultsRequest(Parameters, frozen=True, kw_only=True, tag="results"):
    """Read the results of the fanout that the run belongs to."""

    after: int = -1
    """The index of the last result that the caller has."""
    failed: bool = False
    """Only those that failed."""


class ChainRequest(Parameters, frozen=True, kw_only=True, tag="chain"):
    """Ask the chain of the run, for example to start the next step."""

    request: dict[str, Any]


@ROUTES.post(
    "/api/run-channel",
    permission=Permission.REPORT,
    summary="Send a request of a running attempt about its own run, with the token of the attempt.",
    errors=(HTTPStatus.CONFLICT,),
    examples=({"type": "progress", "fraction": 0.4, "text": "page 12"},),
)
async def ask_channel(call: Call, body: ProgressRequest | ResultsRequest | ChainRequest) -> dict[str, Any]:
    lease = None if call.principal is None else call.principal.lease
    if lease is None:
        raise forbidden("run")
    return await _answer(call.services.channel, lease, body)


async def _answer(
    channel: ChannelService, lease: RunLease, body: ProgressRequest | ResultsRequest | ChainRequest
) -> dict[str, Any]:
    match body:
        case ProgressRequest():
            await channel.progress(lease, body.fraction, body.text)
            return {"ok": True}
        case ResultsRequest():
            query = ResultQuery(after=body.after, failed=body.failed)
            return {"ok": True, "results": await channel.results(lease, query)}
        case ChainRequest():
            return {"ok": True, "answer": await channel.ask_chain(lease, body.request)}
