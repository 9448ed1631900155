"""Where a run that is not over stands: `gated` until its gate has decided, `later` until it is due, `holds` while it
waits, `ready` when it may start."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.shared.documents import decode_limits
from foliot.adapters.storage.shared.finish_plan import Lease
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.limits import Limit
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.run import NewRun, rank
from foliot.ports.topic import Topic, topics_of_ready


class Standing(NamedTuple):
    """A run that is to be put into its place."""

    run_id: RunId
    queue: str
    priority: int
    due_at: Instant
    limits: Sequence[Limit]
    is_gated: bool = False
    """Its gate is to be asked first."""

    @classmethod
    def of_new(cls, run: NewRun) -> Self:
        options = run.options
        return cls(run.id, options.queue, options.priority, run.due_at, run.limits, run.is_gated)

    @classmethod
    def of_row(cls, run_id: str, queue: str, priority: int, due_at: int, limits: str | None) -> Self:
        """Limits that cannot be read hold nobody up: who claims the run ends it."""
        try:
            known = decode_limits(limits)
        except UNREADABLE:
            known = []
        return cls(RunId(run_id), queue, priority, Instant(due_at), known)

    @classmethod
    def of_lease(cls, lease: Lease) -> Self:
        """A run that is given back keeps its places, and asks for none."""
        run = lease.run
        return cls(lease.run_id, run.queue, run.priority, run.due_at, ())

    @property
    def rank(self) -> int:
        return rank(self.due_at, self.priority)


async def place(transaction: Transaction, runs: Iterable[Standing], now: Instant) -> None:
    """Put runs where they belong: before their gate, not due yet, waiting for their limits, or ready."""
    gated: list[Standing] = []
    later: list[Standing] = []
    waiting: list[Standing] = []
    ready: list[Standing] = []
    for run in runs:
        (gated if run.is_gated else later if run.due_at > now else waiting if run.limits else ready).append(run)
    await put_gated(transaction, gated)
    await put_later(transaction, later)
    await put_waiting(transaction, waiting)
    await put_ready(transaction, ready)


async def put_later(transaction: Transaction, runs: Sequence[Standing]) -> None:
    if runs:
        await transaction.run("add_later", [run.due_at for run in runs], [run.run_id for run in runs])
        transaction.topics.add(Topic.LATER)


async def put_gated(transaction: Transaction, runs: Sequence[Standing]) -> None:
    if runs:
        run_ids = [run.run_id for run in runs]
        await transaction.run("lock_jobs_of_gated", run_ids)
        await transaction.run("add_gated", [run.due_at for run in runs], run_ids)
        transaction.topics.add(Topic.GATES)


async def put_ready(transaction: Transaction, runs: Sequence[Standing]) -> None:
    if runs:
        queues, ranks = [run.queue for run in runs], [run.rank for run in runs]
        await transaction.run("add_ready", queues, ranks, [run.run_id for run in runs])
        transaction.topics |= topics_of_ready(queues)


async def put_waiting(transaction: Transaction, runs: Sequence[Standing]) -> None:
    """Let due runs ask for their limits. They are admitted in a transaction of its own, right after this one."""
    if runs:
        await save_limits(transaction, [limit for run in runs for limit in run.limits])
        await add_holds(transaction, [Hold(limit.key, run.run_id, run.rank) for run in runs for limit in run.limits])


class Hold(NamedTuple):
    key: str
    run_id: RunId
    rank: int
    is_admitted: bool = False


async def add_holds(transaction: Transaction, holds: Sequence[Hold]) -> None:
    if holds:
        await transaction.run("add_holds", *columns(holds))
        transaction.keys.update(hold.key for hold in holds if not hold.is_admitted)


async def save_limits(transaction: Transaction, limits: Iterable[Limit]) -> None:
    """Remember the capacities that the newest runs say."""
    wanted = {limit.key: limit.capacity for limit in limits}
    known = dict(await transaction.rows("known_limits", sorted(wanted)))
    changed = sorted((key, capacity) for key, capacity in wanted.items() if known.get(key) != capacity)
    if changed:
        await transaction.run("put_limits", *columns(changed))
