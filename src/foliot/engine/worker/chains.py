"""Answers requests of running attempts to their chains: by the run channel, and from functions in this process."""

from collections.abc import Mapping
from typing import Any

from foliot.domain.chain.message import ChainRequest, read_chain_request
from foliot.domain.run.lease import Claim
from foliot.errors import ChannelRefused
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
    return {"answer": await ask_chain(work, claim, read_chain_request(request.get("request")))}
