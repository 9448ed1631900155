"""Reads of fanouts and their items. The cost of a read does not grow with the number of items."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from foliot.adapters.storage.shared.documents import read_column
from foliot.adapters.storage.shared.item_rows import item_run_of, items_in
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.row_types import Moment, instant_of, read_row
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.fanout.item import item_key, item_matcher
from foliot.domain.fanout.item_status import ItemStatus
from foliot.domain.fanout.kind import REDUCER_KEY, FanoutBody
from foliot.domain.fanout.progress import UNSUCCESSFUL, Progress
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Run, Status
from foliot.errors import RowUnreadable
from foliot.ports.fanouts import FanoutDetails, FanoutItem, FanoutRecord, ItemFilter, ItemsPage
from foliot.ports.items import ItemRun

_BODY: Final = msgspec.json.Decoder(FanoutBody)
_COUNTED: Final = 10_000
_PAGE: Final = 1_000
_SEARCHED: Final = 20_000
"""So many items, or children, one call looks at."""
_WAITING: Final = frozenset({Status.QUEUED, Status.SCHEDULED})
_SUCCEEDED: Final = frozenset({Status.SUCCESS})
_KEY, _RUN_ID, _DOCUMENT = 0, 1, 9
"""The positions in a row of a child."""

Runs = Callable[[Collection[RunId]], Read[dict[RunId, Run]]]


class FanoutRow(Struct, array_like=True, frozen=True, gc=False):
    run_id: RunId
    progress: Any
    body: Any
    opened_at: Moment
    deadline: Moment | None
    is_ending: bool | int


class FanoutReads:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def record(self, run_id: RunId) -> Read[FanoutRecord | None]:
        rows = yield Query("get_fanout", (run_id,))
        return _record(tuple(rows[0])) if rows else None

    def details(self, run_id: RunId) -> Read[FanoutDetails | None]:
        record = yield from self.record(run_id)
        if record is None:
            return None
        [(running,)] = yield Query("running_children", (run_id, _COUNTED))
        progress = record.progress
        named = {*progress.failures, *(index for _, index in progress.slowest)}
        keys = [*map(item_key, sorted(named)), REDUCER_KEY]
        rows = yield Query("children_by_key", (run_id, keys))
        reducers = yield from self._runs([row[_RUN_ID] for row in rows if row[_KEY] == REDUCER_KEY])
        children = [_child(row) for row in rows if row[_KEY] != REDUCER_KEY]
        return FanoutDetails(
            record, running, next(iter(reducers.values()), None), {child.index: child for child in children}
        )

    def items(self, run_id: RunId, only: ItemFilter) -> Read[ItemsPage | None]:
        record = yield from self.record(run_id)
        if record is None:
            return None
        match only.status:
            case None if not only.failed:
                return (yield from self._all(record, only))
            case ItemStatus.PENDING:
                return ItemsPage(record, [], None) if record.is_ending else (yield from self._not_started(record, only))
            case ItemStatus.RUNNING:
                return (yield from self._running(record, only))
            case ItemStatus.WAITING | ItemStatus.SUCCESS:
                return (yield from self._started(record, only))
        wanted = UNSUCCESSFUL if only.status is None else frozenset({Status(only.status)})
        page = yield from self._unsuccessful(record, only, wanted)
        if page.next is not None or not record.is_ending or Status.CANCELLED not in wanted:
            return page
        # The items that were not started follow after all others.
        rest = yield from self._not_started(record, only._replace(limit=only.limit - len(page.items)))
        return rest._replace(items=[*page.items, *rest.items])

    def _not_started(self, record: FanoutRecord, only: ItemFilter) -> Read[ItemsPage]:
        started = yield from self._last_started(record.run_id)
        return (yield from self._all(record, only._replace(after=max(only.after, started))))

    def _last_started(self, run_id: RunId) -> Read[int]:
        """Return the index of the last item with a run. Items get their runs in order. -1: there is none."""
        rows = yield Query("last_child_key", (run_id,))
        return int(rows[0][0]) if rows else -1

    def _running(self, record: FanoutRecord, only: ItemFilter) -> Read[ItemsPage]:
        matches, found = item_matcher(only.pattern, only.text), list[FanoutItem]()
        key = item_key(only.after) if only.after >= 0 else ""
        rows = yield Query("running_child_keys", (record.run_id, key, _PAGE))
        keys = [row[0] for row in rows]
        children = (yield Query("children_by_key", (record.run_id, keys))) if keys else ()
        for child in sorted(map(_child, children), key=lambda one: one.index):
            if isinstance(child.run, ItemRun) and child.run.status is Status.RUNNING and matches(child.document):
                found.append(child)
            if len(found) == only.limit:
                return ItemsPage(record, found, child.index)
        return ItemsPage(record, found, int(keys[-1]) if len(keys) == _PAGE else None)

    def _started(self, record: FanoutRecord, only: ItemFilter) -> Read[ItemsPage]:
        """Return items that wait or have succeeded. These have no index, so the items with runs are searched."""
        wanted = _WAITING if only.status is ItemStatus.WAITING else _SUCCEEDED
        matches, found = item_matcher(only.pattern, only.text), list[FanoutItem]()
        first, started = only.after + 1, (yield from self._last_started(record.run_id))
        stop = min(started + 1, first + _SEARCHED)
        while first < stop:
            documents = yield from self._documents(record.run_id, first, min(_PAGE, stop - first))
            shown = {index: document for index, document in enumerate(documents, first) if matches(document)}
            children = yield from self._children(record.run_id, [*shown])
            for index, document in shown.items():
                run = children.get(index)
                if isinstance(run, ItemRun) and run.status in wanted:
                    found.append(FanoutItem(index, document, run))
                if len(found) == only.limit:
                    return ItemsPage(record, found, index if index < started else None)
            first += len(documents)
            if not documents:
                break
        return ItemsPage(record, found, first - 1 if first <= started and first >= stop else None)

    def _all(self, record: FanoutRecord, only: ItemFilter) -> Read[ItemsPage]:
        matches, found = item_matcher(only.pattern, only.text), list[tuple[int, bytes]]()
        first, count = only.after + 1, record.body.items
        stop = min(count, first + _SEARCHED)
        while first < stop and len(found) < only.limit:
            # A page without a search reads no more items than it needs.
            size = min(_PAGE, _PAGE if only.is_search else only.limit, stop - first)
            documents = yield from self._documents(record.run_id, first, size)
            for index, document in enumerate(documents, first):
                first = index + 1
                if matches(document):
                    found.append((index, document))
                if len(found) == only.limit:
                    break
            if not documents:
                first = count
        children = yield from self._children(record.run_id, [index for index, _ in found])
        items = [FanoutItem(index, document, children.get(index)) for index, document in found]
        return ItemsPage(record, items, first - 1 if first < count else None)

    def _documents(self, run_id: RunId, first: int, size: int) -> Read[list[bytes]]:
        rows = yield Query("items_from", (run_id, first, first + size))
        return items_in(run_id, [tuple(row) for row in rows], first, size)

    def _children(self, run_id: RunId, indices: Sequence[int]) -> Read[dict[int, ItemRun | RowUnreadable | None]]:
        keys = [item_key(index) for index in indices]
        rows = (yield Query("children_by_key", (run_id, keys))) if keys else ()
        return {child.index: child.run for child in map(_child, rows)}

    def _unsuccessful(self, record: FanoutRecord, only: ItemFilter, wanted: Collection[Status]) -> Read[ItemsPage]:
        """Return children that ended without success, with one of these statuses."""
        matches, found = item_matcher(only.pattern, only.text), list[FanoutItem]()
        key, rows = item_key(only.after) if only.after >= 0 else "", list[Any]()
        for _ in range(_SEARCHED // _PAGE):
            rows = [*(yield Query("unsuccessful_children", (record.run_id, key, _PAGE)))]
            for row in rows:
                key = row[_KEY]
                if key.isdigit() and _is_any(child := _child(row), wanted) and matches(child.document):
                    found.append(child)
                if len(found) == only.limit:
                    return ItemsPage(record, found, int(key))
            if len(rows) < _PAGE:
                break
        return ItemsPage(record, found, int(key) if len(rows) == _PAGE else None)


def _record(row: Row) -> FanoutRecord:
    known = read_row(FanoutRow, row, "fanout", row[0])
    return FanoutRecord(
        known.run_id,
        read_column(_BODY.decode, known.body, "fanout", known.run_id),
        read_column(Progress.read, known.progress, "fanout", known.run_id),
        Instant(known.opened_at),
        instant_of(known.deadline),
        bool(known.is_ending),
    )


def _child(row: Iterable[Any]) -> FanoutItem:
    values = tuple(row)
    document = values[_DOCUMENT]
    index, document = int(values[_KEY]), document.encode() if isinstance(document, str) else document or b"null"
    try:
        return FanoutItem(index, document, item_run_of(values))
    except RowUnreadable as error:
        return FanoutItem(index, document, error)


def _is_any(child: FanoutItem, wanted: Collection[Status]) -> bool:
    """Whether a child has one of these statuses. One that cannot be read counts as a failure."""
    return child.run.status in wanted if isinstance(child.run, ItemRun) else Status.FAILED in wanted
