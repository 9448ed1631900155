"""Requests of running attempts by HTTP: what the run channel answers, for processes that cannot reach their worker."""

from collections.abc import Mapping
from typing import Any

from foliot.domain.access.run_token import PURPOSE, RunLease, read_content, run_token_text, sealed_part
from foliot.domain.chain.message import read_chain_request
from foliot.domain.fanout.result import ResultQuery, no_results_error, record_of
from foliot.domain.run.progress import ProgressReport, read_progress
from foliot.errors import ChannelRefused, SecretError
from foliot.ports.secrets import Secrets
from foliot.ports.storage import Storage

_ENDED = "this run has ended, or another worker has it"


class ChannelService:
    """Carries out the requests of an attempt, each only while its lease is current."""

    def __init__(self, storage: Storage, keys: Secrets) -> None:
        self._work = storage.work
        self._keys = keys

    def token_of(self, lease: RunLease) -> str | None:
        """Return the token of an attempt. None: there is no key to make one with."""
        try:
            return run_token_text(lease, self._keys.seal(lease.content, PURPOSE))
        except SecretError:
            return None

    def lease_of(self, text: str) -> RunLease | None:
        """Return the lease that a token names, which may have ended. None: it is no token of an attempt."""
        sealed = sealed_part(text)
        if sealed is None:
            return None
        try:
            return read_content(self._keys.unseal(sealed, PURPOSE))
        except SecretError:
            return None

    async def progress(self, lease: RunLease, fraction: object, text: object = None) -> None:
        """Save the progress of the attempt."""
        report = ProgressReport(*lease, *read_progress(fraction, text))
        if await self._work.save_progress([report]):
            raise ChannelRefused(_ENDED, hint="Nothing was changed.")

    async def results(self, lease: RunLease, query: ResultQuery) -> list[dict[str, Any]]:
        """Return a page of results of the fanout that the run belongs to."""
        page = await self._work.results(*lease, query)
        if page is None:
            raise no_results_error()
        return [record_of(child) for child in page]

    async def ask_chain(self, lease: RunLease, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer of the chain of the run: facts, or a refusal with its `code`."""
        asked = read_chain_request(request, field="request")
        answer = await self._work.ask_chain(*lease, asked)
        if answer is None:
            raise ChannelRefused(_ENDED, hint="Nothing was changed.")
        return answer
