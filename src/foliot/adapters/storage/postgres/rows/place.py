"""Puts an open run into the table in which it waits.

`gated` until its gate has decided, `later` until it is due, `holds` while it waits for limits, `ready` when it may
start.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.shared.documents import decode_limits
from foliot.adapters.storage.shared.finish_plan import Lease
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.limits import Limit
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.run import NewRun, rank
from foliot.ports.topic import Topic, topics_of_ready


class Placement(NamedTuple):
    """A run, and the columns that decide its place."""

    run_id: RunId
    queue: str
    priority: int
    due_at: Instant
    limits: Sequence[Limit]
    is_gated: bool = False
    """The run waits for its gate first."""

    @classmethod
    def of_new(cls, run: NewRun) -> Self:
        options = run.options
        return cls(run.id, options.lane, options.priority, run.due_at, run.limits, run.is_gated)

    @classmethod
    def of_row(cls, run_id: str, queue: str, priority: int, due_at: int, limits: str | None) -> Self:
        """Build from a row. Unreadable limits are ignored: the claim will end the run."""
        try:
            known = decode_limits(limits)
        except UNREADABLE:
            known = []
        return cls(RunId(run_id), queue, priority, Instant(due_at), known)

    @classmethod
    def of_lease(cls, lease: Lease) -> Self:
        """Build from a lease. A run that is given back keeps its places, and needs no new ones."""
        run = lease.run
        return cls(lease.run_id, run.queue, run.priority, run.due_at, ())

    @property
    def rank(self) -> int:
        return rank(self.due_at, self.priority)


class Hold(NamedTuple):
    """A place in a limit, or the wait for one."""

    key: str
    run_id: RunId
    rank: int
    is_admitted: bool = False


async def place(transaction: Transaction, runs: Iterable[Placement], now: Instant) -> None:
    """Put runs into their places. Runs with limits are admitted in another transaction, right after this one."""
    gated: list[Placement] = []
    later: list[Placement] = []
    waiting: list[Placement] = []
    ready: list[Placement] = []
    for run in runs:
        (gated if run.is_gated else later if run.due_at > now else waiting if run.limits else ready).append(run)
    await put_gated(transaction, gated)
    await put_later(transaction, later)
    if waiting:
        await save_limits(transaction, [limit for run in waiting for limit in run.limits])
        await add_holds(transaction, [Hold(limit.key, run.run_id, run.rank) for run in waiting for limit in run.limits])
    await put_ready(transaction, ready)


async def put_later(transaction: Transaction, runs: Sequence[Placement]) -> None:
    if runs:
        await transaction.run("put_later", [run.due_at for run in runs], [run.run_id for run in runs])
        transaction.topics.add(Topic.LATER)


async def put_gated(transaction: Transaction, runs: Sequence[Placement]) -> None:
    if runs:
        run_ids = [run.run_id for run in runs]
        await transaction.run("lock_jobs_of_gated", run_ids)
        await transaction.run("put_gated", [run.due_at for run in runs], run_ids)
        transaction.topics.add(Topic.GATES)


async def put_ready(transaction: Transaction, runs: Sequence[Placement]) -> None:
    if runs:
        queues, ranks = [run.queue for run in runs], [run.rank for run in runs]
        await transaction.run("put_ready", queues, ranks, [run.run_id for run in runs])
        transaction.topics |= topics_of_ready(queues)


async def add_holds(transaction: Transaction, holds: Sequence[Hold]) -> None:
    if holds:
        await transaction.run("add_holds", *columns(holds))
        transaction.keys.update(hold.key for hold in holds if not hold.is_admitted)


async def save_limits(transaction: Transaction, limits: Iterable[Limit]) -> None:
    """Store the capacities of the newest runs."""
    wanted = {limit.key: limit.capacity for limit in limits}
    known = dict(await transaction.rows("known_limits", sorted(wanted)))
    changed = sorted((key, capacity) for key, capacity in wanted.items() if known.get(key) != capacity)
    if changed:
        await transaction.run("put_limits", *columns(changed))


async def lock_held_limits(transaction: Transaction, run_ids: list[RunId]) -> None:
    """Lock the limits of these runs: admission moves a waiting run on only while it has locked its limits."""
    if keys := await transaction.column("held_keys", run_ids):
        await transaction.rows("lock_limits", sorted(keys))
