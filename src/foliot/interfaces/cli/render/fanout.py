"""A fanout and its items, as text and as a JSON document."""

from collections.abc import Sequence
from typing import Any, Final

from foliot.domain.fanout.progress import ReducerState
from foliot.interfaces.cli.output import print_note
from foliot.interfaces.cli.render.format import last_line, moment, span
from foliot.interfaces.cli.render.table import Column, print_section
from foliot.interfaces.cli.render.text import counted
from foliot.service.queries.documents import as_json
from foliot.service.queries.fanout_view import FanoutItemsView, FanoutView, ItemView, ReducerView

ITEM_COLUMNS: Final = (
    Column("INDEX"),
    Column("ITEM"),
    Column("STATUS", stays=True),
    Column("RUN", is_whole=True),
    Column("TOOK"),
    Column("TRY"),
    Column("ERROR"),
)
_LONGEST_ITEM: Final = 120
_REDUCERS: Final = {
    ReducerState.PENDING: "pending",
    ReducerState.NOT_DUE: "not run",
    ReducerState.RUNNING: "running",
    ReducerState.ENDED: "ended",
}


def fanout_fields(fanout: FanoutView) -> list[tuple[str, object]]:
    """Return the facts of a fanout for the page of its run."""
    tolerance = f", tolerance {fanout.partial_tolerance:g}" if fanout.partial_tolerance else ""
    return [
        ("repeats", None if fanout.rerun_of is None else f"the failed items of {fanout.rerun_of}"),
        ("items", f"{fanout.items}, concurrency {fanout.concurrency}{tolerance}"),
        ("inputs", fanout.inputs_from),
        ("ended", counts_text(fanout)),
        ("open", _open_text(fanout)),
        ("throughput", None if fanout.throughput is None else f"{fanout.throughput:.3g} items per second"),
        ("eta", None if fanout.eta is None else moment(fanout.eta)),
        ("reducer", None if fanout.reducer is None else _reducer_text(fanout.reducer)),
    ]


def counts_text(fanout: FanoutView) -> str:
    """Return how many items have ended, and how: 12 (10 succeeded, 2 failed)."""
    names = ("succeeded", "failed", "timed_out", "cancelled", "skipped")
    counts = [f"{count} {name.replace('_', ' ')}" for name in names if (count := getattr(fanout, name))]
    return f"{fanout.ended} ({', '.join(counts)})" if counts else "0"


def _open_text(fanout: FanoutView) -> str | None:
    if not (fanout.running or fanout.waiting or fanout.pending):
        return None
    return f"{fanout.running} running, {fanout.waiting} waiting, {fanout.pending} pending"


def _reducer_text(reducer: ReducerView) -> str:
    if reducer.run_id is None:
        return f"{_REDUCERS[reducer.state]} (run_on = {reducer.run_on})"
    error = f": {last_line(reducer.error_message)}" if reducer.error_message else ""
    return f"{reducer.status}{error}, run {reducer.run_id}"


def progress_text(fanout: FanoutView) -> str:
    """Return how far a fanout has come, on one line."""
    parts = [f"{fanout.ended} of {counted(fanout.items, 'item')} ended", f"{fanout.running} running"]
    if unsuccessful := fanout.failed + fanout.timed_out + fanout.cancelled:
        parts.append(f"{unsuccessful} failed")
    if fanout.throughput is not None:
        parts.append(f"{fanout.throughput:.3g} per second")
    if fanout.eta is not None:
        parts.append(f"until {moment(fanout.eta)}")
    return ", ".join(parts)


def print_fanout(fanout: FanoutView) -> None:
    """Print the sections of the page of a fanout: its children are folded."""
    print_section("Failed items", ITEM_COLUMNS, [*map(item_row, fanout.first_failed)])
    print_section("Slowest items", ITEM_COLUMNS[:-1], [item_row(item)[:-1] for item in fanout.slowest])


def print_items(page: FanoutItemsView) -> None:
    print_section("Items", ITEM_COLUMNS, [*map(item_row, page.items)])
    if page.next_after is not None:
        print_note(f"more items may follow: --after {page.next_after}")
    elif not page.items:
        print_note("no such items")


def item_row(item: ItemView) -> Sequence[object]:
    return (
        item.index,
        _item_text(item),
        item.status if item.reason in (None, item.status) else f"{item.status} ({item.reason})",
        item.run_id or "-",
        span(item.duration),
        item.attempt,
        last_line(item.error_message),
    )


def _item_text(item: ItemView) -> str:
    text = f"base64:{item.item_base64}" if item.item is None else item.item
    return text if len(text) <= _LONGEST_ITEM else f"{text[:_LONGEST_ITEM]}..."


def items_document(page: FanoutItemsView) -> dict[str, Any]:
    return {"items": [as_json(item) for item in page.items], "next_after": page.next_after}
