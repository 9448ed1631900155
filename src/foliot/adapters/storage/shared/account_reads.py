"""Counts the planned times of an interval by what they have become, and reads the ledger of one schedule."""

from collections.abc import Collection
from typing import Final, NamedTuple

from foliot.adapters.storage.shared.definition_reads import DefinitionReads
from foliot.adapters.storage.shared.project_pauses import last_project_pause
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.rows import ledger_row_of
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.domain.ids import ScheduleUid, first_id_at
from foliot.domain.instant import Instant
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.ports.ticks import Account, LedgerDetails, LedgerFilter, ListedTick

COUNTED: Final = 50_000
"""So many rows of ledgers are counted: of those that ran, and of the others."""
_ANY: Final = ""
_OTHERS: Final = tuple(outcome for outcome in TickOutcome if outcome is not TickOutcome.RAN)


class Missed(NamedTuple):
    """The missed times of a schedule with one reason."""

    uid: ScheduleUid
    reason: str
    planned: int
    since: Instant
    until: Instant


class Counted(NamedTuple):
    account: Account
    missed: list[Missed]


class AccountReads:
    """Reads of one project."""

    def __init__(self, project: str, runs: RunReads, definitions: DefinitionReads) -> None:
        self._project = project
        self._runs = runs
        self._definitions = definitions

    def ledger(self, only: LedgerFilter) -> Read[LedgerDetails | None]:
        rows = yield Query("get_schedules", (self._project, [only.schedule_id]))
        if not rows:
            return None
        [schedule] = yield from self._definitions.read_schedules(rows)
        rows = yield Query("search_ticks", (schedule.uid, _ANY, only.since, only.until, only.limit + 1))
        found = [ListedTick(schedule.id, ledger_row_of(row)) for row in rows]
        ticks = found[: only.limit]
        shown = [tick.row.record.run_id for tick in ticks]
        return LedgerDetails(
            schedule=schedule,
            ticks=ticks,
            is_complete=len(found) <= only.limit,
            states=(yield from self._runs.states([one for one in shown if one is not None])),
            account=(yield from self.of_schedules([schedule.uid], only.since, only.until)).account,
            project_pause=(yield from last_project_pause(self._project)),
        )

    def of_schedules(self, uids: Collection[ScheduleUid], since: Instant, until: Instant) -> Read[Counted]:
        """Count the planned times of these schedules in [since, until]."""
        if not uids:
            return Counted(Account(dict.fromkeys(TickOutcome, 0), 0, 0, is_complete=True), [])
        values = (list(uids), first_id_at(since), since, until, COUNTED)
        [(failed,)] = yield Query("failed_tick_runs", values)
        ran = yield Query("ran_ticks", (list(uids), since, until, COUNTED))
        others = yield Query("other_ticks", (list(uids), list(_OTHERS), since, until, COUNTED))
        outcomes = dict.fromkeys(TickOutcome, 0)
        outcomes[TickOutcome.RAN] = sum(count for _, count in ran)
        missed: list[Missed] = []
        for outcome, reason, uid, _, planned, first, last in others:
            outcomes[TickOutcome(outcome)] += planned
            if uid is not None:
                missed.append(Missed(uid, reason, planned, Instant(first), Instant(last)))
        late = sum(count for reason, count in ran if reason == TickReason.CAUGHT_UP)
        rows = max(outcomes[TickOutcome.RAN], sum(row[3] for row in others), failed)
        return Counted(Account(outcomes, late, failed, rows < COUNTED), missed)
