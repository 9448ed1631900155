"""Gives free places to waiting runs (`domain.run.limits`), in the transaction that released or requested them.

due run --> overlap key of its schedule admitted? --no--> waits
              | yes
              v
            has limits? --no--> ready
              | yes
              v
            requests a place in each, waits until all are free --> ready
"""

from collections.abc import Collection, Iterator
from heapq import merge
from typing import Final, NamedTuple

import apsw

from foliot.adapters.storage.shared.documents import are_limits, decode_names, encode_names
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.run.limits import Waiter, admit, is_overlap_key
from foliot.domain.run.run import PRIORITY_STEP
from foliot.ports.topic import topics_of_ready

_CHUNK: Final = 100
_BEFORE_ALL: Final = (-(2**63), "")


class _Waiting(NamedTuple):
    rank: int
    run_id: str
    keys: tuple[str, ...]


class _FreePlaces(dict[str, int]):
    """Free places by key, counted at the first access."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def __missing__(self, key: str) -> int:
        # Waiting ticks of one schedule are admitted one at a time. The row of a limit that runs wait for is missing
        # only if another program has removed it: then its runs start one by one.
        capacity = 1 if is_overlap_key(key) else self._session.value(SQL["capacity"], (key,)) or 1
        room = int(capacity - self._session.value(SQL["places_taken"], (key,)))
        self[key] = room
        return room


def request_places(tx: Transaction, run_ids: Collection[str]) -> set[str]:
    """Let due runs wait for their limits. Returns the keys to be admitted."""
    if not run_ids:
        return set()
    try:
        with tx.savepoint():
            _request(tx, run_ids)
    except (apsw.ConstraintError, apsw.SQLError, OverflowError):
        # Unreadable limits block nothing: the worker that claims the run ends it.
        rows = tx.rows(SQL["limits_of_runs"], (encode_names(run_ids),))
        readable = [run_id for run_id, document in rows if are_limits(document)]
        _make_ready(tx, [run_id for run_id in run_ids if run_id not in readable])
        _request(tx, readable)
    return {key for key in keys_of(tx, run_ids) if not is_overlap_key(key)}


def _request(tx: Transaction, run_ids: Collection[str]) -> None:
    names = encode_names(run_ids)
    tx.run(SQL["know_limits"], (names,))
    tx.run(SQL["request_places"], (names, PRIORITY_STEP))


def keys_of(tx: Transaction, run_ids: Collection[str]) -> set[str]:
    """Return the keys that these runs hold or wait for."""
    return set(tx.column(SQL["held_keys"], (encode_names(run_ids),)))


def release_places(tx: Transaction, run_ids: Collection[str]) -> set[str]:
    """Remove all places of these runs, held or awaited. Returns the keys to be admitted."""
    keys = keys_of(tx, run_ids)
    tx.run_many(SQL["release_holds"], [(run_id,) for run_id in run_ids])
    return keys


def admit_keys(tx: Transaction, keys: Collection[str], limit: int | None = None) -> int:
    """Give the free places of these keys to the runs that wait for them. Returns how many runs were admitted."""
    overlap = {key for key in keys if is_overlap_key(key)}
    started = _serve(tx, overlap, limit)
    asked = _enter(tx, started) if started else set()
    left = None if limit is None else limit - len(started)
    admitted = _serve(tx, (set(keys) - overlap) | asked, left)
    _make_ready(tx, admitted)
    return len(started) + len(admitted)


def _serve(tx: Transaction, keys: Collection[str], limit: int | None) -> list[str]:
    if not keys:
        return []
    room = _FreePlaces(tx)
    queues = [_queue(tx, key, room) for key in sorted(keys)]
    admitted = admit(_in_order(queues), room)[:limit]
    if admitted:
        tx.run(SQL["admit_waiters"], (encode_names(admitted),))
    return admitted


def _in_order(queues: list[Iterator[_Waiting]]) -> Iterator[Waiter]:
    """Yield waiters by rank, each once, although it is in the queue of every key it waits for."""
    last = None
    for waiting in merge(*queues):
        if waiting.run_id != last:
            yield Waiter(waiting.run_id, waiting.keys)
        last = waiting.run_id


def _queue(tx: Transaction, key: str, room: dict[str, int]) -> Iterator[_Waiting]:
    """Yield the runs that wait for a key, in rank order, while there is room."""
    after = _BEFORE_ALL
    chunk = room[key]
    while room[key] > 0:
        rows = tx.rows(SQL["waiters"], (key, *after, chunk))
        for rank, run_id, names in rows:
            yield _Waiting(rank, run_id, decode_names(names))
        if len(rows) < chunk:
            return
        after = rows[-1][:2]
        chunk = _CHUNK


def _enter(tx: Transaction, run_ids: Collection[str]) -> set[str]:
    """Let runs that got the overlap key of their schedule wait for their limits, or make them ready."""
    rows = tx.rows(SQL["admitted_runs"], (encode_names(run_ids),))
    _make_ready(tx, [run_id for run_id, has_limits in rows if not has_limits])
    return request_places(tx, [run_id for run_id, has_limits in rows if has_limits])


def _make_ready(tx: Transaction, run_ids: Collection[str]) -> None:
    if run_ids:
        queues = tx.column(SQL["make_ready"], (encode_names(run_ids), PRIORITY_STEP))
        tx.ring(*topics_of_ready(queues))
