"""Reads the results of the fanout that a run belongs to, such as those that its reducer combines.

storage --pages--> worker --> requests of the type `results`      processes, by the run channel
                          --> a manifest, one line per item       processes of a reducer
                          --> current_run().results()             functions in the worker's process
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from foliot.domain.fanout.result import ChildResult, ResultQuery, manifest_lines, no_results_error, record_of
from foliot.domain.run.lease import Claim
from foliot.errors import InvalidInput
from foliot.ports.work import Work


class _Request(msgspec.Struct, frozen=True):
    """The fields of a request."""

    after: int = -1
    failed: bool = False


async def read_results(work: Work, claim: Claim, query: ResultQuery) -> list[ChildResult]:
    """Return a page of results. Raise ResultsUnavailable if the claimed run belongs to no fanout."""
    page = await work.results(claim.run_id, claim.worker_id, claim.token, query)
    if page is None:
        raise no_results_error()
    return page


async def answer_results(work: Work, claim: Claim, request: Mapping[str, object]) -> Mapping[str, Any]:
    """Answer a request of the type `results` with a page."""
    try:
        given = msgspec.convert(request, _Request)
    except msgspec.ValidationError as error:
        raise InvalidInput(
            f"the request has a wrong field: {error}",
            hint='Send "after", the index of the last result, and "failed", true or false.',
        ) from None
    query = ResultQuery(after=given.after, failed=given.failed)
    return {"results": [record_of(child) for child in await read_results(work, claim, query)]}


async def manifest_of(work: Work, claim: Claim) -> AsyncIterator[bytes]:
    """Yield the lines of the manifest, page by page."""
    query = ResultQuery(has_outputs=False)
    while page := await read_results(work, claim, query):
        yield manifest_lines(page)
        query = query._replace(after=page[-1].index)
