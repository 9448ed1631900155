"""Gives free places in limits to waiting runs.

    1  find the runs that wait for the given keys, and the other keys that they wait for
    2  lock the limits of all those keys, ascending, in a separate statement
    3  read the waiting runs again: now they cannot change
    4  give free places (`domain.run.limits.admit`), and make the runs ready that have all their places

Runs request places and release them in one transaction; admission follows in the next one. A crash in between leaves a
free place and a waiting run, which `admit_all` repairs. The overlap key of a tick is a limit of one; a run that gets it
begins to wait for the limits of its job, so admission is repeated until nothing changes.
"""

import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import Final, TypeVar

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction, WriteFunction
from foliot.adapters.storage.postgres.rows.place import Placement, place
from foliot.domain.instant import Instant
from foliot.domain.run.limits import Waiter, admit, is_overlap_key
from foliot.errors import StorageError

log = logging.getLogger(__name__)

T = TypeVar("T")

_WAITERS: Final = 1_000
"""How many waiting runs of one key are read in one transaction."""
_KEYS: Final = 500


class Admitter:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(
        self,
        verb: str,
        work: WriteFunction[T],
        at: Instant | None,
        *,
        merge: Callable[[T, T], T] | None = None,
        database: Database | None = None,
        is_single: bool = False,
        is_repeatable: bool = True,
    ) -> T:
        """Call `Database.write`, then admit runs to the limits where it made room."""
        keys: set[str] = set()

        async def work_and_keys(transaction: Transaction) -> T:
            answer = await work(transaction)
            keys.update(transaction.keys)
            return answer

        source = database or self._database
        answer = await source.write(verb, work_and_keys, merge=merge, is_single=is_single, is_repeatable=is_repeatable)
        try:
            await self._admit(keys, at)
        except StorageError as error:
            # Nothing is lost: `admit_all` repeats the admission.
            log.warning("admission_left_to_the_sweep", extra={"keys": len(keys), "error": str(error)})
        return answer

    async def admit_all(self, limit: int, at: Instant | None) -> int:
        """Admit runs on all keys. Returns how many runs moved."""
        keys = [row[0] for row in await self._database.rows("waiting_keys")]
        return sum([await self._admit(keys[i : i + _KEYS], at, most=limit) for i in range(0, len(keys), _KEYS)])

    async def _admit(self, keys: Collection[str], at: Instant | None, *, most: int = _WAITERS) -> int:
        count = 0
        # Usually no run waits for any of the keys, and then no lock is taken.
        while keys and (keys := [row[0] for row in await self._database.rows("awaited_keys", list(keys))]):
            moved, keys = await self._database.write("admit", partial(_admit, keys=keys, at=at, most=most))
            count += moved
        return count


async def _admit(
    transaction: Transaction, *, keys: Collection[str], at: Instant | None, most: int
) -> tuple[int, Collection[str]]:
    """Do one round. Returns how many runs moved, and the keys for the next round."""
    candidates = await transaction.rows("waiters", sorted(keys), most)
    if not candidates:
        return 0, ()
    concerned = sorted({key for row in candidates for key in row["keys"]})
    capacity = dict(await transaction.rows("lock_limits", concerned))
    taken = dict(await transaction.rows("places_taken", list(capacity)))
    room = {key: places - taken.get(key, 0) for key, places in capacity.items()}
    waiters = [
        Waiter(row["run_id"], tuple(row["keys"]))
        for row in await transaction.rows("waiters", sorted(keys), most)
        if room.keys() >= set(row["keys"])
    ]
    admitted = admit(waiters, room)
    if not admitted:
        return 0, ()
    moved = await _move_on(transaction, admitted, list(room), await transaction.now(at))
    is_cut = len(waiters) >= most
    return moved, transaction.keys | {key for key in keys if is_cut and room.get(key, 0) > 0}


async def _move_on(transaction: Transaction, run_ids: Collection[str], keys: list[str], now: Instant) -> int:
    moved = await transaction.rows("admit_waiters", list(run_ids), keys)
    by_turn = {row["run_id"] for row in moved if is_overlap_key(row["key"])}
    rows = await transaction.rows("admitted_runs", [*{row["run_id"] for row in moved}])
    placements = [Placement.of_row(*row) for row in rows]
    # A run that got its overlap key begins to wait for its limits now; the other runs have all their places.
    await place(transaction, [run if run.run_id in by_turn else run._replace(limits=()) for run in placements], now)
    return len(rows)
