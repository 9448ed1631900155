"""Puts an open run into the table in which it waits (see `rows.admit` for runs that wait for places in limits).

new run --> has a gate? --yes--> gated
              | no
              v
            due? --no--> later
              | yes
              v
            waits for its schedule or its limits? --yes--> holds, then ready
              | no
              v
            ready
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.admit import request_places
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import rank
from foliot.ports.topic import Topic, topics_of_ready


class Placement(Struct, frozen=True, gc=False):
    """A run, and the columns that decide in which table it waits."""

    run_id: RunId
    queue: str
    priority: int
    due_at: Instant
    has_limits: bool
    is_waiting: bool = False
    """An earlier run of its schedule must start first."""
    is_gated: bool = False
    """The run waits for its gate first."""


def place(tx: Transaction, placements: Iterable[Placement], now: Instant) -> set[str]:
    """Put runs into later, gated or ready, or let them wait for their limits. Returns the keys to be admitted."""
    later: list[tuple[Instant, RunId]] = []
    ready: list[tuple[str, int, RunId]] = []
    gated: list[tuple[Instant, RunId]] = []
    limited: list[RunId] = []
    for one in placements:
        if one.is_gated:
            gated.append((one.due_at, one.run_id))
        elif one.due_at > now:
            later.append((one.due_at, one.run_id))
        elif one.is_waiting:
            continue
        elif one.has_limits:
            limited.append(one.run_id)
        else:
            ready.append((one.queue, rank(one.due_at, one.priority), one.run_id))
    _put_until_due(tx, SQL["put_later"], later, SQL["next_due"], Topic.LATER)
    _put_until_due(tx, SQL["put_gated"], gated, SQL["next_gated"], Topic.GATES)
    put_ready(tx, ready)
    return request_places(tx, limited)


def put_ready(tx: Transaction, rows: Sequence[tuple[str, int, RunId]]) -> None:
    """queue, rank, run_id"""
    if rows:
        tx.run_many(SQL["put_ready"], rows)
        tx.ring(*topics_of_ready(queue for queue, _, _ in rows))


def _put_until_due(
    tx: Transaction, put: str, rows: Sequence[tuple[Instant, RunId]], next_due: str, topic: Topic
) -> None:
    """Let runs wait until they are due. Rings if one is due earlier than all waiting runs."""
    if not rows:
        return
    earliest = tx.value(next_due)
    if earliest is None or min(rows)[0] < earliest:
        tx.ring(topic)
    tx.run_many(put, rows)
