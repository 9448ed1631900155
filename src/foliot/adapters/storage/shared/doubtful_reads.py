"""Finds the runs that may be unreadable, among any number of others. `verify` then reads these."""

from typing import Any, Final

from foliot.adapters.storage.shared.documents import check_overrides, decode, decode_limits
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.row_types import MOST_TRIES
from foliot.domain.ids import RunId
from foliot.domain.instant import EARLIEST, LATEST
from foliot.domain.run.payload import UNREADABLE
from foliot.ports.pages import DoubtfulRuns

_AFTER_ALL: Final = "~"
_AT_ONCE: Final = 1_000
"""How many runs with documents are in memory."""


def doubtful_runs(oldest: RunId, before: RunId | None, limit: int) -> Read[DoubtfulRuns]:
    """The database checks the columns, and returns the runs that have documents. These are checked here."""
    place: str = before or _AFTER_ALL
    last = yield Query("nth_run_before", (oldest, place, limit - 1))
    first: str = last[0][0] if last else oldest
    doubtful: list[RunId] = []
    while rows := (yield Query("doubtful_runs", (first, place, _AT_ONCE, EARLIEST, LATEST, MOST_TRIES))):
        doubtful += [RunId(row[0]) for row in rows if row[1] or not _are_readable(*row[2:])]
        place = rows[-1][0]
    return DoubtfulRuns(doubtful, RunId(first) if last else None)


def _are_readable(payload: Any, overrides: Any, limits: Any, output: Any) -> bool:
    try:
        decode(payload)
        decode(output)
        check_overrides(overrides)
        decode_limits(limits)
    except UNREADABLE:
        return False
    return True
