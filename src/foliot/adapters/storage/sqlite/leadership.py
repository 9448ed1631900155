"""Who does maintenance. Epochs rise with each change, so that a former leader's writes are refused."""

from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.domain.instant import Millis

SQL: Final = load_queries(Path(__file__).parent / "sql" / "upkeep.sql")


def lead(tx: Transaction, holder: str, ttl: Millis) -> int | None:
    """The epoch in which `holder` leads until `ttl` has passed, or None while another one does."""
    boot_id, elapsed = tx.clock.boot_id, tx.clock.elapsed()
    former, epoch, is_live = tx.row(SQL["leader"], (boot_id, elapsed)) or (None, 0, False)
    if is_live and former != holder:
        return None
    term = epoch if is_live else epoch + 1
    tx.run(SQL["take_lead"], (holder, term, boot_id, elapsed + ttl))
    return int(term)


def is_current(session: Session, epoch: int) -> bool:
    """Whether nobody else has led since; a leader that resigned is none."""
    return bool(session.value(SQL["is_current"], (epoch,)))
