"""Answers a running step of a chain, and saves what follows, in one transaction."""

from collections.abc import Mapping
from typing import Any

import msgspec

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.postgres.rows.create import create_runs
from foliot.adapters.storage.postgres.rows.settle import save_effects, save_settlements
from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.chain_asking import Asking, ask, chain_run
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.tree_rows import tree_row
from foliot.domain.chain.request import Answered
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant
from foliot.domain.tree.tree import Tree


async def ask_chain(
    transaction: Transaction, *, project: str, asking: Asking, at: Instant | None
) -> Mapping[str, Any] | None:
    """Return the answer, saved with its consequences. None: the lease is not current."""
    now = await transaction.now(at)
    answered = await _drive(transaction, ask(project, asking, now))
    if answered is None:
        return None
    settlement = answered.settlement
    if settlement is not None:
        if answered.is_new:
            await _begin(transaction, project, settlement.tree, asking, now)
        await save_settlements(transaction, project, [settlement], now)
    if answered.effects is not None:
        await save_effects(transaction, project, [answered.effects])
    return answered.answer


async def _begin(transaction: Transaction, project: str, tree: Tree, asking: Asking, now: Instant) -> None:
    """Store the run, the tree and the body of a chain that a run has started. It runs at once."""
    await create_runs(transaction, project, [chain_run(tree, now)], now, are_ready=False)
    await transaction.run("begin_chains", now, asking.worker_id, tree.run_id)
    await transaction.run("add_trees", *columns([tree_row(project, tree, None)]))
    await transaction.run("add_bodies", *columns([(tree.run_id, msgspec.json.encode(tree.body).decode())]))
    transaction.add_event(EventKind.EXECUTIONS_OPENED, event_items.opened([tree]))


async def _drive(transaction: Transaction, read: Read[Answered | None]) -> Answered | None:
    try:
        request = next(read)
        while True:
            assert isinstance(request, Query)
            request = read.send(await transaction.rows(request.name, *request.values))
    except StopIteration as done:
        answer: Answered | None = done.value
        return answer
