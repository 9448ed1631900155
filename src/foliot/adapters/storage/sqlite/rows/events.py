"""Events are written in the transaction that causes them."""

from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.event_items import Items
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant


def add_event(session: Session, now: Instant, kind: EventKind, items: Items) -> None:
    """Write one row for the whole batch, or none if there are no items."""
    if items:
        session.run(SQL["add_event"], (now, kind.value, encode(items)))
