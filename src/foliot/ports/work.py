"""The work port: everything that a worker uses, in the same process or over a network.

A worker registers, renews all its leases with one call, claims runs, and reports how attempts ended. A claim comes with
the definition of its job, which is sent only once. The storage decides what an ended attempt means for its run: a
retry, the end, and what follows. It accepts only outcomes, output and progress from a worker, and only with
the token of a current lease.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from foliot.domain.chain.message import ChainRequest
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.ids import DefinitionId, RunId, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.definition import Definition
from foliot.domain.run.lease import Claim, Finish, Renewal, Worker
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.progress import ProgressReport
from foliot.ports.topic import Topic


class Claimed(NamedTuple):
    """New leases, and their definitions without those that the worker listed as known."""

    claims: list[Claim]
    definitions: Mapping[DefinitionId, Definition]


class Exchanged(NamedTuple):
    """The result of `exchange`: the stale tokens of the finishes, and the claims."""

    stale: list[Token]
    claims: list[Claim]
    definitions: Mapping[DefinitionId, Definition]


class Work(Protocol):
    """Each verb is one transaction, except `append_log` on SQLite, which has a file of its own for logs."""

    @property
    def is_remote(self) -> bool:
        """Whether the storage runs in another process, so that it can serve two requests concurrently."""
        ...

    def signal(self, topic: Topic) -> asyncio.Event:
        """Return an event that is set when runs may be ready (`Topic.RUNS`) or a cancellation was requested
        (`Topic.CANCELS`)."""
        ...

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        """Register a worker, which is alive for `ttl`."""
        ...

    async def renew(
        self,
        worker_id: WorkerId,
        held: Collection[Token] | None,
        ttl: Millis,
        *,
        is_draining: bool = False,
        at: Instant | None = None,
    ) -> Renewal | None:
        """Extend a worker and all its leases. Return None, and change nothing, if it has expired or is not registered.

        Its leases that `held` does not list are given back, as if never granted. If `held` is None, nothing is given
        back. `is_draining` is shown to people: the worker finishes what it runs and claims nothing more.
        """
        ...

    async def retire(self, worker_id: WorkerId) -> None:
        """Remove a worker that stops. Its remaining leases are treated like those of an expired worker."""
        ...

    async def claim(
        self,
        worker_id: WorkerId,
        queues: Sequence[str],
        limit: int,
        *,
        known: Collection[DefinitionId] = (),
        only: Collection[RunId] | None = None,
        at: Instant | None = None,
    ) -> Claimed:
        """Lease up to `limit` ready runs to a live worker, in rank order. No run is leased to two workers.

        With `only`, just the ready runs among these. A worker that is not registered or has expired gets no runs.
        A run whose row cannot be read ends as failed, reason `launch_failed`, and others are leased in its place.
        Definitions in `known` are not sent again.
        """
        ...

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        """Save ended attempts and their consequences. A stale token changes nothing and is returned.

        The stored options of the run decide whether it is retried. If its cancellation was requested, it is cancelled
        instead of retried. A run that was launched (`Launched`) stays running without a worker: its lease belongs to
        the executor of the application until the end is reported, or the run times out. A finish that was saved before
        (same run, token, status and reason) is accepted again and changes nothing. Superseded attempts are kept as
        records. An outcome that cannot be stored ends its run as failed, reason `output`.
        """
        ...

    async def exchange(
        self,
        finishes: Sequence[Finish],
        worker_id: WorkerId,
        queues: Sequence[str],
        limit: int,
        *,
        known: Collection[DefinitionId] = (),
        only: Collection[RunId] | None = None,
        at: Instant | None = None,
    ) -> Exchanged:
        """Do `finish`, then `claim`, in one commit, which saves a busy worker one of two.

        If it fails, the finishes may or may not have been saved, and must be sent again.
        """
        ...

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        """Save log chunks; saving one again is a no-op. Return the stale tokens, whose chunks are not saved.

        On SQLite the tokens are checked in the database before the chunks are saved in the file of the logs. A chunk of
        a lease that is lost in between is still saved, under its own token.
        """
        ...

    async def save_progress(self, reports: Sequence[ProgressReport], *, at: Instant | None = None) -> list[Token]:
        """Save the progress of running attempts, which replaces what they reported before. It is shown until the
        attempt ends. Return the stale tokens; a report with one changes nothing."""
        ...

    async def results(
        self, run_id: RunId, worker_id: WorkerId, token: Token, query: ResultQuery
    ) -> list[ChildResult] | None:
        """Return a page of results of the fanout that a leased run is a child of, as `ItemStore.results` does. None:
        its parent is not a fanout, or the lease is not current."""
        ...

    async def ask_chain(
        self, run_id: RunId, worker_id: WorkerId, token: Token, request: ChainRequest, *, at: Instant | None = None
    ) -> Mapping[str, Any] | None:
        """Answer what a leased run asks of its chain (`domain.chain.request`), and save what follows. None: the lease
        is not current.

        The rows of the class, of the chain and of the lease are locked, in this order, and the limits are checked
        under these locks. A run that is no step of a chain starts one with its first follow-up. If the answer is lost,
        the request may have been saved: a spawn can be repeated with the same key.
        """
        ...
