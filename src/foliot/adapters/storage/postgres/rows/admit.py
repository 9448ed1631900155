"""Who may start next, where only so many may be under way at once.

    1  look who waits for the keys in question, and for which others as well
    2  lock the limits of all those keys, ascending, in a statement of its own
    3  look again: what is seen now cannot change under our hands
    4  give free places to waiters (`domain.run.limits.admit`), and make those ready that have all they need

Runs ask for places and give them back in transactions of their own; admission follows in the next one. A crash in
between leaves a free place and a waiter, which `admit` over all keys brings together. A tick's overlap key is a limit
of one; whoever gets it begins to wait for the limits of its job, so admission is repeated until nothing moves.
"""

import logging
from collections.abc import Collection
from functools import partial
from typing import Final

from foliot.adapters.storage.postgres.database import Database, Transaction
from foliot.adapters.storage.postgres.placing import Standing, place
from foliot.domain.instant import Instant
from foliot.domain.run.limits import Waiter, admit, is_overlap_key
from foliot.errors import StorageError

log = logging.getLogger(__name__)

_WAITERS: Final = 1_000
"""How many waiters of one key are looked at in one transaction."""
_KEYS: Final = 500


class Admission:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def follow(self, keys: Collection[str], at: Instant | None) -> None:
        """Admit where a saved transaction made room. Failing here loses nothing: the sweep repeats it."""
        try:
            await self.admit(keys, at)
        except StorageError as error:
            log.warning("admission_left_to_the_sweep", extra={"keys": len(keys), "error": str(error)})

    async def admit(self, keys: Collection[str], at: Instant | None, *, most: int = _WAITERS) -> int:
        """Give free places on these keys to those who wait for them. How many moved on."""
        count = 0
        while keys := await self._awaited(keys):
            moved, keys = await self._database.write("admit", partial(_admit, keys=keys, at=at, most=most))
            count += moved
        return count

    async def sweep(self, limit: int, at: Instant | None) -> int:
        """Admit on all keys."""
        keys = [row[0] for row in await self._database.rows("waiting_keys")]
        return sum([await self.admit(keys[i : i + _KEYS], at, most=limit) for i in range(0, len(keys), _KEYS)])

    async def _awaited(self, keys: Collection[str]) -> list[str]:
        """Those that somebody waits for: mostly none, and then no lock is taken."""
        return [row[0] for row in await self._database.rows("awaited_keys", list(keys))] if keys else []


async def _admit(
    transaction: Transaction, *, keys: Collection[str], at: Instant | None, most: int
) -> tuple[int, Collection[str]]:
    """One round: how many runs moved on, and which keys are worth another one."""
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
    standings = [Standing.of_row(*row) for row in rows]
    # A run whose turn has come asks for its limits only now; one that had asked for them has got them.
    await place(transaction, [run if run.run_id in by_turn else run._replace(limits=()) for run in standings], now)
    return len(rows)
