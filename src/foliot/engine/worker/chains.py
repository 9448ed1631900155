"""Answers requests of running attempts to their chains: by the run channel, and from functions in this process."""

from collections.abc import Mapping
from typing import Any

import msgspec

from foliot.domain.chain.message import ChainRequest, split_claims
from foliot.domain.run.lease import Claim
from foliot.errors import ChannelRefused, InvalidInput
from foliot.ports.work import Work


async def ask_chain(work: Work, claim: Claim, request: ChainRequest) -> Mapping[str, Any]:
    """Return the answer to a request: facts, or `code`, `error` and `hint`. Raise ChannelRefused if the run has
    ended or was given to another worker."""
    answer = await work.ask_chain(claim.run_id, claim.worker_id, claim.token, request)
    if answer is None:
        raise ChannelRefused("this run has ended, or another worker has it", hint="Nothing was changed.")
    return answer


async def answer_chain(work: Work, claim: Claim, request: Mapping[str, object]) -> Mapping[str, Any]:
    """Answer a request of the type `chain`. Its field `request` has the type and the fields of a `ChainRequest`."""
    try:
        given = request.get("request")
        asked: ChainRequest = msgspec.convert(
            split_claims(given) if isinstance(given, Mapping) else given, ChainRequest
        )
    except msgspec.ValidationError as error:
        raise InvalidInput(
            f"the request to the chain has a wrong field: {error}",
            hint='Send for example {"type": "decide", "decision": "close"}.',
        ) from None
    return {"answer": await ask_chain(work, claim, asked)}
