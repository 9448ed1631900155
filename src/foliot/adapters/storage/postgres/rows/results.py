"""Reads the results of a fanout's children, for applications and for workers."""

from foliot.adapters.storage.postgres.database.transaction import Snapshot
from foliot.adapters.storage.shared.item_rows import results_in, with_outputs
from foliot.domain.fanout.item import item_key
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import RunId, Token, WorkerId


async def read_results(snapshot: Snapshot, run_id: RunId, query: ResultQuery) -> list[ChildResult]:
    """Return a page of results of the children of `run_id`."""
    if query.only is not None:
        rows = await snapshot.rows("named_results", run_id, [*map(item_key, query.only)], query.limit)
    else:
        after = item_key(query.after) if query.after >= 0 else ""
        rows = await snapshot.rows("failed_results" if query.failed else "results", run_id, after, query.limit)
    page = results_in(map(tuple, rows), query)
    if not query.has_outputs or not any(child.has_output for child in page):
        return page
    names = [child.run_id for child in page if child.has_output]
    return with_outputs(page, dict(map(tuple, await snapshot.rows("outputs_of_runs", names))))


async def fanout_of_lease(snapshot: Snapshot, run_id: RunId, worker_id: WorkerId, token: Token) -> RunId | None:
    """Return the fanout that a leased run is a child of. None: it is not a child of one, or the lease has ended."""
    rows = await snapshot.rows("parent_of_lease", token, run_id, worker_id, FANOUT)
    return RunId(rows[0][0]) if rows else None
