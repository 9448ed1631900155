"""Answers a running step of a chain, and saves what follows, in one transaction."""

from collections.abc import Mapping
from typing import Any

import msgspec

from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.chain_asking import Asking, ask, chain_run
from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.tree_rows import tree_row
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.create import insert_runs
from foliot.adapters.storage.sqlite.rows.settle import save_effects, save_settlement
from foliot.domain.chain.request import Answered
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant
from foliot.domain.tree.tree import Tree


def ask_chain(tx: Transaction, project: str, asking: Asking, now: Instant) -> Mapping[str, Any] | None:
    """Return the answer, saved with its consequences. None: the lease is not current."""
    answered = _drive(tx, ask(project, asking, now))
    if answered is None:
        return None
    settlement = answered.settlement
    if settlement is not None:
        if answered.is_new:
            _begin(tx, project, settlement.tree, asking, now)
        if not save_settlement(tx, project, settlement, now):
            raise AssertionError(f"tree {settlement.tree.run_id} has changed while it was locked")
    save_effects(tx, project, answered.effects, now)
    return answered.answer


def _begin(tx: Transaction, project: str, tree: Tree, asking: Asking, now: Instant) -> None:
    """Store the run, the tree and the body of a chain that a run has started. It runs at once."""
    insert_runs(tx, project, [chain_run(tree, now)], now)
    tx.run(SQL["begin_chains"], (now, asking.worker_id, tx.value(SQL["take_tokens"], (1,)), tree.run_id))
    tx.run(SQL["add_trees"], tree_row(project, tree, None))
    tx.run(SQL["add_bodies"], (tree.run_id, msgspec.json.encode(tree.body)))
    tx.add_event(now, EventKind.EXECUTIONS_OPENED, event_items.opened([tree]))


def _drive(tx: Transaction, read: Read[Answered | None]) -> Answered | None:
    try:
        request = next(read)
        while True:
            assert isinstance(request, Query)
            values = [encode(one) if isinstance(one, list) else one for one in request.values]
            request = read.send(tx.rows(SQL[request.name], values))
    except StopIteration as done:
        answer: Answered | None = done.value
        return answer
