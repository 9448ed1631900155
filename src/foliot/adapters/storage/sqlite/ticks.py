"""Rows of the ledger: written once, never changed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared.rows import tick_of
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.schedule.tick import TickRecord

SQL: Final = load_queries(Path(__file__).parent / "sql" / "ledger.sql")


def add_ticks(
    tx: Transaction, uid: ScheduleUid, schedule_id: ScheduleId, ticks: Iterable[TickRecord], now: Instant
) -> None:
    tx.run_many(SQL["add_ticks"], [(uid, *tick, tick.key(schedule_id), now) for tick in ticks])


def read_ticks(session: Session, uid: ScheduleUid, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
    return [tick_of(row) for row in session.rows(SQL["ticks"], (uid, after, until, limit))]


def read_tick_keys(
    session: Session, uid: ScheduleUid, after: Instant, until: Instant, limit: int
) -> list[tuple[Instant, str]]:
    return [(moment, key) for moment, key in session.rows(SQL["tick_keys"], (uid, after, until, limit))]


def read_shared_runs(session: Session, uid: ScheduleUid, after: Instant) -> list[RunId]:
    return [RunId(run_id) for (run_id,) in session.rows(SQL["shared_runs"], (uid, after))]
