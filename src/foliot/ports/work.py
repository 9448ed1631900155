"""The work port: all that a worker needs, in the same process or far away.

A worker registers, renews one lease for everything it holds, claims runs, and reports how attempts ended. What a run is
to do comes with the claim as a definition, once; what an ended attempt means for its run (a retry, the end, what
follows) is decided behind this port. A worker is believed about outcomes only, and only with the token of a current
lease.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.ids import DefinitionId, RunId, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.definition import Definition
from foliot.domain.run.lease import Claim, Finish, Renewal, Worker
from foliot.domain.run.logs import LogChunk
from foliot.ports.topic import Topic


class Claimed(NamedTuple):
    """Granted leases, and the definitions that they name and the worker did not list as known."""

    claims: list[Claim]
    definitions: Mapping[DefinitionId, Definition]


class Exchanged(NamedTuple):
    """What `exchange` did: the stale tokens, and what was claimed."""

    stale: list[Token]
    claims: list[Claim]
    definitions: Mapping[DefinitionId, Definition]


class Work(Protocol):
    """Each verb is one transaction."""

    @property
    def is_remote(self) -> bool:
        """Whether the storage works in another process, so that it can serve two requests at once."""
        ...

    def signal(self, topic: Topic) -> asyncio.Event:
        """An event that is set when runs may be ready, or cancellation was requested (`Topic.RUNS`,
        `Topic.CANCELS`)."""
        ...

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        """Make a worker known and alive for `ttl`."""
        ...

    async def renew(
        self, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, *, at: Instant | None = None
    ) -> Renewal | None:
        """Prolong the life of a worker and of all its leases. None: it had expired, or is not known, and stays so.

        Leases in its name that it does not list are given back, as if never granted. With None nothing is given back.
        """
        ...

    async def retire(self, worker_id: WorkerId) -> None:
        """Remove a worker that stops in good order. Leases that it still has count as those of an expired worker."""
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
        """Lease up to `limit` ready runs to a live worker: in rank order, never one run to two workers.

        With `only`, just those of them that are ready. A worker that is not registered or has expired gets nothing.
        A run whose row cannot be read ends as failed, reason `launch_failed`, and others are leased in its place.
        Definitions in `known` are not sent again.
        """
        ...

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        """Save ended attempts with what follows from them. A stale token changes nothing and is returned.

        Whether the run is tried again is decided here, by its stored options. A requested cancellation turns "try
        again" into cancelled. A finish that was saved before (same run, token, status and reason) is accepted again and
        changes nothing. Superseded attempts are kept as records. An outcome that cannot be stored ends its run as
        failed, reason `output`.
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
        """`finish`, then `claim`, in one commit: what a busy worker does all the time.

        If it fails, the finishes may have been saved or not, and must be sent again.
        """
        ...

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        """Save log chunks; saving one twice is saving it once. Chunks of a stale token are not saved; these tokens are
        returned."""
        ...
