"""Giving free places to waiting runs (`domain.run.limits`), inside the transaction that freed or asked for them.

due run --> overlap key of its schedule admitted? --no--> waits
              | yes
              v
            has limits? --no--> ready
              | yes
              v
            asks for a place on each, waits until all are free --> ready
"""

from collections.abc import Collection, Iterator
from heapq import merge
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from foliot.adapters.storage.shared.documents import are_limits, decode_names, encode_names
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.domain.run.limits import Waiter, admit, is_overlap_key
from foliot.domain.run.run import PRIORITY_STEP
from foliot.ports.topic import topics_of_ready

SQL: Final = load_queries(Path(__file__).parent / "sql" / "holds.sql")
_CHUNK: Final = 100
_BEFORE_ALL: Final = (-(2**63), "")


class _Waiting(NamedTuple):
    rank: int
    run_id: str
    keys: tuple[str, ...]


class _Room(dict[str, int]):
    """Free places by key, counted when first asked for."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def __missing__(self, key: str) -> int:
        # Waiting ticks of one schedule are served one at a time.
        capacity = 1 if is_overlap_key(key) else self._session.value(SQL["capacity"], (key,)) or 1
        room = int(capacity - self._session.value(SQL["count_admitted"], (key,)))
        self[key] = room
        return room


def ask_places(tx: Transaction, run_ids: Collection[str]) -> set[str]:
    """Let due runs wait for their limits; returns the keys that are now to be admitted."""
    if not run_ids:
        return set()
    try:
        with tx.savepoint():
            _ask(tx, run_ids)
    except (apsw.ConstraintError, apsw.SQLError, OverflowError):
        # Limits that cannot be read hold nobody up: who claims the run ends it.
        readable = _with_limits(tx, run_ids)
        _make_ready(tx, [run_id for run_id in run_ids if run_id not in readable])
        _ask(tx, readable)
    keys = keys_of(tx, run_ids)
    return {key for key in keys if not is_overlap_key(key)}


def _ask(tx: Transaction, run_ids: Collection[str]) -> None:
    tx.run_many(SQL["know_limits"], [(run_id,) for run_id in run_ids])
    tx.run_many(SQL["ask_places"], [(run_id, PRIORITY_STEP) for run_id in run_ids])


def _with_limits(tx: Transaction, run_ids: Collection[str]) -> list[str]:
    """Those of the runs that have limits one can read."""
    rows = tx.rows(SQL["limits_of_runs"], (encode_names(run_ids),))
    return [run_id for run_id, document in rows if are_limits(document)]


def keys_of(tx: Transaction, run_ids: Collection[str]) -> set[str]:
    return {key for (key,) in tx.rows(SQL["keys_of_runs"], (encode_names(run_ids),))}


def admit_keys(tx: Transaction, keys: Collection[str], limit: int | None = None) -> int:
    """Give the free places of these keys to whoever waits for them; returns how many runs got theirs."""
    overlap = {key for key in keys if is_overlap_key(key)}
    started = _serve(tx, overlap, limit)
    asked = _enter(tx, started) if started else set()
    left = None if limit is None else limit - len(started)
    admitted = _serve(tx, (set(keys) - overlap) | asked, left)
    _make_ready(tx, admitted)
    return len(started) + len(admitted)


def waiting_keys(tx: Transaction) -> list[str]:
    return [key for (key,) in tx.rows(SQL["waiting_keys"])]


def _serve(tx: Transaction, keys: Collection[str], limit: int | None) -> list[str]:
    if not keys:
        return []
    room = _Room(tx)
    queues = [_queue(tx, key, room) for key in sorted(keys)]
    admitted = admit(_in_order(queues), room)[:limit]
    tx.run_many(SQL["admit_run"], [(run_id,) for run_id in admitted])
    return admitted


def _in_order(queues: list[Iterator[_Waiting]]) -> Iterator[Waiter]:
    """Waiters by rank, each once, although it stands in the queue of every key it waits for."""
    last = None
    for waiting in merge(*queues):
        if waiting.run_id != last:
            yield Waiter(waiting.run_id, waiting.keys)
        last = waiting.run_id


def _queue(tx: Transaction, key: str, room: dict[str, int]) -> Iterator[_Waiting]:
    """Who waits for a key, in rank order, as long as there is room."""
    after = _BEFORE_ALL
    chunk = room[key]
    while room[key] > 0:
        rows = tx.rows(SQL["waiting_runs"], (key, *after, chunk))
        for rank, run_id, names in rows:
            yield _Waiting(rank, run_id, decode_names(names))
        if len(rows) < chunk:
            return
        after = rows[-1][:2]
        chunk = _CHUNK


def _enter(tx: Transaction, run_ids: Collection[str]) -> set[str]:
    """Runs whose turn on their schedule has come: on to the limits, or straight to ready."""
    rows = tx.rows(SQL["admitted_by_schedule"], (encode_names(run_ids),))
    _make_ready(tx, [run_id for run_id, has_limits in rows if not has_limits])
    return ask_places(tx, [run_id for run_id, has_limits in rows if has_limits])


def _make_ready(tx: Transaction, run_ids: Collection[str]) -> None:
    if run_ids:
        placed = [row for run_id in run_ids for row in tx.rows(SQL["make_ready"], (run_id, PRIORITY_STEP))]
        tx.ring(*topics_of_ready(queue for (queue,) in placed))
