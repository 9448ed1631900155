"""Events are written by whoever causes them, in the same transaction."""

from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.event_items import Items
from foliot.adapters.storage.shared.rows import event_of
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.connection import Session
from foliot.domain.events import Event, EventKind
from foliot.domain.instant import Instant

SQL: Final = load_queries(Path(__file__).parent / "sql" / "events.sql")


def add_event(session: Session, now: Instant, kind: EventKind, items: Items) -> None:
    """One row for the whole batch; nothing happened, nothing is written."""
    if items:
        session.run(SQL["add_event"], (now, kind.value, encode(items)))


def read_events(session: Session, after: int, limit: int) -> list[Event]:
    return [event_of(row) for row in session.rows(SQL["events"], (after, limit))]
