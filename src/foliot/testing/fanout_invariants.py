"""Checks the invariants of fanouts. Reads only through the port, so it works with any adapter."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.fanout.item import item_key
from foliot.domain.fanout.kind import REDUCER_KEY, FanoutBody, FanoutKind
from foliot.domain.ids import RunId
from foliot.domain.run.payload import UNREADABLE, decode_payload
from foliot.domain.run.run import Run, Status
from foliot.domain.tree.kind import Wanted
from foliot.ports.storage import Storage

_LEASED: Final = (Status.RUNNING, Status.CANCELLING)
_CUT_SHORT: Final = (Status.CANCELLED, Status.TIMEOUT)
_COUNTED: Final = {
    Status.SUCCESS: "succeeded",
    Status.PARTIAL: "succeeded",
    Status.FAILED: "failed",
    Status.TIMEOUT: "timed_out",
    Status.CANCELLED: "cancelled",
    Status.SKIPPED: "skipped",
}


class Fanout(NamedTuple):
    """A fanout with all its runs."""

    run: Run
    body: FanoutBody
    items: Sequence[bytes]
    children: Sequence[Run]
    reducers: Sequence[Run]

    @property
    def counts(self) -> Counter[str]:
        """How many children ended how. Items that never became a child count as cancelled."""
        counts = Counter(_COUNTED[child.status] for child in self.children if child.status.is_terminal)
        counts["cancelled"] += len(self.items) - len(self.children)
        return counts


async def check_fanouts(storage: Storage, runs: Mapping[RunId, Run]) -> list[str]:
    """Return everything that is wrong with the fanouts among these runs."""
    return [fault for fanout in await read_fanouts(storage, runs) for fault in check_fanout(fanout)]


async def read_fanouts(storage: Storage, runs: Mapping[RunId, Run]) -> list[Fanout]:
    children: dict[RunId, list[Run]] = {}
    for run in runs.values():
        if run.parent_id is not None:
            children.setdefault(run.parent_id, []).append(run)
    # A fanout without children has a summary.
    likely = [run for run in runs.values() if run.id in children or isinstance(run.output, dict)]
    fanouts = []
    for run in likely:
        count = await storage.items.count(run.id)
        body = None if count is None else await _read_body(storage, run.id)
        if count is None or body is None:
            continue
        own = sorted(children.get(run.id, ()), key=lambda child: child.child_key or "")
        items = await storage.items.read(run.id, 0, count)
        reducers = [child for child in own if child.child_key == REDUCER_KEY]
        fanouts.append(Fanout(run, body, items, [child for child in own if child not in reducers], reducers))
    return fanouts


async def _read_body(storage: Storage, run_id: RunId) -> FanoutBody | None:
    """Return the body of a fanout, or None if it was not opened or cannot be read."""
    loaded = (await storage.trees.load([Wanted(run_id=run_id, body=True)]))[run_id]
    try:
        return None if loaded.body is None else FanoutKind().read_body(loaded.body)
    except UNREADABLE:
        return None


def check_fanout(fanout: Fanout) -> Iterator[str]:
    yield from check_children(fanout)
    if fanout.run.status.is_terminal:
        yield from check_end(fanout)
        yield from check_counts(fanout)
    yield from check_reducer(fanout)


def check_children(fanout: Fanout) -> Iterator[str]:
    run_id, children = fanout.run.id, fanout.children
    found = [child.child_key for child in children]
    if found != [item_key(index) for index in range(len(children))] or len(children) > len(fanout.items):
        yield f"F1 fanout {run_id}: {len(fanout.items)} items, and the children {found}"
    for child, document in zip(children, fanout.items, strict=False):
        if child.payload != decode_payload(document):
            yield f"F1 fanout {run_id}: child {child.child_key} has the payload {child.payload}, not {document!r}"
    running = sum(child.status in _LEASED for child in children)
    if running > fanout.body.fields.concurrency:
        yield f"F2 fanout {run_id}: {running} children run at once, not {fanout.body.fields.concurrency}"
    retries = fanout.body.jobs[fanout.body.child].options.retry.retries
    for child in children:
        if child.attempt - child.lost > retries + 1:
            yield f"F6 fanout {run_id}: {child.attempt} attempts of child {child.child_key}, {child.lost} of them lost"


def check_end(fanout: Fanout) -> Iterator[str]:
    """Check that a fanout ends after all its runs, and that all items were started unless it was cut short."""
    run = fanout.run
    for child in (*fanout.children, *fanout.reducers):
        if not child.status.is_terminal:
            yield f"F3 fanout {run.id}: {run.status}, and child {child.child_key} is {child.status}"
    is_whole = len(fanout.children) == len(fanout.items)
    if not is_whole and run.status not in _CUT_SHORT:
        yield f"F1 fanout {run.id}: {run.status}, with {len(fanout.children)} children for {len(fanout.items)} items"


def check_counts(fanout: Fanout) -> Iterator[str]:
    run, counts = fanout.run, fanout.counts
    summary: dict[str, Any] = run.output if isinstance(run.output, dict) else {}
    told = {name: summary.get(name) for name in ("items", *dict.fromkeys(_COUNTED.values()))}
    is_abandoned = run.status in _CUT_SHORT and run.output is None  # a part of it could not be read
    if not is_abandoned and told != {"items": len(fanout.items), **{name: counts[name] for name in _COUNTED.values()}}:
        yield f"F4 fanout {run.id}: the summary says {told}, and the children are {dict(counts)}"
    if run.status in _CUT_SHORT:
        return
    expected = _status(fanout)
    if any(reducer.status is not Status.SUCCESS for reducer in fanout.reducers):
        expected = Status.FAILED
    if run.status is not expected:
        yield f"F4 fanout {run.id}: {run.status}, not {expected}: {dict(counts)}"


def check_reducer(fanout: Fanout) -> Iterator[str]:
    run, reducers = fanout.run, fanout.reducers
    if len(reducers) > 1:
        yield f"F5 fanout {run.id}: {len(reducers)} reducers"
    is_over = len(fanout.children) == len(fanout.items) and all(child.status.is_terminal for child in fanout.children)
    if reducers and not (is_over and _is_due(fanout)):
        yield f"F5 fanout {run.id}: its reducer is not due"
    if not reducers and run.status.is_terminal and run.status not in _CUT_SHORT and _is_due(fanout):
        yield f"F5 fanout {run.id}: {run.status}, and its reducer is missing"


def _status(fanout: Fanout) -> Status:
    """Return the status before the reducer, computed with whole numbers: a tolerance has at most 15 digits."""
    counts = fanout.counts
    failed = counts["failed"] + counts["timed_out"] + counts["cancelled"]
    if not failed:
        return Status.SUCCESS
    scale = 10**15
    allowed = round(fanout.body.fields.partial_tolerance * scale) * len(fanout.items)
    return Status.PARTIAL if failed * scale <= allowed else Status.FAILED


def _is_due(fanout: Fanout) -> bool:
    reducer = fanout.body.fields.reducer
    if reducer is None:
        return False
    return {
        "always": True,
        "any_success": fanout.counts["succeeded"] > 0,
        "success": len(fanout.items) > 0 and _status(fanout) is not Status.FAILED,
    }[reducer.run_on]
