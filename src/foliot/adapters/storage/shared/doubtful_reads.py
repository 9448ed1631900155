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


def doubtful_runs(oldest: RunId, before: RunId | None, limit: int) -> Read[DoubtfulRuns]:
    """The database checks the columns, and returns the runs that have documents. These are checked here."""
    values = (oldest, before or _AFTER_ALL, limit, EARLIEST, LATEST, MOST_TRIES)
    rows = yield Query("doubtful_runs", values)
    doubtful = [RunId(row[0]) for row in rows if row[1] or not _are_readable(*row[2:])]
    return DoubtfulRuns(doubtful, RunId(rows[-1][0]) if len(rows) == limit else None)


def _are_readable(payload: Any, overrides: Any, limits: Any, output: Any) -> bool:
    try:
        decode(payload)
        decode(output)
        check_overrides(overrides)
        decode_limits(limits)
    except UNREADABLE:
        return False
    return True
