"""Views of fanouts and their items."""

from datetime import datetime
from typing import Final

import msgspec
from msgspec.structs import replace

from foliot.domain.fanout.progress import ReducerState
from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.run.run import Run, Status
from foliot.errors import RowUnreadable
from foliot.ports.fanouts import FanoutDetails, FanoutItem, FanoutRecord, ItemsPage
from foliot.service.queries.documents import moment, seconds
from foliot.service.queries.run_view import view_item

PENDING: Final = "pending"


class ItemView(msgspec.Struct, frozen=True, kw_only=True):
    """An item of a fanout, and its run. Without a run it is pending, or cancelled if the fanout has ended."""

    index: int
    item: str | None
    """None if the item is not text."""
    item_base64: str | None
    status: str
    run_id: str | None = None
    reason: str | None = None
    exit_code: int | None = None
    error_message: str | None = None
    attempt: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    duration: float | None = None
    """Seconds of the latest attempt."""


class ReducerView(msgspec.Struct, frozen=True, kw_only=True):
    state: ReducerState
    """`pending`: not all items have ended. `not_due`: its `run_on` does not apply, so it has no run."""
    run_on: str
    run_id: str | None
    status: str | None
    error_message: str | None


class FanoutView(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a fanout. The counts are those of its latest decision: they may be a moment behind its items."""

    items: int
    pending: int
    """Items that have no run yet."""
    waiting: int
    """Items whose run has not started."""
    running: int
    succeeded: int
    failed: int
    timed_out: int
    cancelled: int
    """Including items that were never started."""
    skipped: int
    ended: int
    concurrency: int
    partial_tolerance: float
    opened_at: datetime
    throughput: float | None
    """Ended items per second since it was opened. None: no item has ended."""
    eta: datetime | None
    """When all items will have ended at this throughput. None: not known, or they have ended."""
    first_failed: list[ItemView]
    slowest: list[ItemView]
    """The slowest first."""
    reducer: ReducerView | None
    inputs_from: str | None
    rerun_of: str | None
    """The fanout whose failed items are the items of this one."""


class FanoutItemsView(msgspec.Struct, frozen=True, kw_only=True):
    """Some items of a fanout, in their order."""

    fanout_id: str
    items: list[ItemView]
    next_after: int | None
    """Continue with the items after this index. A search may end a page early, even without items. None: no more."""


def view_fanout(details: FanoutDetails, run: Run, now: Instant) -> FanoutView:
    record, fields = details.record, details.record.body.fields
    progress, counts, total = record.progress, record.progress.counts, record.body.items
    running = 0 if run.status.is_terminal else details.running
    throughput = _throughput(record, run, now)
    left = total - counts.ended
    return FanoutView(
        items=total,
        pending=total - progress.next,
        # A child may have ended since the latest decision.
        waiting=max(progress.open_count - running, 0),
        running=running,
        succeeded=counts.succeeded,
        failed=counts.failed,
        timed_out=counts.timed_out,
        cancelled=counts.cancelled,
        skipped=counts.skipped,
        ended=counts.ended,
        concurrency=fields.concurrency,
        partial_tolerance=fields.partial_tolerance,
        opened_at=to_datetime(record.opened_at),
        throughput=throughput,
        eta=_eta(now, left, throughput) if run.status is Status.RUNNING and left else None,
        first_failed=[_view(details.named[index]) for index in sorted(progress.failures) if index in details.named],
        slowest=_slowest(details),
        reducer=_view_reducer(details),
        inputs_from=fields.inputs_from,
        rerun_of=fields.rerun_of,
    )


def _slowest(details: FanoutDetails) -> list[ItemView]:
    """Return the slowest items, without those that were cancelled before they started."""
    named = details.named
    found = [_view(named[index]) for _, index in reversed(details.record.progress.slowest) if index in named]
    return [item for item in found if item.started_at is not None]


def _throughput(record: FanoutRecord, run: Run, now: Instant) -> float | None:
    spent = (run.finished_at or now) - record.opened_at
    ended = record.progress.counts.ended
    return ended * SECOND / spent if ended and spent > 0 else None


def _eta(now: Instant, left: int, throughput: float | None) -> datetime | None:
    return None if throughput is None else to_datetime(Instant(now + int(left / throughput * SECOND)))


def _view_reducer(details: FanoutDetails) -> ReducerView | None:
    given, run = details.record.body.fields.reducer, details.reducer
    if given is None:
        return None
    return ReducerView(
        state=details.record.progress.reducer,
        run_on=given.run_on,
        run_id=None if run is None else run.id,
        status=None if run is None else run.status,
        error_message=None if run is None else run.error,
    )


def view_items(page: ItemsPage) -> FanoutItemsView:
    items = [_view(item, is_ending=page.record.is_ending) for item in page.items]
    return FanoutItemsView(fanout_id=page.record.run_id, items=items, next_after=page.next)


def _view(item: FanoutItem, *, is_ending: bool = False) -> ItemView:
    shown, run = view_item(msgspec.json.decode(item.document)), item.run
    view = ItemView(
        index=item.index,
        item=shown.text,
        item_base64=shown.base64,
        status=Status.CANCELLED if is_ending else PENDING,
    )
    if run is None:
        return view
    if isinstance(run, RowUnreadable):
        return replace(view, status="unreadable", error_message=run.message)
    return replace(
        view,
        status=run.status,
        run_id=run.run_id,
        reason=run.reason,
        exit_code=run.exit_code,
        error_message=run.error,
        attempt=run.attempt,
        started_at=moment(run.started_at),
        finished_at=moment(run.finished_at),
        duration=seconds(run.started_at, run.finished_at),
    )
